"""Latencies: medians and percentiles, and what outlives the process."""

from pathlib import Path

from actors.runtime.metrics import WINDOW, Latencies, load


def test_median_and_95th_percentile_are_of_the_last_thousand_samples() -> None:
    latencies = Latencies()
    for value in [1e6] * 50 + list(range(WINDOW)):
        latencies.record("work", value)
    (latency,) = latencies.summary().values()
    assert (latency.median, latency.count) == (499.5, WINDOW)
    assert 949 <= latency.p95 <= 951


def test_a_process_that_measured_little_keeps_what_others_measured(tmp_path: Path) -> None:
    path = tmp_path / "latencies.json"
    for name, value in (("forward", 8.0), ("commit", 2.0), ("commit", 4.0)):
        latencies = Latencies()
        latencies.record(name, value)
        latencies.save(path)
    assert {name: latency.median for name, latency in load(path).items()} == {"forward": 8.0, "commit": 4.0}


def test_a_file_that_was_cut_off_is_no_obstacle(tmp_path: Path) -> None:
    path = tmp_path / "latencies.json"
    path.write_text('{"forward": {"med')
    assert load(path) == {}
