"""`scripts/bench fuzz`: no message may crash the server, hang it, make it leak internals or memory."""

from functools import partial
from typing import Annotated

import anyio
import msgspec
from rich.text import Text
from typer import Option

from benchmarks import SEED
from benchmarks.crash.damaged_store import build
from benchmarks.fuzz.campaign import run_campaign
from benchmarks.fuzz.files import run_file_campaign
from benchmarks.report import JsonOption, Verdict, counter, publish, workplace

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
    figures = {
        "messages": report.messages,
        "a second": report.messages / report.seconds,
        "answers": dict(report.codes.most_common()),
        "stored": report.stored,
        "failures": len(report.failures),
    }
    growth = {"resident, MB": [report.rss_mb[0], report.rss_mb[-1]], "grown by, MB": report.growth_mb}
    verdicts = [
        Verdict("every answer is right, and what was acknowledged is in the log", figures, not report.failures),
        Verdict(f"memory grows by at most {MOST_GROWTH:.0f} MB", growth, report.growth_mb <= MOST_GROWTH),
    ]
    failures = "".join(
        f"{one.what} (--seed {seed}, message {one.number})\n  sent      {one.line}\n  answered  {one.answer}\n"
        for one in report.failures
    )
    about = {"growth_mb": report.growth_mb, "passed": all(one.holds for one in verdicts)}
    publish({"messages": verdicts}, Text(failures, "red"), as_json=as_json, **msgspec.structs.asdict(report), **about)


def _fuzz_files(files: int, seed: int, first: int, *, as_json: bool) -> None:
    with workplace() as (folder, bar):
        stores, _ = anyio.run(build, folder)
        report = run_file_campaign(stores, folder, files, seed, first, counter(bar, "fuzzing files", files))
    figures = {"files": report.files, "failures": len(report.failures), **report.outcomes}
    verdict = Verdict("each file is refused, or read as what was written", figures, not report.failures)
    failures = Text("\n".join(report.failures), "red")
    publish({"files": [verdict]}, failures, as_json=as_json, seed=seed, **msgspec.structs.asdict(report))
