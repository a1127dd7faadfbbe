"""Verdicts on the workspace: synchrony, ignition, and states by coupling."""

from collections.abc import Sequence

import numpy as np

from actors.workspace.kuramoto import order_parameters
from benchmarks.mind.stream import Stream
from benchmarks.report import Verdict
from benchmarks.store import Store
from events.spaces import INDEX, TEMPORAL
from projections.mind.workspace import IGNITION_THRESHOLD

COUPLINGS = (0.0, 1.0, 2.0, 3.0, 4.0, 6.0, 10.0)
SEMANTIC_INDICES = INDEX["e1_semantic"]
FULLY = 0.8
"""Similarity from which a space counts as agreeing with the focus."""
AGREES = 0.5
"""Similarity from which people call half of all pairs related."""


async def judge_workspace(store: Store, stream: Stream, originals: Sequence[int]) -> list[Verdict]:
    """Focus on repeats, on a pair that agrees in E1 alone, and with every coupling."""
    igniting = sum(memory.ignited > 0 for memory in stream.all)
    return [
        await _repeats(store, stream, originals),
        await _meaning_alone(store, stream),
        Verdict(
            "something ignites now and then along the stream",
            {"stores at which it did": f"{igniting} of {len(stream.all)}"},
            0 < igniting < len(stream.all),
        ),
        *await _couplings(store, stream),
    ]


async def _repeats(store: Store, stream: Stream, originals: Sequence[int]) -> Verdict:
    """Focus on each repeat, and measure the order parameter of its original."""
    seen: list[tuple[int, float]] = []
    for repeat, place in zip(stream.repeats, originals, strict=True):
        original = stream.topic[place].id
        pair = {"memory_a": repeat.id, "memory_b": original, "include_per_embedder": True}
        scores = (await store.call("memory_compare", **pair))["per_embedder"]
        await store.call("trigger_workspace_broadcast", id=repeat.id)
        candidates = (await store.call("get_workspace_status"))["candidates"]
        order = {one["id"]: one["r"] for one in candidates}.get(original, 0.0)
        seen.append((sum(score is not None and score >= FULLY for score in scores), order))
    return Verdict(
        f"what is repeated, on the same day or another, reaches r {IGNITION_THRESHOLD}",
        {f"spaces from {FULLY}, r": [f"{agreeing} {order:.3f}," for agreeing, order in seen]},
        min(order for _, order in seen) >= IGNITION_THRESHOLD if seen else None,
    )


async def _meaning_alone(store: Store, stream: Stream) -> Verdict:
    """Find the pair that is near in E1 and in the fewest other spaces, and compute its order parameter."""
    ids = [memory.id for memory in stream.all]
    coupling = (await store.call("get_workspace_status"))["coupling"]
    scores: list[list[float]] = []
    for place, reference in enumerate(ids[:-1]):
        wanted = {"reference": reference, "targets": ids[place + 1 :], "include_per_embedder": True}
        scores += [one["perEmbedder"] for one in (await store.call("memory_batch_compare", **wanted))["comparisons"]]
    table = np.array(scores, np.float32)
    others = np.delete(table, SEMANTIC_INDICES, axis=1)
    near = (others >= AGREES).sum(axis=1)
    alone = int(np.argmax(np.where(table[:, SEMANTIC_INDICES] >= AGREES, table[:, SEMANTIC_INDICES] - near, -np.inf)))
    pair = table[alone : alone + 1].copy()
    pair[:, [INDEX[key] for key in TEMPORAL]] = np.nan
    order = float(order_parameters(pair, coupling)[0])
    return Verdict(
        f"one that agrees in E1 alone stays below r {IGNITION_THRESHOLD}",
        {
            "pairs": len(table),
            "E1": float(table[alone, SEMANTIC_INDICES]),
            f"others from {AGREES}": int(near[alone]),
            "mean of the others": float(np.nanmean(others[alone])),
            "r": order,
        },
        order < IGNITION_THRESHOLD if bool(table[alone, SEMANTIC_INDICES] >= AGREES) else None,
    )


async def _couplings(store: Store, stream: Stream) -> list[Verdict]:
    """Measure one focus with every coupling in turn."""
    await store.call("trigger_workspace_broadcast", id=stream.repeats[-1].id)
    default = (await store.call("get_workspace_status"))["coupling"]
    seen = {new: await store.call("adjust_coupling", new_k=new) for new in COUPLINGS}
    await store.call("adjust_coupling", new_k=default)
    at_zero = len(seen[0.0]["ignited"])
    figures = {
        f"K = {new:g}": {"state": answer["state"], "r": answer["r"], "ignited": len(answer["ignited"])}
        for new, answer in seen.items()
    }
    return [
        Verdict("with K = 0 nothing ignites", {"ignited": at_zero, "r": seen[0.0]["r"]}, at_zero == 0),
        Verdict(
            "raising K moves the state through at least four of five",
            figures,
            len({answer["state"] for answer in seen.values()}) >= 4,
        ),
    ]
