"""What operations answer: values of the actors put into the seeds' words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from actors import metrics
from events.codec import decompress
from events.fingerprint import Bits, Dense, Directed, Embedding, Sparse, Tokens
from events.spaces import SPACES
from events.vocabulary import (
    MemoriesLinked,
    MemoryErased,
    MemoryForgotten,
    MemoryRecalled,
    MemoryRestored,
    MemoryStored,
    Shredded,
)

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from actors.hub import Hub
    from actors.messages import Edges, Found, Hit, Status
    from events.log import Envelope
    from projections.catalog import Body, Entry

EXCERPT = 2_000
"""Characters of a memory that a search result shows at most; a window of the model has some 1,400."""

TOP_SPACES = 3
DIGITS = 4


def _rounded(value: float) -> float:
    return round(value, DIGITS)


def _iso(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None


def body_of(entry: Entry) -> Body:
    """Return what was stored; the caller knows that the memory isn't erased."""
    if entry.body is None:
        raise ValueError(f"{entry.id} has no body")
    return entry.body


def result(hit: Hit, entry: Entry, *, explain: bool) -> dict[str, Any]:
    """Return one result of a search: what was found, and which spaces found it."""
    body = body_of(entry)
    text = body.text
    start, end = hit.passage or (0, len(text))
    ranked = list(hit.spaces.items())
    answer: dict[str, Any] = {
        "fingerprintId": str(hit.memory),
        "content": text[start : min(end, start + EXCERPT)],
        "similarity": _rounded(hit.similarity),
        "score": _rounded(hit.score),
        "dominantEmbedder": ranked[0][0],
        "topSpaces": [
            {"space": key, "similarity": _rounded(space.similarity), "contribution": _rounded(space.contribution)}
            for key, space in ranked[:TOP_SPACES]
        ],
        "purposeAlignment": _rounded(sum(body.purpose) / len(body.purpose)),
        "createdAt": _iso(body.created_at),
        "namespace": body.namespace,
    }
    if end - start < len(text) or len(answer["content"]) < len(text):
        answer["excerpt"] = {"start": start, "end": start + len(answer["content"]), "of": len(text)}
    if body.session is not None:
        answer |= {"session": body.session, "position": body.position}
    if body.tags:
        answer["tags"] = list(body.tags)
    if explain:
        answer["embedderScores"] = {space.key: None for space in SPACES} | {
            key: _rounded(space.similarity) for key, space in ranked
        }
        answer["contributions"] = {key: _rounded(space.contribution) for key, space in ranked} | {
            "context": _rounded(hit.context)
        }
    return answer


def explanation(found: Found) -> dict[str, Any]:
    """Return how a search went: the weights that were applied, and what each stage let through."""
    return {
        "weightsApplied": {key: _rounded(weight) for key, weight in found.weights.items()},
        "stages": [
            {"name": stage.name, "candidates": stage.candidates, "milliseconds": round(stage.milliseconds, 2)}
            for stage in found.stages
        ],
    }


def _shape(embedding: Embedding) -> dict[str, Any]:
    match embedding:
        case Dense():
            return {"dimension": len(embedding.array)}
        case Directed():
            return {"dimension": len(embedding.as_cause), "vectors": ["cause", "effect"]}
        case Sparse():
            return {"active": len(embedding.ids)}
        case Bits():
            return {"bits": 8 * len(embedding.data)}
        case Tokens():
            return {"tokens": len(embedding.ids), "dimension": embedding.array.shape[1]}


def memory(entry: Entry, envelope: Envelope, edges: Edges) -> dict[str, Any]:
    """Return all that is known of one memory: what the catalog says, and the shape of its embeddings in the log."""
    body, stored = body_of(entry), envelope.event
    if not isinstance(stored, MemoryStored):
        raise TypeError(f"event {envelope.seq} isn't a stored memory")
    return {
        "id": str(entry.id),
        "content": body.text,
        "contentHashHex": body.sha256.hex(),
        "state": entry.state.value,
        "createdAt": _iso(body.created_at),
        "storedAt": _iso(entry.stored_at),
        "lastAccessed": _iso(entry.last_accessed),
        "accessCount": entry.access_count,
        "namespace": body.namespace,
        "session": body.session,
        "position": body.position,
        "modality": body.modality.value,
        "importance": body.importance,
        "tags": list(body.tags),
        "rationale": body.rationale,
        "metadata": body.metadata,
        "links": [str(link.target) for link in edges.outgoing],
        "linkedFrom": [str(link.source) for link in edges.incoming],
        "purposeVector": list(body.purpose),
        "thetaToNorthStar": _rounded(sum(body.purpose) / len(body.purpose)),
        "johari": {
            space.key: {"quadrant": row.quadrant.value, "confidence": _rounded(row.confidence)}
            for space, row in zip(SPACES, body.johari, strict=True)
        },
        "johariDominant": body.johari[0].quadrant.value,
        "utl": {
            "learningScore": _rounded(body.learning.learning_score),
            "entropy": _rounded(body.learning.entropy),
            "coherence": _rounded(body.learning.coherence),
            "surprise": _rounded(body.learning.surprise),
        },
        "embeddings": {
            space.key: {"kind": space.kind.value, **_shape(stored.fingerprint[space.key])} for space in SPACES
        },
        "passages": len(body.passages),
    }


def status(state: Status, hub: Hub) -> dict[str, Any]:
    """Return what the store holds. Latencies are those of this process, or of the last that measured such work."""
    latencies = metrics.load(hub.latency_file) | hub.latencies.summary()
    declared = state.declared
    return {
        "folder": str(hub.folder),
        "memories": {"live": state.live, "forgotten": state.forgotten, "erased": state.erased},
        "namespaces": state.namespaces,
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
        case other:
            raise ValueError(f"{type(other).__name__} doesn't touch a memory")
