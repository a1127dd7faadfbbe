"""The answer to a store shows earlier memories on the same matter, and the client says which is out of date."""

from uuid import uuid4

import pytest

from actors.runtime.faults import InvalidParamsFault, NotFoundFault
from tests.actors.api.conftest import Way
from tests.actors.api.sleeper import hits
from tests.actors.api.stream import Mind
from tests.actors.api.telling import DOG, FOX, kept, refused

pytestmark = pytest.mark.anyio

PANDA = "The rental car for Sardinia is a Fiat Panda with full insurance, picked up at Olbia airport."
POLO = "They gave us a VW Polo for the days in Sardinia."
CORSA = "For Sardinia the hirer has reserved an Opel Corsa for us."
QUESTION = "Which rental car do we have in Sardinia?"


async def test_a_change_in_words_that_no_rule_knows_is_shown_and_can_be_stated(way: Way) -> None:
    await way("memory_inject_batch", items=[FOX, DOG])
    panda = (await way("store_memory", content=PANDA))["fingerprintId"]
    answer = await way("inject_context", content=POLO, rationale="the hirer rang")
    polo = answer["fingerprintId"]
    assert "may_supersede" not in answer
    assert [(one["id"], one["content"]) for one in answer["similar"]] == [(panda, PANDA)]
    assert (await way("memory_supersede", id=panda, by=polo))["superseded_by"] == polo
    found = (await way("search_graph", query=QUESTION))["results"]
    assert [one["fingerprintId"] for one in found][:2] == [polo, panda]
    assert found[1]["superseded_by"] == polo
    await way("memory_restore", id=panda)
    assert (await way("memory_retrieve", id=panda))["superseded_by"] is None


async def test_only_what_still_holds_and_says_something_else_is_shown(mind: Mind) -> None:
    panda = await kept(mind, PANDA)
    assert "similar" not in await mind("store_memory", content=FOX)
    copy = await mind("store_memory", content=PANDA)
    assert (copy["duplicate_of"], copy.get("similar")) == (panda, None)
    for memory in (panda, copy["fingerprintId"]):
        await mind("memory_supersede", id=memory, by=await kept(mind, POLO))
    shown = await mind("memory_inject", content="We paid the deposit for the rental car in Sardinia.")
    assert {one["content"] for one in shown["similar"]} == {POLO}


async def test_copies_of_one_memory_are_shown_once(mind: Mind) -> None:
    for _ in range(2):
        await kept(mind, PANDA)
    shown = (await mind("store_memory", content=POLO))["similar"]
    assert [one["content"] for one in shown] == [PANDA]


async def test_copies_are_out_of_date_together_and_hold_together_again(mind: Mind) -> None:
    panda, copy, polo = await kept(mind, PANDA), await kept(mind, PANDA), await kept(mind, POLO)
    await mind("memory_supersede", id=copy, by=polo)
    shown = [(await mind("memory_retrieve", id=one))["superseded_by"] for one in (panda, copy)]
    assert shown == [polo, polo]
    assert (await mind("memory_restore", id=panda))["restoredWith"] == [copy]


async def test_an_earlier_memory_may_hold_in_the_place_of_a_later_one(mind: Mind) -> None:
    polo, panda = await kept(mind, POLO), await kept(mind, PANDA)
    await mind("memory_supersede", id=panda, by=polo)
    assert (await hits(mind, QUESTION))[:2] == [polo, panda]


async def test_a_memory_holds_in_the_place_of_another_live_one_that_nothing_supersedes(mind: Mind) -> None:
    panda, polo, gone = await kept(mind, PANDA), await kept(mind, POLO), await kept(mind, FOX)
    await mind("memory_delete", id=gone)
    await mind("memory_supersede", id=panda, by=polo)
    before = mind.hub.log.head
    assert (await mind("memory_supersede", id=panda, by=polo))["superseded_by"] == polo, "it does already"
    for by in (panda, polo):
        fault = await refused(mind, "memory_supersede", id=polo, by=by)
        assert isinstance(fault, InvalidParamsFault)
        assert fault.data["parameter"] == "by"
    for arguments in ({"id": panda, "by": gone}, {"id": panda, "by": str(uuid4())}, {"id": gone, "by": polo}):
        assert isinstance(await refused(mind, "memory_supersede", **arguments), NotFoundFault)
    assert mind.hub.log.head == before


async def test_of_two_memories_that_supersede_one_the_one_that_was_named_last_holds(mind: Mind) -> None:
    panda, polo, corsa = await kept(mind, PANDA), await kept(mind, POLO), await kept(mind, CORSA)
    for by in (polo, corsa, polo):
        assert (await mind("memory_supersede", id=panda, by=by))["superseded_by"] == by
        assert (await mind("memory_retrieve", id=panda))["superseded_by"] == by
