"""The fit of the weights of `auto`, on tiny data sets."""

from pathlib import Path

import msgspec
import pytest
from benchmarks.datasets import Dataset

from actors.comparator.search.weights import AUTO, Ranker
from tests.benchmarks.datasets import stream, talk, write

pytestmark = pytest.mark.benchmarks


def test_weights_are_fitted_to_two_kinds_and_judged_on_the_one_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from scripts.train import fusion  # with torch, which takes 1.5 s of each worker that collects the tests

    written = tmp_path / "auto.json"
    monkeypatch.setattr(fusion, "FILE", written)
    boxes = talk(fusion.HARDEST + 40)
    boxes = Dataset("boxes", boxes.documents, boxes.queries[:12], boxes.judgements)
    fusion.main([write(tmp_path / "bees", stream()), write(tmp_path / "boxes", boxes)], tmp_path / "stores")
    fitted = msgspec.json.decode(written.read_bytes(), type=Ranker)
    assert fitted.views.keys() == AUTO.views.keys()
    assert fitted.views != AUTO.views
    figures = fitted.provenance["recall_at_10"]
    assert figures.keys() == {f"{name}{suffix}" for name in ("bees", "boxes") for suffix in ("", ", misspelt")}
    assert figures["bees"]["left_out"] == 1.0
