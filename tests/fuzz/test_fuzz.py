"""Some hostile messages and mutated files in the suite; `scripts/bench fuzz --messages 1000000` sends a million."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "bench.py"
PATIENCE = 7_200.0


def campaign(*options: str) -> dict:
    """Run the fuzzer in a process of its own, whose memory is nobody else's."""
    command = [sys.executable, str(SCRIPT), "fuzz", "--json", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def test_a_thousand_hostile_messages_do_no_harm() -> None:
    report = campaign("--messages", "1000", "--seed", "4")
    assert report["failures"] == []
    assert report["passed"], f"grown by {report['growth_mb']} MB"
    assert report["messages"] == 1_000
    assert report["stored"] > 2, "something was stored to be lost"
    assert {"ok", "-32700", "-32600", "-32601", "-32602", "-32010"} <= report["codes"].keys()


def test_five_hundred_mutated_files_do_no_harm() -> None:
    report = campaign("--files", "500")
    assert report["failures"] == []
    assert report["files"] == 500
    assert {"keys", "head", "snapshot, sealed again", "row, sealed again", "store"} <= report["kinds"].keys()


@pytest.mark.slow
def test_two_hundred_thousand_mutated_files_do_no_harm() -> None:
    assert campaign("--files", "200000", "--seed", "1")["failures"] == []


@pytest.mark.slow
def test_a_million_hostile_messages_do_no_harm() -> None:
    report = campaign("--messages", "1000000", "--seed", "1")
    assert report["passed"], report["failures"] or report["growth_mb"]
