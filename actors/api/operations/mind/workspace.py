"""Operations on the global workspace: its focus, its memories, and the coupling of the spaces."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, ClassVar
from uuid import UUID

import msgspec
import numpy as np
from msgspec import Meta

from actors.api.answers import LABEL, alignment, body_of, iso, pick, rounded
from actors.api.context import Context, check_live, describe, wait_until_ready
from actors.api.params.fields import NamespaceFilter, Reading
from actors.api.params.memories import OneMemory
from actors.api.params.parsing import Params
from actors.proxy.namespaces import EVERYWHERE
from actors.runtime.ask import ask
from actors.runtime.types import JsonObject
from actors.workspace.messages import Attention, Broadcast, ReadAttention, SetCoupling
from events.vocabulary.mind import Resonance
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
from projections.projection import MemoryState

Entries = Mapping[UUID, Entry]

SUGGESTED_ACTIONS = {
    "conflict": "critique_context: several memories are in the workspace at once; see whether they agree",
    "empty": "epistemic_action: nothing is in the workspace; ask, or store what you found",
}


class GetConsciousnessState(Reading, frozen=True, kw_only=True):
    """Measure how well the spaces agree on the focus (r), C = I*R*D and what limits it, stage of life."""

    namespace: NamespaceFilter = None


class GetWorkspaceStatus(Reading, frozen=True, kw_only=True):
    """List the memories that are ignited now; with --priming, searches prefer them."""

    namespace: NamespaceFilter = None


class AdjustCoupling(Params, frozen=True, kw_only=True):
    """Set the coupling K: the higher, the sooner memories ignite; 0 lets none."""

    aliases: ClassVar[dict[str, str]] = {"new__k": "new_k", "k": "new_k", "_k": "new_k", "coupling": "new_k"}

    new_k: Annotated[float, Meta(ge=0, le=10, description="K")]


class TriggerWorkspaceBroadcast(OneMemory, frozen=True, kw_only=True):
    """Put a memory into focus; with --priming, searches prefer it and what agrees with it."""

    force: Annotated[bool, Meta(description="Even if r is below .8")] = False


async def get_consciousness_state(context: Context, params: GetConsciousnessState) -> JsonObject:
    now, entries = await _attention(context, params.namespace)
    order = _order(now)
    active = _active(now, entries)
    # Without a winner, the best candidate shows what the workspace would contain.
    leading = active or next((one.memory for one in _candidates(now)), None)
    # Before a forecast is settled, reflection is what the open ones expect; `meta_learning` tells which it is.
    reflection = now.expected_accuracy if now.accuracy is None else now.accuracy
    metrics = measure_consciousness(order, reflection or 0.0, differentiation(_agreement(now, leading)))
    return {
        "C": rounded(metrics.consciousness),
        "r": rounded(order),
        **pick(metrics, "integration", "reflection", "differentiation"),
        "limiting_factor": metrics.limiting,
        "state": _state(now, context.now()).value,
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


async def get_workspace_status(context: Context, params: GetWorkspaceStatus) -> JsonObject:
    now, entries = await _attention(context, params.namespace)
    answer: JsonObject = {
        "active_memory": _label(_active(now, entries), entries),
        "ignited": [
            {
                **_node(one.memory, entries),
                "r": rounded(one.order),
                "since": iso(one.since),
                "seconds": rounded((context.now() - one.since).total_seconds()),
            }
            for one in now.ignited
        ],
        "is_broadcasting": bool(now.ignited),
        "has_conflict": bool(now.conflict),
        "conflict_memories": [str(memory) for memory in now.conflict],
        "candidates": [{**_node(one.memory, entries), "r": rounded(one.order)} for one in _candidates(now)],
        "focus": _focus(now),
        "queued_for_rem": [str(one.memory) for one in now.queued],
        "coupling": now.coupling,
        "thresholds": {"enter": IGNITION_THRESHOLD, "exit": FADING_THRESHOLD, "capacity": CAPACITY},
    }
    if now.emptied_at is not None:
        answer["empty_for_seconds"] = rounded((context.now() - now.emptied_at).total_seconds())
    if now.conflict or now.emptied_at is not None:
        answer["suggested_action"] = SUGGESTED_ACTIONS["conflict" if now.conflict else "empty"]
    return answer


async def adjust_coupling(context: Context, params: AdjustCoupling) -> JsonObject:
    """Set K, and measure again what the last focus found."""
    before = await ask(context.hub.workspace, ReadAttention())
    after = await ask(context.hub.workspace, SetCoupling(coupling=params.new_k))
    return {
        "old_K": before.coupling,
        "new_K": after.coupling,
        "previous_r": rounded(_order(before)),
        "r": rounded(_order(after)),
        "state": _state(after, context.now()).value,
        "ignited": [str(one.memory) for one in after.ignited],
    }


async def trigger_workspace_broadcast(context: Context, params: TriggerWorkspaceBroadcast) -> JsonObject:
    await wait_until_ready(context)
    (entry,) = await describe(context, params.id)
    check_live(entry)
    namespace = body_of(entry).namespace
    now = await ask(context.hub.workspace, Broadcast(memory=entry.id, namespace=namespace, force=params.force))
    now, _ = await _seen(context, now, frozenset({namespace}))
    ignited = any(one.memory == entry.id for one in now.ignited)
    order = next((one.order for one in _candidates(now) if one.memory == entry.id), 0.0)
    answer: JsonObject = {
        "success": ignited,
        "memory_id": str(entry.id),
        "r": rounded(order),
        "is_broadcasting": bool(now.ignited),
        "ignited": [str(one.memory) for one in now.ignited],
    }
    if not ignited:
        answer["reason"] = (
            f"r is below {IGNITION_THRESHOLD}: the spaces do not agree; raise K with adjust_coupling, or set force"
        )
    return answer


async def _attention(context: Context, namespace: str | None) -> tuple[Attention, Entries]:
    """Return the workspace as a namespace may see it, and what the catalog knows of the memories there."""
    wanted = context.visible if namespace is None or namespace == EVERYWHERE else frozenset({namespace})
    return await _seen(context, await ask(context.hub.workspace, ReadAttention()), wanted)


async def _seen(context: Context, now: Attention, namespaces: frozenset[str] | None) -> tuple[Attention, Entries]:
    """Return the workspace without the memories of other namespaces than these (None for all), and those that live."""
    named = (one.memory for one in (*now.ignited, *_candidates(now), *now.queued))
    described = await describe(context, *dict.fromkeys((*named, *now.conflict)))
    held = {entry.id: entry for entry in described if entry.state is MemoryState.LIVE}
    if namespaces is None:
        return now, held
    ours = {memory: entry for memory, entry in held.items() if body_of(entry).namespace in namespaces}
    focus = now.focus if now.focus and now.focus.namespace in {None, *namespaces} else None
    if focus is not None:
        seen = tuple(one for one in focus.candidates if one.memory in ours)
        focus = msgspec.structs.replace(focus, candidates=seen)
    rivals = tuple(memory for memory in now.conflict if memory in ours)
    shown = msgspec.structs.replace(
        now,
        focus=focus,
        ignited=tuple(one for one in now.ignited if one.memory in ours),
        conflict=rivals if len(rivals) > 1 else (),
        queued=tuple(one for one in now.queued if one.memory in ours),
    )
    return shown, ours


def _candidates(now: Attention) -> tuple[Resonance, ...]:
    return now.focus.candidates if now.focus else ()


def _order(now: Attention) -> float:
    """Return the global order parameter: that of the best candidate, 0 without candidates."""
    return next((one.order for one in _candidates(now)), 0.0)


def _agreement(now: Attention, memory: UUID | None) -> list[float]:
    """Return how each space of a memory's fingerprint agrees with the focus; NaN where it has nothing to say."""
    scores = next((one.scores for one in _candidates(now) if one.memory == memory), b"")
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
    if memory not in entries:
        return {"id": str(memory)}
    later = entries[memory].superseded_by
    node = {"id": str(memory), "content": body_of(entries[memory]).text[:LABEL]}
    return node | ({} if later is None else {"superseded_by": str(later)})


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
