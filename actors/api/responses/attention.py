"""Answers about the workspace and consciousness."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from actors.api.responses.memories import alignment, body_of, iso, rounded, shown
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

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from uuid import UUID

    from actors.workspace.messages import Attention
    from projections.memories.entries import Entry

LABEL = 120
"""Characters by which a memory is named; memory_retrieve reads the whole."""

ADVICE = {
    "conflict": "critique_context: several memories are in the workspace at once; see whether they agree",
    "empty": "epistemic_action: nothing is in the workspace; ask, or store what you found",
}


def consciousness(now: Attention, held: Mapping[UUID, Entry], at: datetime) -> dict[str, Any]:
    """Return what `get_consciousness_state` answers (seeds 001 and 004; facts 9.3)."""
    order = _order(now)
    active = _active(now, held)
    # Without a winner the best candidate tells what the workspace would be about.
    leading = active or (now.focus.candidates[0].memory if now.focus and now.focus.candidates else None)
    purpose = held[leading].purpose if leading and leading in held else ()
    # Before a forecast came true or not nothing was reflected upon; `meta_learning` tells that from an accuracy of 0.
    reflection = 0.0 if now.accuracy is None else now.accuracy
    parts = measure_consciousness(order, reflection, differentiation(purpose) if purpose else 0.0)
    return {
        "C": rounded(parts.consciousness),
        "r": rounded(order),
        "integration": rounded(parts.integration),
        "reflection": rounded(parts.reflection),
        "differentiation": rounded(parts.differentiation),
        "limiting_factor": parts.limiting,
        "state": _state(now, at).value,
        "coherence_level": level_of(order).value,
        "fragmented": level_of(order) is CoherenceLevel.LOW,
        "coupling": now.coupling,
        "workspace": {"active_memory": _named(active, held), "ignited": len(now.ignited)},
        "meta_learning": {"accuracy": None if now.accuracy is None else rounded(now.accuracy), "scored": now.scored},
        "lifecycle": {
            "stage": now.stage,
            "interactions": now.interactions,
            "lambda_s": rounded(now.lambdas[0]),
            "lambda_c": rounded(now.lambdas[1]),
        },
    }


def status(now: Attention, held: Mapping[UUID, Entry], at: datetime) -> dict[str, Any]:
    """Return what `get_workspace_status` answers (facts 9.4)."""
    active = _active(now, held)
    answer: dict[str, Any] = {
        "active_memory": _named(active, held),
        "ignited": [
            {
                **_label(one.memory, held),
                "r": rounded(one.order),
                "since": iso(one.since),
                "seconds": rounded((at - one.since).total_seconds()),
            }
            for one in now.ignited
        ],
        "is_broadcasting": bool(now.ignited),
        "has_conflict": bool(now.conflict),
        "conflict_memories": [str(memory) for memory in now.conflict],
        "candidates": [
            {**_label(one.memory, held), "r": rounded(one.order)} for one in (now.focus.candidates if now.focus else ())
        ],
        "focus": _focus(now),
        "queued_for_rem": [str(one.memory) for one in now.queued],
        "coupling": now.coupling,
        "thresholds": {"enter": IGNITION_THRESHOLD, "exit": FADING_THRESHOLD, "capacity": CAPACITY},
    }
    if now.emptied_at is not None:
        answer["empty_for_seconds"] = rounded((at - now.emptied_at).total_seconds())
    if now.conflict:
        answer["suggested_action"] = ADVICE["conflict"]
    elif now.emptied_at is not None:
        answer["suggested_action"] = ADVICE["empty"]
    return answer


def adjusted(before: Attention, after: Attention, at: datetime) -> dict[str, Any]:
    """Return what `adjust_coupling` answers; both orders are measured."""
    return {
        "old_K": before.coupling,
        "new_K": after.coupling,
        "previous_r": rounded(_order(before)),
        "r": rounded(_order(after)),
        "state": _state(after, at).value,
        "ignited": [str(one.memory) for one in after.ignited],
    }


def broadcast(memory: UUID, now: Attention) -> dict[str, Any]:
    """Return what `trigger_workspace_broadcast` answers."""
    inside = next((one for one in now.ignited if one.memory == memory), None)
    candidates = now.focus.candidates if now.focus else ()
    order = next((one.order for one in candidates if one.memory == memory), 0.0)
    answer: dict[str, Any] = {
        "success": inside is not None,
        "memory_id": str(memory),
        "r": rounded(order),
        "is_broadcasting": bool(now.ignited),
        "ignited": [str(one.memory) for one in now.ignited],
    }
    if inside is None:
        answer["reason"] = (
            f"its spaces don't lock: r is below {IGNITION_THRESHOLD}; raise K by adjust_coupling, or force it"
        )
    return answer


def _order(now: Attention) -> float:
    """Return the global order parameter: that of the memory which agrees best with the focus; 0 before there is one."""
    return now.focus.candidates[0].order if now.focus and now.focus.candidates else 0.0


def _state(now: Attention, at: datetime) -> ConsciousnessState:
    idle = (at - now.focused_at).total_seconds() if now.focused_at else float("inf")
    return state_of(_order(now), idle)


def _active(now: Attention, held: Mapping[UUID, Entry]) -> UUID | None:
    """Return the memory that wins the workspace: the largest product of order, importance and alignment."""
    won = winner(
        BroadcastCandidate(one.memory, one.order, body_of(held[one.memory]).importance, alignment(held[one.memory]))
        for one in now.ignited
        if one.memory in held
    )
    return None if won is None else won.memory


def _named(memory: UUID | None, held: Mapping[UUID, Entry]) -> dict[str, Any] | None:
    return None if memory is None else _label(memory, held)


def _label(memory: UUID, held: Mapping[UUID, Entry]) -> dict[str, Any]:
    return {"id": str(memory)} | ({"content": shown(held[memory])["content"][:LABEL]} if memory in held else {})


def _focus(now: Attention) -> dict[str, Any] | None:
    if now.focus is None:
        return None
    subject = now.focus.subject
    return {
        "kind": "question" if subject is None else "memory",
        "memory_id": str(subject) if subject else None,
        "namespace": now.focus.namespace,
        "at": iso(now.focused_at),
    }
