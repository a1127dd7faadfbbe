"""What the workspace attends to: synchrony, ignition, states by coupling, and what priming does to a ranking."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from actors.api.operations.facade import Operations
from actors.api.params.memories import MemoryBatchCompare, MemoryCompare
from actors.api.params.mind import AdjustCoupling, GetWorkspaceStatus, TriggerWorkspaceBroadcast
from actors.api.params.parsing import parse
from actors.hub.composition import open_hub
from actors.workspace.attention import ENTER
from actors.workspace.kuramoto import order_parameters
from benchmarks.mind.serving import search
from benchmarks.mind.stream import Heard, Question
from benchmarks.mind.verdicts import Verdict
from events.spaces import INDEX, TEMPORAL

COUPLINGS = (0.0, 1.0, 2.0, 3.0, 4.0, 6.0, 10.0)
MEANING = INDEX["e1_semantic"]
FULLY = 0.8
"""From here on a space agrees with the focus."""
AGREES = 0.5
"""From here on people call half of all pairs related (`actors.comparator.compare.calibration`)."""


async def attending(operations: Operations, heard: Heard, repeated: Sequence[int]) -> list[Verdict]:
    """Turn the workspace to a repeat, then change how strongly the spaces pull on each other."""
    return [
        await _repeats(operations, heard, repeated),
        await _meaning_alone(operations, heard),
        Verdict(
            "something ignites now and then along the stream",
            {"stores at which it did": f"{sum(told.ignited > 0 for told in heard.all)} of {len(heard.all)}"},
            0 < sum(told.ignited > 0 for told in heard.all) < len(heard.all),
        ),
        *await _coupled(operations, heard),
    ]


async def _repeats(operations: Operations, heard: Heard, repeated: Sequence[int]) -> Verdict:
    """Focus on each repeat, and look at how the memory that it repeats agrees with it."""
    seen: list[tuple[int, float]] = []
    for told, place in zip(heard.repeats, repeated, strict=True):
        original = heard.topic[place].memory
        pair = parse({"memory_a": told.memory, "memory_b": original, "include_per_embedder": True}, MemoryCompare)
        scores = (await operations.memory_compare(pair))["per_embedder"]
        await operations.trigger_workspace_broadcast(parse({"id": told.memory}, TriggerWorkspaceBroadcast))
        status = await operations.get_workspace_status(GetWorkspaceStatus())
        order = {one["id"]: one["r"] for one in status["candidates"]}.get(original, 0.0)
        seen.append((sum(score >= FULLY for score in scores), order))
    return Verdict(
        f"what is repeated, on the same day or another, reaches r {ENTER}",
        {f"spaces from {FULLY}, r": [f"{agreeing} {order:.3f}," for agreeing, order in seen]},
        min(order for _, order in seen) >= ENTER if seen else None,
    )


async def _meaning_alone(operations: Operations, heard: Heard) -> Verdict:
    """Find the pair of the stream that is near in E1 and in the fewest others, and run its oscillators."""
    ids = [told.memory for told in heard.all]
    status = await operations.get_workspace_status(GetWorkspaceStatus())
    scores: list[list[float]] = []
    for place, reference in enumerate(ids[:-1]):
        wanted = {"reference": reference, "targets": ids[place + 1 :], "include_per_embedder": True}
        answer = await operations.memory_batch_compare(parse(wanted, MemoryBatchCompare))
        scores += [one["perEmbedder"] for one in answer["comparisons"]]
    table = np.array(scores, np.float32)
    others = np.delete(table, MEANING, axis=1)
    near = (others >= AGREES).sum(axis=1)
    alone = int(np.argmax(np.where(table[:, MEANING] >= AGREES, table[:, MEANING] - near, -np.inf)))
    heard_spaces = table[alone : alone + 1].copy()
    heard_spaces[:, [INDEX[key] for key in TEMPORAL]] = np.nan
    order = float(order_parameters(heard_spaces, status["coupling"])[0])
    found = bool(table[alone, MEANING] >= AGREES)
    return Verdict(
        f"one that agrees in E1 alone stays below r {ENTER}",
        {
            "pairs": len(table),
            "E1": float(table[alone, MEANING]),
            f"others from {AGREES}": int(near[alone]),
            "mean of the others": float(others[alone].mean()),
            "r": order,
        },
        order < ENTER if found else None,
    )


async def _coupled(operations: Operations, heard: Heard) -> list[Verdict]:
    """Measure the same focus with one coupling after the other."""
    await operations.trigger_workspace_broadcast(parse({"id": heard.repeats[-1].memory}, TriggerWorkspaceBroadcast))
    rest = (await operations.get_workspace_status(GetWorkspaceStatus()))["coupling"]
    seen = {new: await operations.adjust_coupling(parse({"new_k": new}, AdjustCoupling)) for new in COUPLINGS}
    await operations.adjust_coupling(parse({"new_k": rest}, AdjustCoupling))
    states = dict.fromkeys(answer["state"] for answer in seen.values())
    at_zero = len(seen[0.0]["ignited"])
    return [
        Verdict("with K = 0 nothing ignites", {"ignited": at_zero, "r": seen[0.0]["r"]}, at_zero == 0),
        Verdict(
            "raising K moves the state through at least four of five",
            {
                f"K = {new:g}": {"state": answer["state"], "r": answer["r"], "ignited": len(answer["ignited"])}
                for new, answer in seen.items()
            },
            len(states) >= 4,
        ),
    ]


class _Close(NamedTuple):
    """A result that stands close below another one."""

    question: Question
    place: int
    gap: float


async def primed(folder: Path, questions: Sequence[Question]) -> list[Verdict]:
    """Let a result into the workspace and ask again, with priming and without."""
    return [await _ignited(folder, questions, priming=priming) for priming in (True, False)]


async def _ignited(folder: Path, questions: Sequence[Question], *, priming: bool) -> Verdict:
    with open_hub(folder, priming=priming) as hub:
        operations = Operations(hub)
        close = min([await _closest(operations, question) for question in questions], key=lambda one: one.gap)
        before = await _results(operations, close.question)
        chosen = before[close.place]["fingerprintId"]
        await operations.trigger_workspace_broadcast(parse({"id": chosen, "force": True}, TriggerWorkspaceBroadcast))
        after = await _results(operations, close.question)
    place = next(place for place, result in enumerate(after) if result["fingerprintId"] == chosen)
    figures = {
        "its place before and after": [close.place + 1, place + 1],
        "behind by": close.gap,
        "its bonus": after[place]["contributions"]["priming"],
    }
    if priming:
        return Verdict("an ignited memory rises in the next ranking", figures, place < close.place)
    return Verdict("without priming the ranking stays as it was, bit by bit", figures, before == after)


async def _closest(operations: Operations, question: Question) -> _Close:
    """Return the result, not in the workspace, that stands closest below another that isn't either."""
    results = await _results(operations, question)
    gaps = [
        _Close(question, place, results[place - 1]["score"] - result["score"])
        for place, result in enumerate(results)
        if place and not result["contributions"]["priming"] and not results[place - 1]["contributions"]["priming"]
    ]
    return min(gaps, key=lambda one: one.gap, default=_Close(question, 0, np.inf))


async def _results(operations: Operations, question: Question) -> list[dict[str, Any]]:
    return (await search(operations, question, aligned=False))["results"]
