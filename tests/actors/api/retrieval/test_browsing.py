"""Lists, the calendar, the map and the goals: what a person sees of many memories at once."""

import base64
from typing import Any
from uuid import UUID

import numpy as np
import pytest

from actors.api.caller import Caller, Scope
from actors.api.context import Context
from actors.api.tools.agent_tools import BY_METHOD
from actors.api.tools.dispatch import call
from actors.runtime.faults import ForbiddenFault, InvalidParamsFault, NotFoundFault
from tests.actors.conftest import search, store

pytestmark = pytest.mark.anyio

BREAD = (
    "Rye bread rises for fourteen hours in the cold cellar.",
    "Sourdough needs to be fed with flour and water twice a day.",
    "The baguettes came out pale because the oven lost its steam.",
)
TAXES = (
    "The tax return for 2025 is due at the end of July.",
    "The accountant asks for all receipts above 250 euros.",
    "Travel to customers is deductible at 30 cents per kilometre.",
)


async def ask(context: Context, method: str, /, **arguments: Any) -> dict[str, Any]:
    return await call(context, BY_METHOD[method], arguments)


def ids_of(found: dict[str, Any]) -> list[str]:
    """Return the ids of the points of a map."""
    data = base64.b64decode(found["ids"])
    return [str(UUID(bytes=data[start : start + 16])) for start in range(0, len(data), 16)]


async def fill(context: Context) -> list[str]:
    return [
        await store(context, text, namespace=namespace, session=session, created_at=f"2026-05-{day:02}T08:00")
        for namespace, session, texts in (("bakery", "week-1", BREAD), ("office", None, TAXES))
        for day, text in enumerate(texts, 1)
    ]


async def test_memories_are_listed_by_time_and_page_by_page(context: Context) -> None:
    ids = await fill(context)
    whole = await ask(context, "memory/list", namespace="bakery")
    assert [one["id"] for one in whole["memories"]] == ids[2::-1]
    second = await ask(context, "memory/list", namespace="bakery", offset=1, limit=1)
    assert (second["total"], [one["id"] for one in second["memories"]]) == (3, [ids[1]])
    session = await ask(context, "memory/list", session="week-1", oldest_first=True)
    assert [one["id"] for one in session["memories"]] == ids[:3]
    for since, until in (
        ("2026-05-02", "2026-05-02"),
        ("2 May 2026",) * 2,
        ("2026-05-02T08:00", "2026-05-02T10:00+02:00"),
    ):
        day = await ask(context, "memory/list", since=since, until=until)
        assert {one["id"] for one in day["memories"]} == {ids[1], ids[4]}, (since, until)
    for named in ("2026-W18", "2026-05", "2026"):
        assert (await ask(context, "memory/list", since=named, until=named))["total"] == len(ids), named
    for earlier in ("2026-W17", "2026-04", "the 1990s"):
        assert (await ask(context, "memory/list", until=earlier))["total"] == 0
    with pytest.raises(InvalidParamsFault, match="Invalid 'since': 2026-05-02 is after 'until', 1 May 2026"):
        await ask(context, "memory/list", since="2026-05-02", until="1 May 2026")


async def test_memories_are_listed_by_salience_if_it_is_asked_for(context: Context) -> None:
    ids = await fill(context)
    vital = await store(context, "The oven must not run overnight.", importance=1.0, created_at="2025-01-05T08:00")
    found = await ask(context, "memory/list", by_salience=True, limit=3)
    assert found["total"] == len(ids) + 1
    assert found["memories"][0]["id"] == vital
    assert (await ask(context, "memory/list", limit=3))["memories"][0]["id"] != vital
    with pytest.raises(InvalidParamsFault, match="either 'oldest_first' or 'by_salience'"):
        await ask(context, "memory/list", by_salience=True, oldest_first=True)


async def test_live_memories_are_listed_and_counted_by_their_tags(context: Context) -> None:
    tagged = [await store(context, text, tags=["baking", f"day-{day}"]) for day, text in enumerate(BREAD)]
    await fill(context)
    found = await ask(context, "memory/list", tags=["baking"], limit=1)
    assert (found["total"], len(found["memories"])) == (3, 1)
    assert [one["id"] for one in (await ask(context, "memory/list", tags=["baking", "day-1"]))["memories"]] == tagged[
        1:2
    ]
    await ask(context, "memory/delete", id=tagged[0], reason="stale")
    assert (await ask(context, "memory/list", tags=["baking"]))["total"] == 2
    assert (await ask(context, "memory/list", tags=["baking"], namespace="bakery"))["total"] == 0
    with pytest.raises(InvalidParamsFault, match="live memories are listed by tags"):
        await ask(context, "memory/list", tags=["baking"], state="forgotten")


async def test_a_forgotten_memory_is_listed_as_forgotten_and_found_by_its_id(context: Context) -> None:
    ids = await fill(context)
    await ask(context, "memory/delete", id=ids[0], reason="stale")
    assert (await ask(context, "memory/list", namespace="bakery"))["total"] == 2
    (one,) = (await ask(context, "memory/list", state="forgotten"))["memories"]
    assert (one["id"], one["reason"]) == (ids[0], "stale")
    (same,) = (await ask(context, "memory/list", ids=[ids[0]]))["memories"]
    assert same["state"] == "forgotten"
    await ask(context, "memory/delete", id=ids[0], soft=False)
    assert (await ask(context, "memory/list", ids=[ids[0]]))["memories"] == []


async def test_the_calendar_counts_days_projects_and_sessions(context: Context) -> None:
    await fill(context)
    found = await ask(context, "store/calendar")
    assert found["days"] == [{"day": f"2026-05-0{day}", "count": 2} for day in (1, 2, 3)]
    assert found["namespaces"] == {"bakery": 3, "office": 3}
    (session,) = found["sessions"]
    assert (session["session"], session["namespace"], session["count"]) == ("week-1", "bakery", 3)
    assert session["first"] < session["last"]


async def test_the_map_puts_what_is_alike_together(context: Context) -> None:
    ids = await fill(context)
    found = await ask(context, "store/map", salience=True)
    data, count = base64.b64decode(found["points"]), len(ids)
    assert (ids_of(found), len(data)) == (ids, 9 * count)
    places = np.frombuffer(data, "<u2", 2 * count).reshape(2, count).T.astype(float)
    namespace = np.frombuffer(data, np.uint8, count, 6 * count)
    assert [found["namespaces"][code] for code in namespace] == ["bakery"] * 3 + ["office"] * 3
    assert np.frombuffer(data, np.uint8, count, 8 * count).min() > 0
    centres = np.stack([places[:3].mean(axis=0), places[3:].mean(axis=0)])
    own = np.linalg.norm(places - np.repeat(centres, 3, axis=0), axis=1).mean()
    assert own < np.linalg.norm(centres[0] - centres[1])
    again = await ask(context, "store/map")
    assert base64.b64decode(again["points"])[: 4 * count] == data[: 4 * count]


async def test_the_map_lists_the_largest_namespaces_first(context: Context) -> None:
    """The page has ten colours."""
    for name, count in (("attic", 1), ("boat", 3), ("cellar", 2)):
        for number in range(count):
            await store(context, f"Shelf {number} of the {name} was cleared.", namespace=name)
    found = await ask(context, "store/map")
    data, count = base64.b64decode(found["points"]), 6
    assert found["namespaces"] == ["boat", "cellar", "attic"]
    codes = np.frombuffer(data, np.uint8, count, 6 * count)
    assert [found["namespaces"][code] for code in codes] == ["attic", *["boat"] * 3, *["cellar"] * 2]


async def test_an_empty_store_has_an_empty_list_calendar_and_map(context: Context) -> None:
    assert (await ask(context, "memory/list"))["memories"] == []
    assert (await ask(context, "store/calendar"))["total"] == 0
    assert (await ask(context, "store/map"))["points"] == ""
    assert (await ask(context, "goal/list"))["drift"]["status"] == "not_configured"


async def test_the_past_is_listed_as_it_was(context: Context) -> None:
    ids = await fill(context)
    seq = context.hub.log.head.seq
    await ask(context, "memory/delete", id=ids[5])
    assert (await ask(context, "memory/list"))["total"] == 5
    assert (await ask(context, "memory/list", as_of=seq))["total"] == 6


async def test_a_caller_sees_only_its_namespaces(context: Context) -> None:
    ids = await fill(context)
    baker = context.for_caller(Caller(name="baker", scope=Scope.READ, namespaces=frozenset({"bakery"})))
    assert {one["id"] for one in (await ask(baker, "memory/list"))["memories"]} == {*ids[:3]}
    assert (await ask(baker, "store/calendar"))["namespaces"] == {"bakery": 3}
    found = await ask(baker, "store/map")
    assert (ids_of(found), found["namespaces"]) == (ids[:3], ["bakery"])
    with pytest.raises(NotFoundFault):
        await ask(baker, "memory/list", ids=[ids[4]])
    for method in ("memory/list", "store/calendar", "store/map", "goal/list"):
        with pytest.raises(ForbiddenFault):
            await ask(baker, method, namespace="office")


async def test_goals_are_listed_with_their_drift_and_nothing_is_logged(context: Context) -> None:
    for number in range(12):
        await store(
            context, f"Oven {number} of the bakery bakes rye bread at {220 + number} degrees.", namespace="bakery"
        )
    for number in range(12):
        await store(context, f"Invoice {number} for taxes went to the accountant of the office.", namespace="bakery")
    await ask(context, "goal/discover", namespace="bakery", min_confidence=0.1)
    before = context.hub.log.head.seq
    found = await ask(context, "goal/list", namespace="bakery")
    assert found["goals"]
    assert found["drift"]["status"] == "measured"
    # The workspace still logs what follows from the stores, on a slow machine about now.
    assert context.actor not in {one.actor for one in context.hub.log.read(before)}


async def test_a_search_that_is_not_traced_is_no_use_of_a_memory(context: Context) -> None:
    ids = await fill(context)
    for traced, uses in ((False, 0), (True, 1)):
        context.traced = traced
        assert await search(context, "When is the tax return due?")
        await store(context, "A later append is in the log after that of the search.", namespace="elsewhere")
        assert (await ask(context, "memory/retrieve", id=ids[3]))["accessCount"] == uses
