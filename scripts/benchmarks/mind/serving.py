"""What the stream serves: purpose before and after goals were discovered, ranking by alignment, drift."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations
from statistics import fmean
from typing import Any

from actors.api.context import Context
from actors.api.operations.goals import discover_goals, get_alignment_drift, trigger_drift_correction
from actors.api.operations.memories import memory_retrieve
from actors.api.operations.retrieval.search import search_graph
from actors.api.params.memories import MemoryRetrieve, SearchGraph
from actors.api.params.mind import DiscoverGoals, GetAlignmentDrift, TriggerDriftCorrection
from actors.api.params.parsing import parse
from actors.api.params.search import SearchGraph
from benchmarks.mind.stream import Heard, Question, Told
from benchmarks.mind.verdicts import Verdict
from events.vocabulary.values import DriftLevel

FIRST = 5
"""Results that a reader looks at."""

ASKED = 20
"""Results that are compared with each other."""

EQUAL = 0.02
"""Two results are equally similar where their figures differ by no more."""

APART = 0.1
"""Of two results one is on purpose and the other off where their alignments differ by so much."""

LEVELS = [level.value for level in DriftLevel]


async def retrieve(context: Context, told: Sequence[Told]) -> list[dict[str, Any]]:
    """Return all that is known of these memories."""
    return [await memory_retrieve(context, parse({"id": one.memory}, MemoryRetrieve)) for one in told]


async def search(context: Context, question: Question, *, aligned: bool) -> dict[str, Any]:
    """Ask about the stream, with or without serving the North Star."""
    asked = {**question, "top_k": ASKED, "explain": True, "include_purpose_alignment": aligned}
    return await search_graph(context, parse(asked, SearchGraph))


async def drift(context: Context, namespace: str) -> dict[str, Any]:
    """Return the drift of the latest memories, with its history."""
    wanted = parse({"namespace": namespace, "include_history": True}, GetAlignmentDrift)
    return await get_alignment_drift(context, wanted)


async def without_goals(context: Context, retrieved: list[dict[str, Any]], question: Question) -> list[Verdict]:
    """Look at purpose before there is any."""
    neutral = sum(not any(memory["purposeVector"]) for memory in retrieved)
    stages = (await search(context, question, aligned=True))["stages"]
    alignment = next(stage for stage in stages if stage["name"] == "alignment")
    return [
        Verdict(
            "without goals every purpose vector is thirteen zeros",
            {"zeros": f"{neutral} of {len(retrieved)}"},
            neutral == len(retrieved) and all(len(memory["purposeVector"]) == 13 for memory in retrieved),
        ),
        Verdict("and stage 4 is skipped", {"stage": alignment}, alignment.get("skipped") is True),
    ]


async def goals(context: Context, namespace: str, heard: Heard) -> list[Verdict]:
    """Discover goals, and look at what they make of the stream."""
    found = await discover_goals(context, parse({"namespace": namespace}, DiscoverGoals))
    star = found["north_star"]
    if star is None:
        return [Verdict("a North Star is found", {"goals": len(found["discovered_goals"])}, holds=False)]
    others = [goal for goal in found["discovered_goals"] if goal["goal_id"] != star["goal_id"]]
    retrieved = await retrieve(context, heard.all)
    realigned = sum(
        any(snapshot.get("new") == star["goal_id"] for snapshot in memory["evolutionSnapshots"])
        and any(memory["purposeVector"])
        for memory in retrieved
    )
    figures = {name: star[name] for name in ("description", "coherence", "confidence", "member_count")}
    return [
        Verdict("a North Star is found", figures, found["north_star_chosen"]),
        _named(star["description"], heard),
        Verdict(
            "other goals",
            {
                goal["description"]: {name: goal[name] for name in ("level", "coherence", "member_count")}
                for goal in others
            },
        ),
        Verdict(
            "every stored purpose vector was realigned",
            {"told": found["memories_realigned"], "seen": f"{realigned} of {len(retrieved)}"},
            found["memories_realigned"] == realigned == len(retrieved),
        ),
        _bands(heard, retrieved),
    ]


def _named(description: str, heard: Heard) -> Verdict:
    """Look for the words of a description: its topic has them in several memories, other topics don't."""
    words = re.findall(r"\w+", description.lower())

    def saying(word: str, told: list[Told]) -> int:
        return sum(re.search(rf"\b{re.escape(word)}\b", one.text.lower()) is not None for one in told)

    counts = {word: saying(word, heard.topic) for word in words}
    elsewhere = sum(saying(word, heard.off_topic) for word in words)
    return Verdict(
        "its description names the topic",
        {"memories of the topic with the word": counts, "off-topic memories with any of them": elsewhere},
        elsewhere == 0 and bool(counts) and min(counts.values()) >= 2,
    )


def _bands(heard: Heard, retrieved: list[dict[str, Any]]) -> Verdict:
    start, stop = len(heard.topic), len(heard.topic) + len(heard.off_topic)
    on, off = retrieved[:start], retrieved[start:stop]
    means = [fmean(memory["thetaToNorthStar"] for memory in some) for some in (on, off)]
    bands = [dict(Counter(memory["alignmentBand"] for memory in some)) for some in (on, off)]
    figures = {"on topic": {"alignment": means[0], **bands[0]}, "off topic": {"alignment": means[1], **bands[1]}}
    return Verdict("on-topic memories serve it better than off-topic ones", figures, means[0] > means[1])


async def ranking(context: Context, questions: Sequence[Question]) -> list[Verdict]:
    """Ask about the stream with and without alignment."""
    plain, aligned = [
        [(await search(context, question, aligned=wanted))["results"] for question in questions]
        for wanted in (False, True)
    ]
    means = [
        fmean(result["purposeAlignment"] for results in asked for result in results[:FIRST])
        for asked in (plain, aligned)
    ]
    changed = sum(
        [result["fingerprintId"] for result in before] != [result["fingerprintId"] for result in after]
        for before, after in zip(plain, aligned, strict=True)
    )
    similar = [_in_order(asked, lambda result: result["similarity"]) for asked in (plain, aligned)]
    tied = [_in_order(asked, _before_alignment) for asked in (plain, aligned)]
    return [
        Verdict(
            f"include_purpose_alignment raises the alignment of the first {FIRST}",
            {"questions": len(questions), "without": means[0], "with": means[1], "rankings that changed": changed},
            means[1] > means[0],
        ),
        Verdict(
            "of equally similar pairs the one on purpose stands first: more often than without, and mostly",
            {"pairs": similar[1][1], "without": similar[0][0], "with": similar[1][0]},
            similar[1][0] > similar[0][0] and similar[1][0] > 0.5,
        ),
        Verdict(
            "of pairs whose score is equal but for alignment the one on purpose always stands first",
            {"pairs": tied[1][1], "without": tied[0][0], "with": tied[1][0]},
            tied[1][0] == 1.0 and tied[0][0] < 1.0,
        ),
    ]


def _before_alignment(result: dict[str, Any]) -> float:
    return result["score"] - result["contributions"].get("alignment", 0.0)


def _in_order(asked: list[list[dict[str, Any]]], figure: Any) -> tuple[float, int]:
    """Return the share of the equal pairs in which the better aligned stands first, and how many pairs there are."""

    def pairs() -> Iterator[bool]:
        for results in asked:
            for first, second in combinations(results, 2):
                gain = first["purposeAlignment"] - second["purposeAlignment"]
                if abs(figure(first) - figure(second)) <= EQUAL and abs(gain) >= APART:
                    yield gain > 0

    ordered = list(pairs())
    return (fmean(ordered) if ordered else 0.0), len(ordered)


def drifted(before: dict[str, Any], after: dict[str, Any], other: int, name: str) -> list[Verdict]:
    """Compare the drift before and after so many memories of another topic."""
    levels = [{name: report[name] for name in ("level", "similarity")} for report in (before, after)]
    moved = {one["space"]: one["similarity"] for one in after["most_drifted_embedders"]}
    return [
        Verdict(
            "memories of another topic are seen as a worse level",
            {"stored": f"{other} of {name}", "before": levels[0], "after": levels[1]},
            LEVELS.index(after["level"]) > LEVELS.index(before["level"]),
        ),
        Verdict("the spaces that moved are named", moved, bool(moved)),
        Verdict(
            "the trend says so",
            {
                "before": before["trend"],
                "after": after["trend"],
                "history": [one["similarity"] for one in after["history"]],
            },
            after["trend"] == "Worsening",
        ),
    ]


async def corrected(context: Context, namespace: str) -> list[Verdict]:
    """Correct the drift, and measure again by another call."""
    done = await trigger_drift_correction(context, parse({"namespace": namespace}, TriggerDriftCorrection))
    after = await drift(context, namespace)
    names = ("strategy_applied", "applied", "alignment_before", "alignment_after", "level_before", "level_after")
    return [
        Verdict(
            "a correction's alignment is measured, and no worse than before",
            {name: done[name] for name in names} | {"measured again": after["similarity"]},
            done["alignment_after"] == after["similarity"] and done["alignment_after"] >= done["alignment_before"],
        )
    ]
