"""Whether a store survives: processes that are killed at any moment, and single bytes that change on the disk.

Who works and writes down what was acknowledged is `client`, who kills is `killing`, who compares is `checking`; bytes
are changed by `flipping` in copies of what `store` makes; what is judged is `judging`.
"""

import json
import shutil
import tempfile
from pathlib import Path
from typing import Annotated

import anyio
import msgspec
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from typer import Exit, Option

from benchmarks.crash import judging
from benchmarks.crash.flipping import flips
from benchmarks.crash.killing import campaign
from benchmarks.crash.store import build
from benchmarks.mind.verdicts import Verdict, table

SEED = 20_261_121


def crash(
    kills: Annotated[int, Option(min=0, help="How often something is killed.")] = 100,
    clients: Annotated[int, Option(min=1, help="Windows on the store.")] = 4,
    flip: Annotated[int, Option("--flips", min=0, help="How many bytes are changed.")] = 300,
    seed: Annotated[int, Option(help="Of the load, the moments and the bytes.")] = SEED,
    keep: Annotated[Path | None, Option(file_okay=False, help="Where stores and journals are left.")] = None,
    *,
    as_json: Annotated[bool, Option("--json", help="Print JSON.")] = False,
) -> None:
    """Kill servers and windows under a mixed load, change bytes of their files, and say what was lost or told wrong."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    sections: dict[str, list[Verdict]] = {}
    with (
        tempfile.TemporaryDirectory() as temporary,
        Progress(*columns, console=Console(stderr=True), transient=True) as bar,
    ):
        scratch = Path(temporary) if keep is None else _emptied(keep)
        if kills:
            task = bar.add_task("kill -9", total=kills)
            outcome = campaign(scratch / "store", scratch, kills, clients, seed, lambda: bar.advance(task))
            sections["kill -9"] = judging.survived(outcome)
        if flip:
            task = bar.add_task("flips", total=flip)
            damaged = scratch / "damaged"
            damaged.mkdir()
            stores, kept = anyio.run(build, damaged)
            found, thawed = flips(stores, kept, damaged, flip, seed, lambda: bar.advance(task))
            sections["flipped bytes"] = judging.unnoticed(found, thawed)
    failed = [verdict.what for verdicts in sections.values() for verdict in verdicts if verdict.holds is False]
    if as_json:
        print(json.dumps(msgspec.to_builtins({"seed": seed, "sections": sections, "failed": failed}), indent=2))
    else:
        console = Console()
        for title, verdicts in sections.items():
            console.print(table(title, verdicts))
        console.print(f"{len(failed)} verdicts fail")
    if failed:
        raise Exit(1)


def _emptied(keep: Path) -> Path:
    """Return the folder, without what an earlier campaign left in it."""
    keep.mkdir(parents=True, exist_ok=True)
    for name in ("store", "damaged"):
        shutil.rmtree(keep / name, ignore_errors=True)
    for pattern in ("journal-*.jsonl", "window-*.err"):
        for path in keep.glob(pattern):
            path.unlink()
    return keep
