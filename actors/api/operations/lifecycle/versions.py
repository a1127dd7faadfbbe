"""Which memory holds in the place of which: what the answer to a store tells of it, and the client's own word."""

from actors.api.answers import LABEL, rounded, start_of
from actors.api.context import Context, append, check_live, describe, find_request
from actors.api.idempotency import key_conflict
from actors.api.operations.ingest.pending_memory import StoredMemory
from actors.api.params.memories import MemorySupersede
from actors.api.params.parsing import invalid
from actors.runtime.ask import ask
from actors.runtime.types import JsonObject
from actors.store.messages import FindCopies
from actors.text.plain_excerpts import plain_excerpt
from events.vocabulary import MemorySuperseded
from events.vocabulary.codec import decompress
from events.vocabulary.memories import STATED

MAX_SIMILAR = 3
"""Similar memories that the answer to a store shows."""


async def versions_of(context: Context, stored: StoredMemory) -> JsonObject:
    """Return what a stored memory superseded, and similar memories that it may supersede by the caller's judgement."""
    similar = [
        {"id": str(one.memory), "content": plain_excerpt(one.text, LABEL), "similarity": rounded(one.similarity)}
        for one in stored.similar[:MAX_SIMILAR]
    ]
    return await supersessions_of(context, stored) | ({"similar": similar} if similar else {})


async def supersessions_of(context: Context, stored: StoredMemory) -> JsonObject:
    """Return what a stored memory superseded, by the caller's word or by its text, with the evidence."""
    answer: JsonObject = {}
    if not stored.superseded:
        return answer
    entries = await describe(context, *(one.memory for one in stored.superseded))
    text = decompress(stored.event.content)
    for one, entry in zip(stored.superseded, entries, strict=True):
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


async def memory_supersede(context: Context, params: MemorySupersede) -> JsonObject:
    """Let a memory hold in the place of another one, which is out of date; `memory_restore` of that one undoes it.

    Copies of what is out of date are out of date too.
    """
    old, new = await describe(context, params.id, params.by)
    event = MemorySuperseded(memory=old.id, by=new.id, rule=STATED)
    answer: JsonObject = {"fingerprintId": str(params.id), "superseded_by": str(params.by)}
    if earlier := await find_request(context):
        if earlier.events[0].event != event:
            raise key_conflict()
        return answer
    for one in (old, new):
        check_live(one)
    if old.id == new.id:
        raise invalid("by", "expected another memory than the one that is out of date", id=str(params.by))
    if new.superseded_by is not None:
        raise invalid("by", f"memory {params.by} is superseded itself, by {new.superseded_by}", id=str(params.by))
    if old.superseded_by != new.id:
        copies = await ask(context.hub.store, FindCopies(memory=old.id))
        outdated = dict.fromkeys((old.id, *(one.id for one in copies if one.id != new.id)))
        await append(context, *(MemorySuperseded(memory=one, by=new.id, rule=STATED) for one in outdated))
    return answer
