"""Verdicts on purpose: after goals are discovered, alignment, drift and its correction."""

import re
from collections import Counter
from statistics import fmean
from typing import Any

from benchmarks.mind.stream import StoredMemory, Stream, retrieve
from benchmarks.report import Verdict
from benchmarks.store import Store
from events.vocabulary.values import DriftLevel

LEVELS = [level.value for level in DriftLevel]


async def judge_goals(store: Store, namespace: str, stream: Stream) -> list[Verdict]:
    """Discover goals, and judge how they describe the stream."""
    found = await store.call("discover_goals", namespace=namespace)
    star = found["north_star"]
    if star is None:
        return [Verdict("a North Star is found", {"goals": len(found["discovered_goals"])}, holds=False)]
    described = {name: star[name] for name in ("description", "coherence", "confidence", "member_count")}
    others = {
        goal["description"]: {name: goal[name] for name in ("level", "coherence", "member_count")}
        for goal in found["discovered_goals"]
        if goal["goal_id"] != star["goal_id"]
    }
    return [
        Verdict("a North Star is found", described, found["north_star_chosen"]),
        _description(star["description"], stream),
        Verdict("other goals", others),
        _alignment(stream, await retrieve(store, stream.all)),
    ]


def _description(description: str, stream: Stream) -> Verdict:
    """Count the memories with each word of a description: several of the topic, none of the off-topic ones."""

    def count(word: str, memories: list[StoredMemory]) -> int:
        return sum(re.search(rf"\b{re.escape(word)}\b", one.text.lower()) is not None for one in memories)

    words = re.findall(r"\w+", description.lower())
    counts = {word: count(word, stream.topic) for word in words}
    elsewhere = sum(count(word, stream.off_topic) for word in words)
    return Verdict(
        "its description names the topic",
        {"memories of the topic with the word": counts, "off-topic memories with any of them": elsewhere},
        elsewhere == 0 and bool(counts) and min(counts.values()) >= 2,
    )


def _alignment(stream: Stream, retrieved: list[dict[str, Any]]) -> Verdict:
    start, stop = len(stream.topic), len(stream.topic) + len(stream.off_topic)
    on, off = (
        (fmean(one["thetaToNorthStar"] for one in some), dict(Counter(one["alignmentBand"] for one in some)))
        for some in (retrieved[:start], retrieved[start:stop])
    )
    figures = {"on topic": {"alignment": on[0], **on[1]}, "off topic": {"alignment": off[0], **off[1]}}
    return Verdict("on-topic memories serve it better than off-topic ones", figures, on[0] > off[0])


def judge_drift(before: dict[str, Any], after: dict[str, Any], other: int, name: str) -> Verdict:
    """Compare the drift before and after `other` memories of another topic."""
    levels = [{key: report[key] for key in ("level", "similarity")} for report in (before, after)]
    return Verdict(
        "memories of another topic lead to a worse level",
        {"stored": f"{other} of {name}", "before": levels[0], "after": levels[1]},
        LEVELS.index(after["level"]) > LEVELS.index(before["level"]),
    )


async def judge_correction(store: Store, namespace: str) -> Verdict:
    """Correct the drift, and measure it again with another call."""
    done = await store.call("trigger_drift_correction", namespace=namespace)
    after = await store.call("get_alignment_drift", namespace=namespace)
    names = ("strategy_applied", "applied", "alignment_before", "alignment_after", "level_before", "level_after")
    return Verdict(
        "a correction's alignment is measured, and no worse than before",
        {name: done[name] for name in names} | {"measured again": after["similarity"]},
        done["alignment_after"] == after["similarity"] and done["alignment_after"] >= done["alignment_before"],
    )
