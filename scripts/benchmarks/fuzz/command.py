"""Fuzzing over the wire format: no message may crash the server, hang it, loosen its tongue or swell it."""

import json
import tempfile
from pathlib import Path
from typing import Annotated

import anyio
import msgspec
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from typer import Exit, Option

from benchmarks.fuzz.campaign import Report
from benchmarks.fuzz.campaign import fuzz as campaign

MOST_GROWTH = 32.0
"""Megabytes that the process may grow by from the middle third of the rounds to the last: allocators come and go by
some 10 between two rounds, and a leak of 100 bytes a message is 32 in a million."""


def fuzz(
    messages: Annotated[int, Option(min=1, help="How many are sent.")] = 20_000,
    seed: Annotated[int, Option(help="Of all that is random.")] = 20_261_121,
    first: Annotated[int, Option(min=0, help="The number of the first message, to replay a failure from.")] = 0,
    *,
    as_json: Annotated[bool, Option("--json", help="Print JSON.")] = False,
) -> None:
    """Send hostile messages to the real server in this process; exit with 1 if anything is wrong with any answer."""
    with tempfile.TemporaryDirectory() as folder, Progress(console=Console(stderr=True), transient=True) as bar:
        sending = bar.add_task("fuzzing", total=messages)
        report = anyio.run(
            lambda: campaign(Path(folder), messages, seed, first=first, told=lambda count: bar.advance(sending, count))
        )
    bad = bool(report.failures) or report.growth_mb > MOST_GROWTH
    if as_json:
        summary = {"growth_mb": report.growth_mb, "rate": report.messages / report.seconds, "passed": not bad}
        print(json.dumps(msgspec.to_builtins(report) | summary, indent=2))
    else:
        _show(report)
    if bad:
        raise Exit(1)


def _show(report: Report) -> None:
    console = Console()
    for failure in report.failures:
        console.print(f"{failure.what} (--seed {report.seed}, message {failure.number})", style="red", markup=False)
        console.print(f"  sent      {failure.line}\n  answered  {failure.answer}", markup=False)
    table = Table("code", "answers")
    for code, count in report.codes.items():
        table.add_row(code, f"{count:,}")
    console.print(table)
    console.print(
        f"{report.messages:,} messages of seed {report.seed} in {report.seconds:.0f} s, "
        f"{report.messages / report.seconds:,.0f} a second; {report.stored:,} memories stored, all found in the logs"
    )
    console.print(f"resident {report.rss_mb[0]:.0f} → {report.rss_mb[-1]:.0f} MB, grown by {report.growth_mb:+.1f} MB")
    console.print(f"{len(report.failures)} failures")
