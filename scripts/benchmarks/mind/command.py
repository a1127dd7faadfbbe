"""`scripts/bench mind`: stores a stream, and judges learning, purpose and drift."""

from collections.abc import Callable
from pathlib import Path

import anyio

from benchmarks.datasets import DataFolder
from benchmarks.mind.stream import Plan, Stream, inject, make_plan
from benchmarks.mind.verdicts import judge_correction, judge_drift, judge_goals, judge_learning
from benchmarks.report import JsonOption, Verdict, counter, publish, workplace
from benchmarks.store import open_store


async def measure(folder: Path, plan: Plan, advance: Callable[[], object]) -> dict[str, list[Verdict]]:
    """Store the stream, discover goals, drift and correct; return the verdicts."""
    async with open_store(folder) as store:
        parts = (plan.topic, plan.off_topic, plan.repeats)
        stream = Stream(*[await inject(store, part, advance) for part in parts])
        sections = {
            "learning": judge_learning(stream),
            "purpose": await judge_goals(store, plan.namespace, stream),
        }
        before = await store.call("get_alignment_drift", namespace=plan.namespace)
        other = await inject(store, plan.other, advance)
        if before["status"] == "measured":  # without a North Star there is neither alignment nor drift
            after = await store.call("get_alignment_drift", namespace=plan.namespace)
            sections["drift"] = [
                judge_drift(before, after, f"{len(other)} of {plan.other_name}"),
                await judge_correction(store, plan.namespace),
            ]
        return sections


def mind(folder: DataFolder, *, as_json: JsonOption = False) -> None:
    """Store a stream of real memories, and judge learning, purpose and drift."""
    plan = make_plan(folder)
    counts = {"topic": len(plan.topic), "off_topic": len(plan.off_topic), "repeats": len(plan.repeats)}
    with workplace() as (scratch, bar):
        advance = counter(bar, "the stream", sum(counts.values()) + len(plan.other))
        sections = anyio.run(measure, scratch, plan, advance)
    summary = f"{', '.join(f'{count} {name}' for name, count in counts.items())} memories of {plan.namespace}"
    publish(sections, summary, as_json=as_json, namespace=plan.namespace, stream=counts)
