"""Answers of operations that store, delete, import or export memories."""

from collections.abc import Sequence
from uuid import UUID

from actors.api.params.embeddings import shape
from actors.api.responses.common import LABEL, body_of, duplicate_of, iso, rounded, start_of
from actors.runtime.faults import Fault
from actors.runtime.types import JsonObject
from events.spaces import SPACES
from events.vocabulary import MemoryStored, MemorySuperseded
from events.vocabulary.memories import STATED
from events.vocabulary.values import Learning
from projections.memories.catalog import Body, Entry


def stored(memory: UUID, event: MemoryStored, milliseconds: float, twin: UUID | None) -> JsonObject:
    """Return the answer of `store_memory`; `milliseconds` is the duration of embedding."""
    return {
        "fingerprintId": str(memory),
        "embedderCount": len(event.fingerprint.embeddings),
        "embeddingLatencyMs": round(milliseconds),
        "createdAt": iso(event.created_at),
    } | duplicate_of(twin)


def superseded(found: Sequence[MemorySuperseded], entries: Sequence[Entry], text: str) -> JsonObject:
    """Return what a new memory superseded: as the client stated, or as their texts suggest, with the evidence.

    Args:
        found: The supersessions.
        entries: The catalog entry of each superseded memory.
        text: Content of the new memory.
    """
    answer: JsonObject = {}
    for one, entry in zip(found, entries, strict=True):
        if one.rule == STATED:
            answer.setdefault("supersedes", []).append(str(one.memory))
            continue
        evidence: JsonObject = {"id": str(one.memory), "content": start_of(entry, LABEL), "changed": one.rule}
        if one.was and entry.body is not None:
            evidence["was"] = entry.body.text[slice(*one.was)]
        if one.now:
            evidence["now"] = text[slice(*one.now)]
        answer.setdefault("may_supersede", []).append(evidence)
    return answer


def injected(memory: UUID, event: MemoryStored, twin: UUID | None) -> JsonObject:
    """Return the answer of `memory_inject`: the memory space by space."""
    return {
        "memory_id": str(memory),
        "embedders_generated": len(event.fingerprint.embeddings),
        "created_at": iso(event.created_at),
        "teleological_summary": {
            space.key: {
                **shape(event.fingerprint[space.key]),
                "quadrant": row.quadrant.value,
                "entropy": rounded(event.learning.delta_s[index]),
                "coherence": rounded(event.learning.delta_c[index]),
                "alignment": rounded(event.purpose[index]),
            }
            for index, (space, row) in enumerate(zip(SPACES, event.johari, strict=True))
        },
    } | duplicate_of(twin)


def item(index: int, memory: UUID | None = None, *, twin: UUID | None = None, fault: Fault | None = None) -> JsonObject:
    """Return the result of one item of a batch: its id or its error."""
    if fault is not None:
        error = {"code": fault.code, "message": fault.message, "data": fault.data}
        return {"index": index, "success": False, "error": error}
    answer = {"index": index, "success": True, "memory_id": str(memory), "fingerprintId": str(memory)}
    return answer | duplicate_of(twin)


def deleted(memory: UUID, removed: Sequence[UUID], *, soft: bool) -> JsonObject:
    """Return the answer of `memory_delete`; `removed` includes memories that were merged into it."""
    others = [str(other) for other in removed if other != memory]
    answer = {"fingerprintId": str(memory), "deleted": True, "deleteType": "soft" if soft else "hard"}
    return answer | ({"deletedWith": others} if others else {})


def learning(values: Learning) -> dict[str, float]:
    """Return the learning score of a memory and its parts."""
    return {
        "learningScore": values.learning_score,
        "entropy": values.entropy,
        "coherence": values.coherence,
        "surprise": values.surprise,
    }


def learning_inputs(values: Learning) -> dict[str, float | None]:
    """Return the other inputs of the learning score, and the predicted usefulness."""
    return {"emotionalWeight": values.emotional_weight, "phase": values.phase, "usefulness": values.usefulness}


def stored_params(body: Body) -> JsonObject:
    """Return the parameters that a memory was stored with."""
    names = ("namespace", "session", "importance", "rationale", "memory_type", "metadata")
    return {name: getattr(body, name) for name in names} | {"modality": body.modality.value, "tags": list(body.tags)}


def exported(entry: Entry) -> JsonObject:
    """Return a memory as `memory/import` takes it, with its id, without empty fields."""
    body = body_of(entry)
    answer = {"id": str(entry.id), "content": body.text, "created_at": iso(body.created_at), **stored_params(body)}
    return {name: value for name, value in answer.items() if value not in (None, [], {})}
