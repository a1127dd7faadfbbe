"""Answers about single memories: what was kept, and all that is known of one."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, assert_never

from actors.api.params.embeddings import plain
from events.fingerprint import Bits, Dense, Directed, Embedding, Sparse, Tokens
from events.spaces import SPACES
from events.vocabulary import MemoryRecalled, MemoryStored, PurposesRealigned
from events.vocabulary.values import Quadrant
from projections.mind.johari import insights

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from actors.comparator.messages import Edges
    from actors.runtime.faults import Fault
    from events.storage.log import Envelope
    from events.vocabulary.values import Learning
    from projections.graph.relations import Link
    from projections.memories.catalog import Body, Entry

EXCERPT = 2_000
"""Characters of a memory that a search result shows at most; a window of the model has some 1,400."""

MOST_SNAPSHOTS = 100
"""Of a memory's evolution, the latest (facts 2.1)."""

MISALIGNED = -0.15
"""Change of alignment below which a memory is told to be misaligned (facts 2.1)."""

DIGITS = 4


class Band(StrEnum):
    """How well a memory serves the North Star (facts 3.1)."""

    OPTIMAL = "Optimal"
    ACCEPTABLE = "Acceptable"
    WARNING = "Warning"
    CRITICAL = "Critical"


def band(alignment: float) -> Band:
    """Return the band of an alignment."""
    if alignment >= 0.75:
        return Band.OPTIMAL
    if alignment >= 0.70:
        return Band.ACCEPTABLE
    return Band.WARNING if alignment >= 0.55 else Band.CRITICAL


def rounded(value: float) -> float:
    """Return a figure as an agent needs it."""
    return round(value, DIGITS)


def iso(moment: datetime | None) -> str | None:
    """Return a time as ISO 8601."""
    return moment.isoformat() if moment else None


def body_of(entry: Entry) -> Body:
    """Return what was stored; the caller knows that the memory isn't erased."""
    if entry.body is None:
        raise ValueError(f"{entry.id} has no body")
    return entry.body


def shown(entry: Entry, start: int = 0, end: int | None = None) -> dict[str, Any]:
    """Return the text of a memory, or the part of it that is to be shown, and where it stands."""
    body = body_of(entry)
    text = body.text
    end = len(text) if end is None else end
    answer: dict[str, Any] = {"content": text[start : min(end, start + EXCERPT)]}
    if len(answer["content"]) < len(text):
        answer["excerpt"] = {"start": start, "end": start + len(answer["content"]), "of": len(text)}
    answer |= {"createdAt": iso(body.created_at), "namespace": body.namespace}
    if body.session is not None:
        answer |= {"session": body.session, "position": body.position}
    if body.tags:
        answer["tags"] = list(body.tags)
    return answer


def alignment(entry: Entry) -> float | None:
    """Return how well a memory serves the North Star, None while there is none."""
    return rounded(_theta(entry.purpose)) if any(entry.purpose) else None


def kept(memory: UUID, stored: MemoryStored, milliseconds: float, twin: UUID | None) -> dict[str, Any]:
    """Return what a store answers (seeds 001 and 004)."""
    answer = {
        "fingerprintId": str(memory),
        "embedderCount": len(stored.fingerprint.embeddings),
        "embeddingLatencyMs": round(milliseconds),
        "createdAt": iso(stored.created_at),
    }
    return answer | ({"duplicate_of": str(twin)} if twin else {})


def deleted(wanted: UUID, gone: Sequence[UUID], *, soft: bool) -> dict[str, Any]:
    """Return what `memory_delete` answers: what was asked for, and which memories went with it."""
    others = [str(memory) for memory in gone if memory != wanted]
    answer = {"fingerprintId": str(wanted), "deleted": True, "deleteType": "soft" if soft else "hard"}
    return answer | ({"deletedWith": others} if others else {})


def learning(taught: Learning) -> dict[str, float]:
    """Return what a memory taught when it was stored (seed 004)."""
    return {
        "learningScore": taught.learning_score,
        "entropy": taught.entropy,
        "coherence": taught.coherence,
        "surprise": taught.surprise,
    }


def circumstances(taught: Learning) -> dict[str, float | None]:
    """Return what the learning score was computed from besides entropy and coherence, and what was foretold."""
    return {"emotionalWeight": taught.emotional_weight, "phase": taught.phase, "usefulness": taught.usefulness}


def injected(memory: UUID, stored: MemoryStored, twin: UUID | None) -> dict[str, Any]:
    """Return what `memory/inject` answers: the memory space by space (seed 000)."""
    answer = {
        "memory_id": str(memory),
        "embedders_generated": len(stored.fingerprint.embeddings),
        "created_at": iso(stored.created_at),
        "teleological_summary": {
            space.key: {
                **shape(stored.fingerprint[space.key]),
                "quadrant": row.quadrant.value,
                "entropy": rounded(stored.learning.delta_s[index]),
                "coherence": rounded(stored.learning.delta_c[index]),
                "alignment": rounded(stored.purpose[index]),
            }
            for index, (space, row) in enumerate(zip(SPACES, stored.johari, strict=True))
        },
    }
    return answer | ({"duplicate_of": str(twin)} if twin else {})


def item(
    index: int, memory: UUID | None = None, *, twin: UUID | None = None, fault: Fault | None = None
) -> dict[str, Any]:
    """Return the report on one item of a batch: its id or its error."""
    if fault is not None:
        error = {"code": fault.code, "message": fault.message, "data": fault.data}
        return {"index": index, "success": False, "error": error}
    answer = {"index": index, "success": True, "memory_id": str(memory), "fingerprintId": str(memory)}
    return answer | ({"duplicate_of": str(twin)} if twin else {})


def exported(entry: Entry) -> dict[str, Any]:
    """Return a memory as `memory/import` takes it, with its id; what it doesn't have is left out."""
    body = body_of(entry)
    answer: dict[str, Any] = {
        "id": str(entry.id),
        "content": body.text,
        "created_at": iso(body.created_at),
        "namespace": body.namespace,
        "session": body.session,
        "modality": body.modality.value,
        "importance": body.importance,
        "tags": list(body.tags),
        "rationale": body.rationale,
        "memory_type": body.memory_type,
        "metadata": body.metadata,
    }
    return {name: value for name, value in answer.items() if value not in (None, [], {})}


def memory(entry: Entry, edges: Edges, life: Sequence[Envelope], *, include_embeddings: bool) -> dict[str, Any]:
    """Return all that is known of one memory: what was stored, what became of it, and the shape of its embeddings.

    `life` is every event that touched it, of which the first stored it.
    """
    body, stored = body_of(entry), life[0].event
    if not isinstance(stored, MemoryStored):
        raise TypeError(f"event {life[0].seq} isn't a stored memory")
    answer = {
        "id": str(entry.id),
        "content": body.text,
        "contentHashHex": body.sha256.hex(),
        "state": entry.state.value,
        "createdAt": iso(body.created_at),
        "storedAt": iso(entry.stored_at),
        "lastUpdated": iso(life[-1].at),
        "lastAccessed": iso(entry.last_accessed),
        "accessCount": entry.access_count,
        "namespace": body.namespace,
        "session": body.session,
        "position": body.position,
        "modality": body.modality.value,
        "importance": body.importance,
        "tags": list(body.tags),
        "rationale": body.rationale,
        "memory_type": body.memory_type,
        "metadata": body.metadata,
        "reason": entry.reason,
        "lineage": [str(absorbed) for absorbed in entry.lineage],
        "links": [str(link.target) for link in edges.outgoing],
        "linkedFrom": [str(link.source) for link in edges.incoming],
        "edges": [
            *(_edge(link, link.target, forward=True) for link in edges.outgoing),
            *(_edge(link, link.source, forward=False) for link in edges.incoming),
        ],
        "purposeVector": list(entry.purpose),
        "thetaToNorthStar": rounded(_theta(entry.purpose)),
        "alignmentBand": band(_theta(entry.purpose)).value if any(entry.purpose) else None,
        "johari": {
            space.key: {
                "quadrant": row.quadrant.value,
                "confidence": rounded(row.confidence),
                "weights": {quadrant: rounded(weight) for quadrant, weight in zip(Quadrant, row.weights, strict=True)},
            }
            for space, row in zip(SPACES, body.johari, strict=True)
        },
        "johariDominant": [row.quadrant.value for row in body.johari],
        "insights": list(insights(body.johari)),
        "utl": learning(body.learning) | circumstances(body.learning),
        "evolutionSnapshots": _evolution(body, life)[-MOST_SNAPSHOTS:],
        "embeddings": {
            space.key: {"kind": space.kind.value, **shape(stored.fingerprint[space.key])} for space in SPACES
        },
        "passages": len(body.passages),
    }
    if include_embeddings:
        answer["vectors"] = {space.key: plain(stored.fingerprint[space.key]) for space in SPACES}
    return answer


def _edge(link: Link, other: UUID, *, forward: bool) -> dict[str, Any]:
    """Return an edge as one of its ends sees it."""
    return {
        "id": str(other),
        "relation": link.relation,
        "forward": forward,
        "weight": rounded(link.weight),
        "confidence": rounded(link.confidence),
        "traversals": link.traversals,
    }


def _theta(purpose: tuple[float, ...]) -> float:
    """Return the alignment with the North Star: the mean of a purpose vector (facts 3.1)."""
    return sum(purpose) / len(purpose)


def _evolution(body: Body, life: Sequence[Envelope]) -> list[dict[str, Any]]:
    """Return what a memory stood for whenever something happened to it, and what that was (facts 2.1)."""
    snapshots: list[dict[str, Any]] = []
    purpose: tuple[float, ...] = ()
    goal: UUID | None = None
    for envelope in life:
        match envelope.event:
            case MemoryStored() as stored:
                purpose, goal = stored.purpose, stored.north_star
                trigger: dict[str, Any] = {"trigger": "Created"}
            case MemoryRecalled():
                trigger = {"trigger": "Accessed"}
            case PurposesRealigned() as realigned:
                before, purpose = purpose, realigned.of(life[0].id)
                trigger = _realigned(goal, realigned.goal, _theta(purpose) - _theta(before))
                goal = realigned.goal
            case _:
                continue
        quadrant = body.johari[0].quadrant.value
        snapshots.append({"timestamp": iso(envelope.at), **trigger, "purpose": list(purpose), "quadrant": quadrant})
    return snapshots


def _realigned(before: UUID | None, goal: UUID, change: float) -> dict[str, Any]:
    """Return what a new measurement means: a loss of more than .15 is an alarm (facts 2.1)."""
    if before is not None and change < MISALIGNED:
        return {"trigger": "MisalignmentDetected", "deltaA": rounded(change)}
    if before == goal:
        return {"trigger": "Recalibration"}
    return {"trigger": "GoalChanged", "old": str(before) if before else None, "new": str(goal)}


def shape(embedding: Embedding) -> dict[str, Any]:
    """Return how large an embedding is."""
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
        case _:
            assert_never(embedding)
