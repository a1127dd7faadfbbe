"""`scripts/bench mind`: stores a stream, and judges learning, workspace, purpose, drift and candidates."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import anyio
from rich.progress import Progress
from typer import Argument, Option

from benchmarks.mind import purpose
from benchmarks.mind.learning import judge_candidates, judge_learning
from benchmarks.mind.stream import Plan, Stream, inject, make_plan, retrieve
from benchmarks.mind.workspace import judge_workspace
from benchmarks.report import JsonOption, Verdict, progress_bar, publish
from benchmarks.store import open_store

SAMPLES = 40
"""Memories whose entropy is computed again from all memories of the store."""


async def live(folder: Path, plan: Plan, advance: Callable[[], object]) -> dict[str, list[Verdict]]:
    """Store the stream, discover goals, drift and correct; return the verdicts."""
    async with open_store(folder) as store:
        opening = await inject(store, plan.topic[:1], advance)
        first = await store.call("get_consciousness_state")
        topic = opening + await inject(store, plan.topic[1:], advance)
        off_topic = await inject(store, plan.off_topic, advance)
        stream = Stream(topic, off_topic, await inject(store, plan.repeats, advance))
        last = await store.call("get_consciousness_state")
        retrieved = await retrieve(store, stream.all)
        sections = {"learning": judge_learning(stream, retrieved, first, last)}
        sections["workspace"] = await judge_workspace(store, stream, plan.originals)
        sections["purpose"] = await purpose.judge_goals(store, plan.namespace, stream)
        before = await purpose.drift(store, plan.namespace)
        measured = before["status"] == "measured"  # without a North Star there is neither alignment nor drift
        if measured:
            sections["purpose"] += await purpose.judge_ranking(store, plan.queries)
        other = await inject(store, plan.other, advance)
        if measured:
            after = await purpose.drift(store, plan.namespace)
            sections["drift"] = [
                *purpose.judge_drift(before, after, len(other), plan.other_name),
                await purpose.judge_correction(store, plan.namespace),
            ]
        return sections


async def measure(folder: Path, plan: Plan, bar: Progress) -> dict[str, list[Verdict]]:
    """Run every experiment in a new store, and return the verdicts by heading."""
    stream = len(plan.topic) + len(plan.off_topic) + len(plan.repeats) + len(plan.other)
    storing = bar.add_task("the stream", total=stream)
    sections = await live(folder, plan, lambda: bar.advance(storing))
    filling = bar.add_task("the rest of the corpus", total=len(plan.rest))
    async with open_store(folder, priming=True) as store:
        await store.store_documents(plan.rest, lambda: bar.advance(filling))
    judging = bar.add_task("entropy from all memories", total=SAMPLES)
    sections["candidates"] = await anyio.to_thread.run_sync(
        judge_candidates, folder, SAMPLES, lambda: bar.advance(judging)
    )
    return sections


def mind(
    folder: Annotated[Path, Argument(exists=True, file_okay=False, help="corpus.jsonl, queries.jsonl, qrels/test.tsv")],
    namespace: Annotated[str | None, Option(help="Its first half is the topic; the first namespace.")] = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Store a stream of real memories, and judge learning, workspace, purpose and drift."""
    plan = make_plan(folder, namespace)
    with tempfile.TemporaryDirectory() as data, progress_bar() as bar:
        sections = anyio.run(measure, Path(data), plan, bar)
    counts = {"topic": len(plan.topic), "off_topic": len(plan.off_topic), "repeats": len(plan.repeats)}
    summary = f"{', '.join(f'{count} {name}' for name, count in counts.items())} memories of {plan.namespace}"
    publish(sections, summary, as_json=as_json, namespace=plan.namespace, stream=counts)
