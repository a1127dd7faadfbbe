"""kill -9 during imports, backups, repairs and upgrades: stores are whole, and a repeat ends the work."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.acceptance.conftest import PATIENCE

BENCH = Path(__file__).parents[2] / "scripts" / "bench.py"
KILLS = 40


@pytest.mark.slow
def test_killed_commands_lose_nothing_and_the_next_ones_end_their_work() -> None:
    command = [sys.executable, BENCH, "crash", "--kills", "0", "--flips", "0", "--commands", str(KILLS), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE * KILLS, check=False)
    report = json.loads(done.stdout)
    assert report["failed"] == [], report
    (verdict,) = report["sections"]["kill -9 of commands"]
    assert sum(verdict["figures"]["kills"].values()) == KILLS
    assert sum(verdict["figures"]["at work"].values()) >= KILLS // 2, "most had ended before they were killed"
