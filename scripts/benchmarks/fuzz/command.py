"""`scripts/bench fuzz`: no message may crash the server, hang it, make it leak internals or memory."""

from functools import partial
from typing import Annotated

import anyio
import msgspec
from rich.console import Console
from typer import Exit, Option

from benchmarks import SEED
from benchmarks.crash.damaged_store import build
from benchmarks.fuzz.campaign import Report, run_campaign
from benchmarks.fuzz.files import run_file_campaign
from benchmarks.report import JsonOption, counter, print_json, rows_table, workplace

MOST_GROWTH = 32.0
"""Most megabytes of growth from the middle third of the rounds to the last: allocators vary by some 10 between two
rounds, and a leak of 100 bytes a message is 32 in a million."""


def fuzz(
    messages: Annotated[int, Option(min=1, help="How many are sent.")] = 20_000,
    seed: Annotated[int, Option(min=0, help="Of all messages.")] = SEED,
    first: Annotated[int, Option(min=0, help="Number of the first message or file, to replay a failure.")] = 0,
    files: Annotated[int, Option(min=0, help="Read so many mutated files of stores instead of sending messages.")] = 0,
    *,
    as_json: JsonOption = False,
) -> None:
    """Send hostile messages to the real server in this process; fails if any answer is wrong."""
    if files:
        _fuzz_files(files, seed, first, as_json=as_json)
        return
    with workplace() as (folder, bar):
        campaign = partial(run_campaign, first=first, advance=counter(bar, "fuzzing", messages))
        report = anyio.run(campaign, folder, messages, seed)
    passed = not report.failures and report.growth_mb <= MOST_GROWTH
    if as_json:
        summary = {"growth_mb": report.growth_mb, "rate": report.messages / report.seconds, "passed": passed}
        print_json(msgspec.to_builtins(report) | summary)
    else:
        _show(report)
    if not passed:
        raise Exit(1)


def _fuzz_files(files: int, seed: int, first: int, *, as_json: bool) -> None:
    with workplace() as (folder, bar):
        stores, _ = anyio.run(build, folder)
        report = run_file_campaign(stores, folder, files, seed, first, counter(bar, "fuzzing files", files))
    if as_json:
        print_json({"seed": seed, **msgspec.to_builtins(report)})
    else:
        console = Console()
        outcomes = {outcome: {"files": count} for outcome, count in report.outcomes.most_common()}
        console.print(rows_table("outcome", outcomes))
        console.print(*report.failures, sep="\n", style="red", markup=False)
        console.print(f"{report.files:,} files of seed {seed}, {len(report.failures)} failures")
    if report.failures:
        raise Exit(1)


def _show(report: Report) -> None:
    console = Console()
    for failure in report.failures:
        console.print(f"{failure.what} (--seed {report.seed}, message {failure.number})", style="red", markup=False)
        console.print(f"  sent      {failure.line}\n  answered  {failure.answer}", markup=False)
    console.print(rows_table("code", {code: {"answers": count} for code, count in report.codes.items()}))
    console.print(
        f"{report.messages:,} messages of seed {report.seed} in {report.seconds:.0f} s, "
        f"{report.messages / report.seconds:,.0f} a second; {report.stored:,} memories stored, all found in the logs"
    )
    console.print(f"resident {report.rss_mb[0]:.0f} → {report.rss_mb[-1]:.0f} MB, grown by {report.growth_mb:+.1f} MB")
    console.print(f"{len(report.failures)} failures")
