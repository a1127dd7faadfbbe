"""Secrets in memories are named when they are stored, left out if asked, found later; private passages never arrive."""

from typing import Any

import pytest

from actors.api.context import Context
from actors.api.operations.lifecycle.memories import (
    inject_context,
    memory_delete,
    memory_inject,
    memory_inject_batch,
    store_memory,
)
from actors.api.operations.lifecycle.retrieval import memory_retrieve
from actors.api.operations.lifecycle.scan import StoreScan, store_scan
from actors.api.params.memories import (
    InjectContext,
    MemoryDelete,
    MemoryInject,
    MemoryInjectBatch,
    MemoryRetrieve,
    StoreMemory,
)
from actors.api.params.parsing import parse
from actors.runtime.faults import InvalidParamsFault
from events.vocabulary import MemoryStored
from events.vocabulary.codec import decompress
from tests.actors.conftest import search, store

pytestmark = pytest.mark.anyio

TOKEN = "glpat-" + "x8Kq2Lm9Vt4Rw7Bz3NcP"
TEXT = f"The runner logs in with {TOKEN} until May."


async def content_of(context: Context, memory: str) -> dict[str, Any]:
    return await memory_retrieve(context, parse({"id": memory}, MemoryRetrieve))


async def test_a_deliberate_store_keeps_a_secret_and_names_its_span(context: Context) -> None:
    answer = await store_memory(context, parse({"content": TEXT, "metadata": {"note": TOKEN}}, StoreMemory))
    start = TEXT.index(TOKEN)
    span = {"kind": "gitlab-token", "start": start, "end": start + len(TOKEN)}
    assert answer["secrets"][0] == {"field": "content", **span}
    assert answer["secrets"][1]["field"] == "metadata.note"
    assert "redact: true" in answer["warning"]
    assert (await content_of(context, answer["fingerprintId"]))["content"] == TEXT
    assert "secrets" not in await store_memory(context, parse({"content": "The runner rests."}, StoreMemory))


async def test_a_password_in_metadata_is_told_by_its_key(context: Context) -> None:
    given = {"content": "My bank.", "metadata": {"login": {"password": "Tr0ub4dor&3xyz!"}, "note": "Tr0ub4dor&3xyz!"}}
    answer = await store_memory(context, parse(given, StoreMemory))
    assert [(one["field"], one["start"], one["end"]) for one in answer["secrets"]] == [
        ("metadata.login.password", 0, 15)
    ]
    (found,) = (await store_scan(context, parse({"redact": True}, StoreScan)))["found"]
    told = await content_of(context, found["successor"])
    assert told["metadata"] == {"login": {"password": "[redacted password]"}, "note": "Tr0ub4dor&3xyz!"}
    assert (await store_scan(context, parse({}, StoreScan)))["found"] == []


async def test_a_key_of_metadata_is_screened_as_a_text_is(context: Context) -> None:
    metadata = {TOKEN: "runner", f"{TOKEN} ": "spare", "of": {f"by {TOKEN}": 1}}
    given = {"content": "The first row of a table without a header.", "metadata": metadata}
    answer = await store_memory(context, parse(given, StoreMemory))
    assert [(one["field"], one["start"]) for one in answer["secrets"]] == [
        ("metadata", 0),
        ("metadata", 0),
        ("metadata.of", 3),
    ]
    (found,) = (await store_scan(context, parse({"redact": True}, StoreScan)))["found"]
    kept = (await content_of(context, found["successor"]))["metadata"]
    assert TOKEN not in str(kept)
    assert sorted(map(str, kept.values())) == ["runner", "spare", "{'by [redacted gitlab-token]': 1}"]


async def test_where_a_secret_is_found_is_told_without_another_one(context: Context) -> None:
    given = {"content": "Another table.", "metadata": {TOKEN: {"password": "Tr4ctor!Blue9"}}}
    told = (await store_memory(context, parse(given, StoreMemory)))["secrets"]
    assert [one["field"] for one in told] == ["metadata", "metadata.[redacted gitlab-token].password"]


async def test_a_number_in_metadata_is_screened_as_a_text_is(context: Context) -> None:
    given = {"content": "My bank.", "metadata": {"cards": [4242424242424242], "pin": 4711, "year": 2026, "open": True}}
    answer = await store_memory(context, parse(given, StoreMemory))
    assert [(one["field"], one["kind"], one["start"], one["end"]) for one in answer["secrets"]] == [
        ("metadata.cards[0]", "card-number", 0, 16),
        ("metadata.pin", "pin", 0, 4),
    ]
    (found,) = (await store_scan(context, parse({"redact": True}, StoreScan)))["found"]
    told = await content_of(context, found["successor"])
    redacted = {"cards": ["[redacted card-number]"], "pin": "[redacted pin]"}
    assert told["metadata"] == {"year": 2026, "open": True} | redacted


async def test_every_way_of_storing_warns_and_redacts(context: Context) -> None:
    batch = {"items": [{"content": TEXT}, {"content": TEXT, "redact": True}, "Harmless."]}
    answers = [
        await inject_context(context, parse({"content": TEXT, "rationale": "why", "redact": True}, InjectContext)),
        await memory_inject(context, parse({"content": TEXT, "redact": True}, MemoryInject)),
        *(await memory_inject_batch(context, parse(batch, MemoryInjectBatch)))["results"],
    ]
    assert [("redacted" in answer, "secrets" in answer) for answer in answers] == [
        (True, False),
        (True, False),
        (False, True),
        (True, False),
        (False, False),
    ]
    stored = [decompress(one.event.content) for one in context.hub.log.read() if isinstance(one.event, MemoryStored)]
    assert sum(TOKEN in text for text in stored) == 1
    assert stored[0] == "The runner logs in with [redacted gitlab-token] until May."


async def test_what_is_private_is_never_stored(context: Context) -> None:
    memory = await store(
        context, "Dinner <private>with the surgeon</private> at eight.", rationale="<private>x</private>y"
    )
    told = await content_of(context, memory)
    assert (told["content"], told["rationale"]) == ("Dinner  at eight.", "y")
    with pytest.raises(InvalidParamsFault, match="private as a whole"):
        await store(context, "<private>nothing else</private>")
    assert sum(isinstance(one.event, MemoryStored) for one in context.hub.log.read()) == 1


async def test_a_scan_finds_secrets_and_replaces_their_memories_by_redacted_ones(context: Context) -> None:
    target = await store(context, "The runner lives in the cellar.")
    memory = await store(
        context, TEXT, link_to=[target], session="ci", tags=["infra"], created_at="2026-01-02T03:04:05Z"
    )
    hidden = await store(context, f"{TEXT} Twice.")
    await memory_delete(context, parse({"id": hidden, "reason": "old"}, MemoryDelete))
    found = await store_scan(context, parse({}, StoreScan))
    assert found["scanned"] == 3
    assert [one["id"] for one in found["found"]] == [memory, hidden]
    assert "successor" not in found["found"][0]

    replaced = await store_scan(context, parse({"redact": True}, StoreScan))
    successor, forgotten = (one["successor"] for one in replaced["found"])
    told = await content_of(context, successor)
    assert told["content"] == "The runner logs in with [redacted gitlab-token] until May."
    assert (told["session"], told["tags"], told["createdAt"][:10]) == ("ci", ["infra"], "2026-01-02")
    assert ("link_to", target) in [(edge["relation"], edge["id"]) for edge in told["edges"]]
    assert (await content_of(context, forgotten))["state"] == "forgotten"
    assert (await store_scan(context, parse({}, StoreScan)))["found"] == []
    assert TOKEN not in str(await search(context, "Which token does the runner log in with?"))
    readable = [one.event for one in context.hub.log.read() if isinstance(one.event, MemoryStored)]
    assert not any(TOKEN in decompress(event.content) for event in readable)
