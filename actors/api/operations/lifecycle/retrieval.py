"""The operation that returns everything stored of one memory: content, state, embeddings, links, purpose, history."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

import msgspec

from actors.api.answers import body_of, iso, learning, learning_inputs, mean_alignment, pick, rounded, stored_params
from actors.api.context import Context, describe, erased_fault
from actors.api.operations.ingest import images
from actors.api.operations.ingest.pending_memory import stored_event
from actors.api.params.embeddings import encode, shape, with_graph
from actors.api.params.memories import MemoryRetrieve
from actors.comparator.messages import Edges, ReadLinks
from actors.runtime.ask import ask
from actors.runtime.types import JsonObject
from actors.store.messages import ReadHistory
from events.spaces import SPACES
from events.storage.log import Envelope
from events.vocabulary import MemoryRecalled, MemoryStored, MemoryTagged, PurposesRealigned
from events.vocabulary.values import Quadrant
from projections.graph.relations import Link
from projections.memories.catalog import Body, Entry
from projections.mind.johari import insights
from projections.projection import MemoryState, is_shredded_memory

MAX_EVOLUTION = 100
"""Latest snapshots of a memory's evolution."""
BANDS = {"Optimal": 0.75, "Acceptable": 0.70, "Warning": 0.55}
"""Least alignment with the North Star of each band; below, it is Critical."""
MISALIGNED = -0.15
"""Change of alignment below which a realignment counts as a misalignment."""


async def memory_retrieve(context: Context, params: MemoryRetrieve) -> JsonObject:
    """Return everything that is stored about one memory."""
    (entry,) = await describe(context, params.id)
    if entry.state is MemoryState.ERASED:
        raise erased_fault(entry)
    edges = await _visible(context, await ask(context.hub.comparator, ReadLinks(memory=entry.id)))
    history = await ask(context.hub.store, ReadHistory(memory=entry.id))
    if is_shredded_memory(history[0].event):  # another client erased it meanwhile
        (entry,) = await describe(context, params.id)
        raise erased_fault(entry)
    answer = _described(entry, edges, history, include_embeddings=params.include_embeddings)
    if params.include_image and "image" in answer:
        answer["image"]["data"] = await images.data_uri(context, entry)
    return answer


async def _visible(context: Context, edges: Edges) -> Edges:
    ends = {*(link.target for link in edges.outgoing), *(link.source for link in edges.incoming)}
    seen = await context.visible_among(ends)
    return msgspec.structs.replace(
        edges,
        outgoing=tuple(link for link in edges.outgoing if link.target in seen),
        incoming=tuple(link for link in edges.incoming if link.source in seen),
    )


def _described(entry: Entry, edges: Edges, history: Sequence[Envelope], *, include_embeddings: bool) -> JsonObject:
    """Return a memory as an answer; `history` starts with the event that stored it."""
    body, stored = body_of(entry), stored_event(history[0])
    embeddings = with_graph(stored.fingerprint, edges.graph)
    theta = mean_alignment(entry.purpose)
    band = next((band for band, least in BANDS.items() if theta >= least), "Critical")
    answer = {
        "id": str(entry.id),
        "content": body.text,
        "contentHashHex": body.sha256.hex(),
        **pick(entry, "state", "reason", "lineage", "superseded_by", "supersedes"),
        "createdAt": iso(body.said_at),
        "storedAt": iso(entry.stored_at),
        "lastUpdated": iso(history[-1].at),
        "lastAccessed": iso(entry.last_accessed),
        "accessCount": entry.access_count,
        **stored_params(body),
        "position": body.position,
        "tagsBefore": _tags_before(entry.id, history),
        "links": [str(link.target) for link in edges.outgoing],
        "linkedFrom": [str(link.source) for link in edges.incoming],
        "edges": [
            *(_edge(link, link.target, forward=True) for link in edges.outgoing),
            *(_edge(link, link.source, forward=False) for link in edges.incoming),
        ],
        "purposeVector": list(entry.purpose),
        "thetaToNorthStar": rounded(theta),
        "alignmentBand": band if any(entry.purpose) else None,
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
        "utl": learning(body.learning) | learning_inputs(body.learning),
        "evolutionSnapshots": _evolution(body, history)[-MAX_EVOLUTION:],
        "embeddings": {space.key: {"kind": space.kind.value, **shape(embeddings[space.key])} for space in SPACES},
        "passages": len(body.passages),
    }
    if body.image is not None:
        size = pick(body.image, "media_type", "width", "height", "size")
        answer["image"] = size | {"sha256": body.image.sha256.hex()}
    if include_embeddings:
        answer["vectors"] = {key: encode(embedding) for key, embedding in embeddings.items()}
    return answer


def _tags_before(memory: UUID, history: Sequence[Envelope]) -> list[str] | None:
    """Return the tags before the last edit; None for a memory whose tags were never edited."""
    edits = [one.event for one in history if isinstance(one.event, MemoryTagged) and one.event.memory == memory]
    return list(edits[-1].was) if edits else None


def _edge(link: Link, other: UUID, *, forward: bool) -> JsonObject:
    return {"id": str(other), "forward": forward, **pick(link, "relation", "weight", "confidence", "traversals")}


def _evolution(body: Body, history: Sequence[Envelope]) -> list[JsonObject]:
    """Return a snapshot of purpose and quadrant at each event that created, accessed or realigned a memory."""
    snapshots: list[JsonObject] = []
    purpose: tuple[float, ...] = ()
    goal: UUID | None = None
    for envelope in history:
        match envelope.event:
            case MemoryStored() as stored:
                purpose, goal = stored.purpose, stored.north_star
                trigger: JsonObject = {"trigger": "Created"}
            case MemoryRecalled():
                trigger = {"trigger": "Accessed"}
            case PurposesRealigned() as realigned:
                before, purpose = purpose, realigned.of(history[0].id)
                trigger = _realignment(goal, realigned.goal, mean_alignment(purpose) - mean_alignment(before))
                goal = realigned.goal
            case _:
                continue
        quadrant = body.johari[0].quadrant.value
        snapshots.append({"timestamp": iso(envelope.at), **trigger, "purpose": list(purpose), "quadrant": quadrant})
    return snapshots


def _realignment(before: UUID | None, goal: UUID, change: float) -> JsonObject:
    if before is not None and change < MISALIGNED:
        return {"trigger": "MisalignmentDetected", "deltaA": rounded(change)}
    if before == goal:
        return {"trigger": "Recalibration"}
    return {"trigger": "GoalChanged", "old": str(before) if before else None, "new": str(goal)}
