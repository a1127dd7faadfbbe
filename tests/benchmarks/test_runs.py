"""Each benchmark runs end to end on tiny data and reports what its README section shows."""

import json
import subprocess
import sys
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from benchmarks.speed import index as benchmark
from typer import Exit

from events.spaces import SPACES
from projections.atlas.atlas import PREFIX_DIMENSIONS
from projections.spaces import graph
from projections.spaces.graph import Graph
from tests.benchmarks.datasets import NAMES, Dataset, Document, stream, talk, write

pytestmark = pytest.mark.benchmarks

SCRIPT = Path(__file__).parents[2] / "scripts" / "bench.py"
PATIENCE = 600.0


def bench(*arguments: str) -> dict[str, Any]:
    """Run a benchmark and return its report; on tiny data and a busy machine some verdicts may fail."""
    done = subprocess.run(
        [sys.executable, SCRIPT, *arguments, "--json"], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.stdout, done.stderr
    report = json.loads(done.stdout)
    assert done.returncode == bool(report.get("failed"))
    return report


def by_name(section: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {verdict["what"]: verdict for verdict in section}


def test_retrieval_is_reported_overall_and_by_category(tmp_path: Path) -> None:
    report = bench("retrieval", str(write(tmp_path / "set", stream())))
    assert report["overall"].keys() == {"recall@5", "recall@10", "ndcg@10", "queries"}
    assert report["by_category"].keys() == {"talk"}
    assert report["documents"] == 27


def test_each_space_is_left_out_with_queries_as_they_stand_and_misspelt(tmp_path: Path) -> None:
    ablated = bench("retrieval", str(write(tmp_path / "set", stream())), "--ablate")
    assert [*ablated] == ["set", "set, misspelt"]
    assert [*ablated["set"]] == ["all", *(f"without {space.key}" for space in SPACES)]
    assert ablated["set"]["all"] == 1.0


def test_each_set_is_asked_in_a_store_of_its_own_and_in_one_that_holds_all(tmp_path: Path) -> None:
    folders = [str(write(tmp_path / "bees", stream())), str(write(tmp_path / "boxes", talk(20)))]
    report = bench("retrieval", *folders, "--together", "--limit", "4", "--memories", "12")
    assert {name: row["queries"] for name, row in report.items()} == {"bees": 1, "bees, all namespaces": 1, "boxes": 4}
    assert report["bees"]["recall@10 alone"] == report["bees"]["recall@10 together"] == 1.0


def test_the_part_of_a_long_memory_that_answers_is_shown_or_not(tmp_path: Path) -> None:
    report = bench("passages", str(write(tmp_path / "boxes", talk(80))), "--together", "40")
    (verdict,) = report["sections"]["boxes"]
    assert verdict["what"].endswith("of 80 questions")
    assert 0.5 < verdict["figures"]["shown"] <= 1
    assert verdict["figures"].keys() == {"shown", "by the cosine alone"}


def test_relevance_is_measured_against_stores_that_cannot_answer(tmp_path: Path) -> None:
    folders = [str(write(tmp_path / "bees", stream())), str(write(tmp_path / "boxes", talk(20)))]
    for _ in range(2):  # the second run finds the stores that the first one kept
        report = bench("relevance", *folders, "--keep", str(tmp_path / "stores"))
        assert report["sections"].keys() == {"bees", "boxes", "all"}
        _, refused, kept = report["sections"]["all"]
        assert {"all", "bees", "boxes", "unrelated_prompts"} == refused["figures"].keys()
        assert refused["figures"]["unrelated_prompts"] >= 0.9
        assert 0 <= kept["figures"]["kept"] <= 1
    joined = bench("relevance", *folders, "--join", "10")
    assert joined["sections"].keys() == {"bees", "boxes", "bees, 10 joined", "boxes, 10 joined", "all"}


def test_relevance_is_measured_in_a_small_store_of_each_set_that_has_one(tmp_path: Path) -> None:
    folders = [str(write(tmp_path / "bees", stream())), str(write(tmp_path / "boxes", talk(80)))]
    report = bench("relevance", *folders, "--only", "50")
    assert report["sections"].keys() == {"bees", "boxes", "boxes, 50 only", "all"}
    _, refused, _ = report["sections"]["boxes, 50 only"]
    assert {"all", "bees", "unrelated_prompts"} == refused["figures"].keys()


def test_similarity_is_compared_with_grades_for_all_spaces_and_each(tmp_path: Path) -> None:
    pairs = [("A dog runs.", "A dog is running.", 5), ("A cat sleeps.", "The market fell.", 0), ("Bees.", "Bears.", 1)]
    lines = [json.dumps({"text_a": one, "text_b": other, "score": score}) for one, other, score in pairs]
    (tmp_path / "pairs.jsonl").write_text("\n".join(lines))
    report = bench("similarity", str(tmp_path / "pairs.jsonl"))
    assert report["pairs"] == 3
    assert {"compare", SPACES[0].key} <= report["spearman"].keys()
    assert report["left_out"]


def test_corrections_are_judged_among_other_memories(tmp_path: Path) -> None:
    graded = tmp_path / "pairs.jsonl"
    graded.write_text(json.dumps({"text_a": "A dog runs.", "text_b": "A dog is running.", "score": 5}))
    report = bench("corrections", str(write(tmp_path / "set", stream())), str(graded))
    found, seen, present, past, unmarked = report["sections"]["corrections"]
    assert found["figures"]["found"] > 0.5
    assert seen["figures"]["seen"] >= found["figures"]["found"]
    assert present["figures"]["before the older one"] >= present["figures"]["first of all"] > 0.5
    assert past["figures"]["among the first ten"] > 0.5
    assert unmarked["figures"]["marked"] < 0.1


def test_the_mind_is_judged_on_a_stream(tmp_path: Path) -> None:
    report = bench("mind", str(write(tmp_path / "set", stream())))
    assert report["namespace"] == "bees"
    assert report["stream"] == {"topic": 12, "off_topic": 10, "repeats": 10}
    verdicts = by_name(report["sections"]["learning"])
    for what in (
        "entropy of off-topic memories above the running median",
        "pulses differ",
    ):
        assert verdicts[what]["holds"] is True, verdicts[what]


def test_causes_are_judged_with_questions_of_the_kinds_that_the_data_has(tmp_path: Path) -> None:
    floods = [f"The {name} flooded the meadows of farm {number}." for number, name in enumerate(NAMES)]
    documents = [Document(id=str(number), text=f"{text} The sheep swam.") for number, text in enumerate(floods)]
    about = {"category": "cause", "premise": "The sheep were wet."}
    queries = [Document(id=one.id, text="Why were the sheep wet?", metadata=about) for one in documents]
    pairs = write(tmp_path / "pairs", Dataset("", documents, queries, {one.id: {one.id: 1.0} for one in documents}))
    others = write(tmp_path / "others", Dataset("", talk(1_000).documents, [], {}))
    report = bench("causes", str(pairs), str(others), "--questions", "2")
    chains, _ = report["sections"]["chains"]
    assert chains["figures"]["whole"] > 0
    (causes,) = report["sections"]["questions"]
    assert causes["what"].startswith("questions for a cause")
    assert causes["figures"]["questions"] == 2


@pytest.mark.requirement("INTEG-013/light/duration", "INTEG-013/deep/duration", "INTEG-013/rem/duration")
def test_consolidation_is_judged_in_all_three_modes(tmp_path: Path) -> None:
    corpus = talk(150)
    queries = corpus.queries[:5]
    folder = write(
        tmp_path / "set",
        Dataset("talk", corpus.documents, queries, {one.id: corpus.judgements[one.id] for one in queries}),
    )
    report = bench("sleep", str(folder), "--memories", "100", "--queries", "5")
    for mode, seconds in (("light", 5), ("deep", 30), ("rem", 60)):
        verdicts = by_name(report["sections"][mode])
        assert verdicts[f"it takes at most {seconds} s"]["figures"]["seconds"] > 0
        failed = {what for what, line in verdicts.items() if line["holds"] is False}
        assert failed == set()
        assert verdicts["exact copy: all are found"]["figures"]["found"] > 0
    assert report["sections"]["beside a run"][0]["figures"]["searches"] > 0


@pytest.mark.requirement("INTEG-001/inject/latency-budget", "S002/multi/latency")
def test_latency_is_reported_beside_bare_forward_passes_and_budgets() -> None:
    report = bench("latency", "--memories", "100", "--samples", "3", "--batches", "0")
    ratios, operations, parts, transports = report["sections"].values()
    *passes, _tail = [one["figures"] for one in ratios]
    assert [one["what"].partition(":")[0] for one in ratios[:3]] == [
        "inject of 20 words",
        "inject of 200 words",
        "search of 100 memories",
    ]
    assert [row["ratio"] for row in passes] == [row["median"] / row["bare"] for row in passes]
    assert all(row["bare"] > 0 for row in passes)
    judged = [one["what"] for one in operations if one["holds"] is not None]
    assert judged == [
        "inject: at most 25 ms",
        "search_multi: at most 50 ms",
        "compare: at most 2 ms",
        "matrix 100 x 100: at most 1000 ms",
    ]
    assert {"judge", "neighbours", "focus", "resonance"} <= by_name(parts).keys()
    ways = by_name(transports)
    assert list(ways) == ["stdio", "HTTP", "HTTP, 2026-07-28"]
    assert all(one["figures"][kind]["median"] > 0 for one in ways.values() for kind in ("store", "search"))


def test_kills_and_flips_lose_nothing_and_are_all_counted() -> None:
    report = bench("crash", "--kills", "2", "--clients", "2", "--flips", "16", "--commands", "4")
    assert report["failed"] == []
    killed = by_name(report["sections"]["kill -9"])
    found = killed["what was acknowledged is there as it was acknowledged"]["figures"]
    assert sum(found["kills"].values()) == 2
    assert found["found"] == found["acknowledged"] > 0
    flipped = by_name(report["sections"]["flipped bytes"])
    assert flipped["no wrong answer is given"]["figures"]["flips"] == 16
    (commands,) = report["sections"]["kill -9 of commands"]
    assert commands["figures"]["kills"] == {"import": 1, "backup": 1, "repair": 1, "upgrade": 1}
    files = flipped["effects by file"]["figures"].keys()
    assert {"closed: log.duckdb", "killed: log.duckdb.wal", "killed: head", "killed: keys"} <= files


@pytest.mark.slow
def test_hubs_that_share_a_log_are_killed_and_cut_off_and_compared() -> None:
    options = "--hubs 2 --clients 2 --stores 15 --kills 2 --restarts 1 --samples 5 --reembedded 400"
    report = bench("cluster", *options.split())
    for title in ("kills and restarts", "sleep"):
        assert all(verdict["holds"] is not False for verdict in report["sections"][title]), report["sections"][title]
    assert len(report["sections"]["cost"]) == 3
    (ratio,) = report["sections"]["reembedding"]
    assert ratio["figures"]["ratio"] > 0
    (router,) = report["sections"]["router"]
    assert list(router["figures"]) == ["direct, ms", "routed, ms", "merged, ms", "added pair by pair, median ms"]
    assert all(of["median"] > 0 for name, of in router["figures"].items() if name.endswith(", ms"))


def test_throughput_and_cold_starts_are_measured() -> None:
    report = bench("scale", "--memories", "40", "--clients", "2", "--stores", "5", "--rounds", "1")
    assert report["failed"] == []
    stored = [one["figures"]["stored"] for one in report["sections"]["storing"] if "stored" in one["figures"]]
    assert stored == [5, 10]
    started = by_name(report["sections"]["starting"])
    memory = started.pop("40 memories: MB in memory, by part")["figures"]
    assert started.keys() == {"an empty store: the models", "40 memories, replayed", "40 memories, from a snapshot"}
    assert all(one["figures"]["first search answered, s"] > 0 for one in started.values())
    assert memory["e5_causal"] > 0


def test_an_index_is_measured_with_and_without_filters(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    by_graph: Counter[int] = Counter()
    near = Graph.near

    def counted(self: Graph, query: Any, count: int, share: float) -> Any:
        found = near(self, query, count, share)
        by_graph[self.rows] += found is not None
        return found

    for module in (graph, benchmark):  # a graph of as many vectors as the default asks for takes minutes to build
        monkeypatch.setattr(module, "SCANNED", 500 * PREFIX_DIMENSIONS)
    monkeypatch.setattr(Graph, "near", counted)
    with suppress(Exit):  # on a busy machine the durations may fail
        benchmark.index([2_000, 400], queries=3, as_json=True)
    report = json.loads(capsys.readouterr().out)
    assert [line["vectors"] for line in report["lines"]] == [400] * 4 + [2_000] * 4
    assert {line["rows"] for line in report["lines"]} == {"all", "a half", "a tenth", "a hundredth"}
    assert all(line["recall"] >= 0.9 and min(line["index_ms"], line["exact_ms"]) > 0 for line in report["lines"])
    assert by_graph == {400: 0, 2_000: 6}, "all rows and a half of them are searched through the graph"
