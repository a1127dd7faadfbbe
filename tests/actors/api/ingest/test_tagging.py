"""Edited tags: found by, said in the audit, kept through restart and export, and gone with an erased memory."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest

from actors.api.context import Context
from actors.api.tools.agent_tools import BY_METHOD
from actors.api.tools.dispatch import call
from actors.runtime.faults import InvalidParamsFault
from events.vocabulary import MemoryTagged, Shredded
from tests.actors.conftest import store
from tests.events.memory_log import MemoryLog

pytestmark = pytest.mark.anyio


async def do(context: Context, method: str, **arguments: Any) -> dict[str, Any]:
    return await call(context, BY_METHOD[method], arguments)


async def tagged(context: Context, *tags: str) -> list[str]:
    found = await do(context, "search/graph", query="ferry", tags=list(tags))
    return [one["fingerprintId"] for one in found["results"]]


async def test_a_search_filters_by_edited_tags_also_in_the_past(context: Context) -> None:
    ferry = await store(context, "The ferry to Amrum leaves at seven.", tags=["amrum", "old"])
    other = await store(context, "The ferry to Sylt leaves at nine.", tags=["sylt"])
    before = context.hub.log.head.seq
    edited = await do(context, "memory/tag", id=ferry, tags=["amrum", "travel", "travel"])
    assert (edited["before"], edited["tags"]) == (["amrum", "old"], ["amrum", "travel"])
    assert await tagged(context, "travel") == [ferry]
    assert await tagged(context, "old") == []
    assert await tagged(context, "sylt") == [other]
    past = await do(context, "search/graph", query="ferry", tags=["old"], as_of=before)
    assert [one["fingerprintId"] for one in past["results"]] == [ferry]
    read = await do(context, "memory/retrieve", id=ferry)
    assert (read["tags"], read["tagsBefore"]) == (["amrum", "travel"], ["amrum", "old"])
    assert (await do(context, "store/replay"))["matches"]
    with pytest.raises(InvalidParamsFault, match="tags"):
        await do(context, "memory/tag", id=ferry, tags=["x" * 1_000])


async def test_tags_that_a_copy_brought_in_are_edited_with_those_of_its_survivor(context: Context) -> None:
    first = await store(context, "The boathouse key hangs behind the red canoe.", tags=["key"])
    await store(context, "The boathouse key hangs behind the red canoe.", tags=["boat"])
    await do(context, "memory/consolidate", mode="light")
    read = await do(context, "memory/retrieve", id=first)
    assert read["lineage"]
    assert set(read["tags"]) == {"key", "boat"}
    await do(context, "memory/tag", id=read["id"], tags=["key"])
    assert (await do(context, "memory/retrieve", id=first))["tags"] == ["key"]
    assert (await do(context, "search/graph", query="boathouse", tags=["boat"]))["results"] == []


async def test_edited_tags_are_erased_with_their_memory_and_a_restart_keeps_those_of_others(
    start: Callable[..., Any],
) -> None:
    log = MemoryLog()
    with start(log) as hub:
        context = Context(hub)
        gone = await store(context, "The ferry to Amrum leaves at seven.")
        kept = await store(context, "The ferry to Sylt leaves at nine.")
        for one in (gone, kept):
            await do(context, "memory/tag", id=one, tags=["secretplan"])
        await do(context, "memory/delete", id=gone, soft=False)
        assert await tagged(context, "secretplan") == [kept]
        assert (await do(context, "store/replay"))["matches"]
        trail = await do(context, "audit/trail")
        kinds = [type(one.event) for one in log.get([event["seq"] for event in trail["events"]])]
        assert kinds.count(MemoryTagged) == 1
        assert any(isinstance(one.event, Shredded) for one in log.get(range(1, log.head.seq + 1)))
        assert "secretplan" not in str(await do(context, "audit/trail", memory_id=gone))


async def test_a_repeated_request_edits_once(context: Context) -> None:
    ferry = await store(context, "The ferry to Amrum leaves at seven.")
    key = uuid4()
    asked = context.for_request(context.progress, key)
    first = await call(asked, BY_METHOD["memory/tag"], {"id": ferry, "tags": ["travel"]})
    seq = context.hub.log.head.seq
    assert await call(asked, BY_METHOD["memory/tag"], {"id": ferry, "tags": ["travel"]}) == first
    assert context.hub.log.head.seq == seq
