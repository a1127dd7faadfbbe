"""`scripts/bench crash`: the kill campaign (kills, workload, audit) and the byte flips (bit_flips, damaged_store)."""

import shutil
import tempfile
from pathlib import Path
from typing import Annotated

import anyio
from typer import Option

from benchmarks import SEED
from benchmarks.crash.bit_flips import flip_bytes
from benchmarks.crash.damaged_store import build
from benchmarks.crash.kills import campaign
from benchmarks.crash.verdicts import judge_flips, judge_kills
from benchmarks.report import JsonOption, Verdict, progress_bar, publish


def crash(
    kills: Annotated[int, Option(min=0, help="How many kills.")] = 100,
    clients: Annotated[int, Option(min=1, help="Windows on the store.")] = 4,
    flips: Annotated[int, Option(min=0, help="How many bytes are changed.")] = 300,
    seed: Annotated[int, Option(help="Of the load, the moments and the bytes.")] = SEED,
    keep: Annotated[Path | None, Option(file_okay=False, help="Where stores and journals are left.")] = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Kill servers and windows under a mixed load, change bytes of their files, and report losses and wrong answers."""
    sections: dict[str, list[Verdict]] = {}
    with tempfile.TemporaryDirectory() as temporary, progress_bar() as bar:
        scratch = Path(temporary) if keep is None else _emptied(keep)
        if kills:
            task = bar.add_task("kill -9", total=kills)
            outcome = campaign(scratch / "store", scratch, kills, clients, seed, lambda: bar.advance(task))
            sections["kill -9"] = judge_kills(outcome)
        if flips:
            task = bar.add_task("flips", total=flips)
            damaged = scratch / "damaged"
            damaged.mkdir()
            stores, questions = anyio.run(build, damaged)
            found = flip_bytes(stores, questions, damaged, flips, seed, lambda: bar.advance(task))
            sections["flipped bytes"] = judge_flips(*found)
    publish(sections, as_json=as_json, seed=seed)


def _emptied(folder: Path) -> Path:
    """Return the folder without the results of an earlier campaign."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("store", "damaged"):
        shutil.rmtree(folder / name, ignore_errors=True)
    for path in (*folder.glob("journal-*.jsonl"), *folder.glob("window-*.err")):
        path.unlink()
    return folder
