"""Verdicts on learning (entropy, Johari quadrants, pulses), on goals, and on drift and its correction."""

import re
from collections import Counter
from statistics import fmean, median
from typing import Any

from benchmarks.mind.stream import StoredMemory, Stream
from benchmarks.report import Verdict
from benchmarks.store import Answer, Store
from events.vocabulary.values import DriftLevel

CLEARLY = 0.05
"""Least distance of a mean from the running median."""
VARIED = 0.95
"""Least share of the stores with a pulse of their own."""
LEVELS = [level.value for level in DriftLevel]


def judge_learning(stream: Stream) -> list[Verdict]:
    """Return the verdicts on what was learned of each memory when it was stored."""
    quadrants = Counter(memory.pulse.quadrant for memory in stream.all)
    figures = {"different": len({memory.pulse for memory in stream.all}), "stores": len(stream.all)}
    return [
        _beside_median("entropy of off-topic memories above the running median", stream, stream.off_topic, 1),
        _beside_median("entropy of repeats below the running median", stream, stream.repeats, -1),
        Verdict("at least three quadrants among memories", dict(quadrants), len(quadrants) >= 3),
        Verdict("pulses differ", figures, figures["different"] >= VARIED * figures["stores"]),
    ]


def _beside_median(what: str, stream: Stream, some: list[StoredMemory], side: int) -> Verdict:
    """Compare each entropy with the median of all memories stored before."""
    entropies = [memory.entropy for memory in stream.all]
    start = stream.all.index(some[0])
    gaps = [entropies[place] - median(entropies[:place]) for place in range(start, start + len(some))]
    beyond = sum(side * gap > 0 for gap in gaps)
    return Verdict(
        what,
        {
            "mean entropy": fmean(memory.entropy for memory in some),
            "running median": median(entropies[:start]),
            "mean gap": fmean(gaps),
            "least gap": min(gaps, key=lambda gap: side * gap),
            "beyond": f"{beyond} of {len(some)}",
        },
        beyond == len(some) and side * fmean(gaps) >= CLEARLY,
    )


async def judge_goals(store: Store, namespace: str, stream: Stream) -> list[Verdict]:
    """Discover goals, and judge how they describe the stream."""
    found = await store.call("discover_goals", namespace=namespace)
    star = found["north_star"]
    if star is None:
        return [Verdict("a North Star is found", {"goals": len(found["discovered_goals"])}, holds=False)]
    others = {
        goal["description"]: {name: goal[name] for name in ("level", "coherence", "member_count")}
        for goal in found["discovered_goals"]
        if goal["goal_id"] != star["goal_id"]
    }
    described = {name: star[name] for name in ("description", "coherence", "confidence", "member_count")}
    on, off = await _alignment(store, stream.topic), await _alignment(store, stream.off_topic)
    return [
        Verdict("a North Star is found", described, found["north_star_chosen"]),
        _description(star["description"], stream),
        Verdict("other goals", others),
        Verdict(
            "on-topic memories serve it better than off-topic ones",
            {"on topic": on, "off topic": off},
            on["alignment"] > off["alignment"],
        ),
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


async def _alignment(store: Store, memories: list[StoredMemory]) -> dict[str, Any]:
    """Return the mean alignment of memories with the North Star, and how many are in each band."""
    known = [await store.call("memory_retrieve", id=memory.id) for memory in memories]
    bands = Counter(one["alignmentBand"] for one in known)
    return {"alignment": fmean(one["thetaToNorthStar"] for one in known), **bands}


def judge_drift(before: Answer, after: Answer, stored: str) -> Verdict:
    """Compare the drift before and after memories of another topic were stored."""
    levels = [{key: report[key] for key in ("level", "similarity")} for report in (before, after)]
    return Verdict(
        "memories of another topic lead to a worse level",
        {"stored": stored, "before": levels[0], "after": levels[1]},
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
