"""Answers about the workspace and the consciousness metrics."""

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

import numpy as np

from actors.api.responses.common import LABEL, alignment, body_of, iso, pick, rounded, shown
from actors.runtime.types import JsonObject
from actors.workspace.messages import Attention
from projections.memories.catalog import Entry
from projections.mind.consciousness import (
    BroadcastCandidate,
    CoherenceLevel,
    ConsciousnessState,
    differentiation,
    level_of,
    measure_consciousness,
    state_of,
    winner,
)
from projections.mind.workspace import CAPACITY, FADING_THRESHOLD, IGNITION_THRESHOLD

Entries = Mapping[UUID, Entry]

SUGGESTED_ACTIONS = {
    "conflict": "critique_context: several memories are in the workspace at once; see whether they agree",
    "empty": "epistemic_action: nothing is in the workspace; ask, or store what you found",
}


def consciousness(now: Attention, entries: Entries, at: datetime) -> JsonObject:
    """Return the answer of `get_consciousness_state`."""
    order = _order(now)
    active = _active(now, entries)
    # Without a winner, the best candidate shows what the workspace would contain.
    leading = active or (now.focus.candidates[0].memory if now.focus and now.focus.candidates else None)
    # Before a forecast is settled, reflection is what the open ones expect; `meta_learning` tells which it is.
    reflection = now.expected_accuracy if now.accuracy is None else now.accuracy
    metrics = measure_consciousness(order, reflection or 0.0, differentiation(_agreement(now, leading)))
    return {
        "C": rounded(metrics.consciousness),
        "r": rounded(order),
        **pick(metrics, "integration", "reflection", "differentiation"),
        "limiting_factor": metrics.limiting,
        "state": _state(now, at).value,
        "coherence_level": level_of(order).value,
        "fragmented": level_of(order) is CoherenceLevel.LOW,
        "coupling": now.coupling,
        "workspace": {"active_memory": _label(active, entries), "ignited": len(now.ignited)},
        "meta_learning": pick(now, "accuracy", "expected_accuracy", "scored"),
        "lifecycle": {
            **pick(now, "stage", "interactions"),
            "lambda_s": rounded(now.lambdas[0]),
            "lambda_c": rounded(now.lambdas[1]),
        },
    }


def status(now: Attention, entries: Entries, at: datetime) -> JsonObject:
    """Return the answer of `get_workspace_status`."""
    candidates = now.focus.candidates if now.focus else ()
    answer: JsonObject = {
        "active_memory": _label(_active(now, entries), entries),
        "ignited": [
            {
                **_node(one.memory, entries),
                "r": rounded(one.order),
                "since": iso(one.since),
                "seconds": rounded((at - one.since).total_seconds()),
            }
            for one in now.ignited
        ],
        "is_broadcasting": bool(now.ignited),
        "has_conflict": bool(now.conflict),
        "conflict_memories": [str(memory) for memory in now.conflict],
        "candidates": [{**_node(one.memory, entries), "r": rounded(one.order)} for one in candidates],
        "focus": _focus(now),
        "queued_for_rem": [str(one.memory) for one in now.queued],
        "coupling": now.coupling,
        "thresholds": {"enter": IGNITION_THRESHOLD, "exit": FADING_THRESHOLD, "capacity": CAPACITY},
    }
    if now.emptied_at is not None:
        answer["empty_for_seconds"] = rounded((at - now.emptied_at).total_seconds())
    if now.conflict or now.emptied_at is not None:
        answer["suggested_action"] = SUGGESTED_ACTIONS["conflict" if now.conflict else "empty"]
    return answer


def coupling_adjusted(before: Attention, after: Attention, at: datetime) -> JsonObject:
    """Return the answer of `adjust_coupling`, with the measured order before and after."""
    return {
        "old_K": before.coupling,
        "new_K": after.coupling,
        "previous_r": rounded(_order(before)),
        "r": rounded(_order(after)),
        "state": _state(after, at).value,
        "ignited": [str(one.memory) for one in after.ignited],
    }


def broadcast(memory: UUID, now: Attention) -> JsonObject:
    """Return the answer of `trigger_workspace_broadcast`."""
    ignited = any(one.memory == memory for one in now.ignited)
    candidates = now.focus.candidates if now.focus else ()
    order = next((one.order for one in candidates if one.memory == memory), 0.0)
    answer: JsonObject = {
        "success": ignited,
        "memory_id": str(memory),
        "r": rounded(order),
        "is_broadcasting": bool(now.ignited),
        "ignited": [str(one.memory) for one in now.ignited],
    }
    if not ignited:
        answer["reason"] = (
            f"r is below {IGNITION_THRESHOLD}: the spaces do not agree; raise K with adjust_coupling, or set force"
        )
    return answer


def _order(now: Attention) -> float:
    """Return the global order parameter: that of the best candidate, 0 without candidates."""
    return now.focus.candidates[0].order if now.focus and now.focus.candidates else 0.0


def _agreement(now: Attention, memory: UUID | None) -> list[float]:
    """Return how each space of a memory's fingerprint agrees with the focus; NaN where it has nothing to say."""
    candidates = now.focus.candidates if now.focus else ()
    scores = next((one.scores for one in candidates if one.memory == memory), b"")
    return np.frombuffer(scores, "<f4").tolist()


def _state(now: Attention, at: datetime) -> ConsciousnessState:
    idle_seconds = (at - now.focused_at).total_seconds() if now.focused_at else float("inf")
    return state_of(_order(now), idle_seconds)


def _active(now: Attention, entries: Entries) -> UUID | None:
    """Return the ignited memory with the largest product of order, importance and alignment."""
    won = winner(
        BroadcastCandidate(
            one.memory, one.order, body_of(entries[one.memory]).importance, alignment(entries[one.memory])
        )
        for one in now.ignited
        if one.memory in entries
    )
    return None if won is None else won.memory


def _label(memory: UUID | None, entries: Entries) -> JsonObject | None:
    return None if memory is None else _node(memory, entries)


def _node(memory: UUID, entries: Entries) -> JsonObject:
    content = {"content": shown(entries[memory])["content"][:LABEL]} if memory in entries else {}
    return {"id": str(memory)} | content


def _focus(now: Attention) -> JsonObject | None:
    if now.focus is None:
        return None
    subject = now.focus.subject
    return {
        "kind": "question" if subject is None else "memory",
        "memory_id": str(subject) if subject else None,
        "namespace": now.focus.namespace,
        "at": iso(now.focused_at),
    }
