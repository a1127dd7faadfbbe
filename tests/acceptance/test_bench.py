"""The benchmarks run on any folder in the BEIR layout, and report what the README says."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "bench.py"
PATIENCE = 300.0

DOCUMENTS = {
    "a/1": ("Ana: I adopted a puppy called Bo.", {"namespace": "a", "session": "s", "order": 0, "speaker": "Ana"}),
    "a/2": ("Ben: What a lovely name!", {"namespace": "a", "session": "s", "order": 1, "speaker": "Ben"}),
    "b/1": ("Eve: My puppy is called Rex.", {"namespace": "b", "session": "s", "order": 0, "speaker": "Eve"}),
    "c": ("def add(a, b):\n    return a + b", {"modality": "code", "created_at": "2024-01-01T00:00:00"}),
    "blank": ("  ", {}),
}
QUERIES = {
    "q1": ("What is the puppy called?", {"namespace": "a", "category": "talk"}, "a/1"),
    "q2": ("python function that adds numbers", {"category": "code"}, "c"),
    "unjudged": ("nobody knows", {}, None),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    def lines(rows: list[dict[str, Any]]) -> str:
        return "".join(json.dumps(row) + "\n" for row in rows)

    corpus = [{"_id": name, "text": text, "metadata": metadata} for name, (text, metadata) in DOCUMENTS.items()]
    queries = [{"_id": name, "text": text, "metadata": metadata} for name, (text, metadata, _) in QUERIES.items()]
    (tmp_path / "corpus.jsonl").write_text(lines(corpus))
    (tmp_path / "queries.jsonl").write_text(lines(queries))
    (tmp_path / "qrels").mkdir()
    judged = [f"{name}\t{answer}\t1\n" for name, (_, _, answer) in QUERIES.items() if answer]
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n" + "".join(judged))
    return tmp_path


def run(*arguments: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, SCRIPT, *arguments, "--json"], capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    return json.loads(done.stdout)


def test_retrieval_is_reported_overall_and_by_category(folder: Path) -> None:
    report = run("retrieval", str(folder))
    assert report["overall"] == {"recall@5": 1.0, "recall@10": 1.0, "ndcg@10": 1.0, "queries": 2}
    assert report["by_category"].keys() == {"talk", "code"}
    assert (report["documents"], report["blank"], report["shortened"]) == (4, 1, 0)


def test_a_limit_asks_fewer_queries_and_a_profile_is_used(folder: Path) -> None:
    report = run("retrieval", str(folder), "--limit", "1", "--profile", "code_search")
    assert report["overall"]["queries"] == 1
    assert report["profile"] == "code_search"


@pytest.mark.requirement("INTEG-001/inject/latency-budget", "S002/multi/latency")
def test_latency_is_reported_beside_a_bare_forward_pass_and_the_budgets() -> None:
    report = run("latency", "--memories", "100", "--words", "8", "--samples", "3")
    assert report["inject_ratio"] > 0
    assert report["search_ratio"] > 0
    budgets = {name: row["budget"] for name, row in report["ms"].items()}
    assert budgets == {
        "inject": 25,
        "bare (memory)": None,
        "search": None,
        "bare (query)": None,
        "search_multi": 50,
        "compare": 2,
        "matrix 100 x 100": 1_000,
    }
    assert all(0 < row["median"] <= row["p95"] for row in report["ms"].values())
