"""Answers about the store: what it holds, and what happened in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from actors import metrics
from events.codec import decompress
from events.vocabulary import (
    ConsolidationUndone,
    MemoriesLinked,
    MemoriesMerged,
    MemoriesPruned,
    MemoriesReplayed,
    MemoryErased,
    MemoryFaded,
    MemoryForgotten,
    MemoryIgnited,
    MemoryRecalled,
    MemoryRestored,
    MemoryStored,
    PurposesRealigned,
    Shredded,
)

if TYPE_CHECKING:
    from uuid import UUID

    from actors.hub import Hub
    from actors.messages.store import Status
    from events.log import Envelope


def status(state: Status, indexes: dict[str, int], hub: Hub) -> dict[str, Any]:
    """Return what the store holds. Latencies are those of this process, or of the last that measured such work."""
    latencies = metrics.load(hub.latency_file) | hub.latencies.summary()
    declared = state.declared
    return {
        "folder": str(hub.folder),
        "memories": {
            "live": state.live,
            "forgotten": state.forgotten,
            "pruned": state.pruned,
            "merged": state.merged,
            "erased": state.erased,
        },
        "namespaces": state.namespaces,
        "indexes": indexes,
        "log": {"position": state.head.seq, "hash": state.head.hash.hex()},
        "profile": declared.profile if declared else None,
        "spaces": msgspec.to_builtins(declared.spaces) if declared else [],
        "latencies_ms": msgspec.to_builtins(dict(sorted(latencies.items()))),
    }


def happening(envelope: Envelope, memory: UUID) -> dict[str, Any]:
    """Return one event of a memory's life in words."""
    return {
        "seq": envelope.seq,
        "at": envelope.at.isoformat(),
        "actor": envelope.actor,
        "request": str(envelope.correlation_id),
        "what": _words(envelope, memory),
    }


def _words(envelope: Envelope, memory: UUID) -> str:
    match envelope.event:
        case MemoryStored() as event:
            size = len(decompress(event.content))
            why = f", because: {event.rationale}" if event.rationale else ""
            return f"stored {size} characters in {len(event.fingerprint.embeddings)} spaces as {event.modality}{why}"
        case Shredded():
            return "stored; its body can't be read any more"
        case MemoriesLinked() as event if event.source == memory:
            return f"linked to {', '.join(map(str, event.targets))} ({event.relation})"
        case MemoriesLinked() as event:
            return f"linked from {event.source} ({event.relation})"
        case MemoryRecalled() as event:
            return f"recalled as number {event.memories.index(memory) + 1} of {len(event.memories)} by a search"
        case MemoryForgotten() as event:
            return "forgotten" + (f", because: {event.reason}" if event.reason else "")
        case MemoryRestored():
            return "restored"
        case MemoryErased() as event:
            return "erased: its key was destroyed" + (f", because: {event.reason}" if event.reason else "")
        case _:
            return _by_itself(envelope, memory)


def _by_itself(envelope: Envelope, memory: UUID) -> str:
    """Return what the mind and sleep did to a memory, and nobody asked for."""
    match envelope.event:
        case MemoryIgnited() as event:
            return f"entered the workspace, r = {event.order:.2f}" + (", by force" if event.forced else "")
        case MemoryFaded() as event:
            return f"faded from the workspace, r = {event.order:.2f}"
        case PurposesRealigned() as event:
            purpose = event.of(memory)
            return f"measured against goal {event.goal}: alignment {sum(purpose) / len(purpose):.2f}"
        case MemoriesMerged() as event if event.survivor == memory:
            return f"absorbed {', '.join(map(str, event.absorbed))} (run {event.run})"
        case MemoriesMerged() as event:
            similarity = event.similarities[event.absorbed.index(memory)]
            return f"merged into {event.survivor}, similarity {similarity:.3f} (run {event.run})"
        case MemoriesPruned() as event:
            salience = next(one.salience for one in event.pruned if one.memory == memory)
            return f"pruned, salience {salience.total:.2f} (run {event.run})"
        case MemoriesReplayed() as event:
            return f"replayed in a dream (run {event.run})"
        case ConsolidationUndone() as event:
            return f"what run {event.run} did to it was undone"
        case other:
            raise ValueError(f"{type(other).__name__} doesn't touch a memory")
