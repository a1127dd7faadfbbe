"""Days are those of the calendar where something was said or asked, not those of UTC."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest
from msgspec import UNSET, msgpack, structs

from actors.api.context import Context
from actors.api.tools.agent_tools import BY_METHOD
from actors.api.tools.dispatch import call
from actors.comparator.search.period import BONUS
from events.local_time import calendar_time
from events.storage.log import Log
from events.vocabulary import MemoryStored
from events.vocabulary.codec import decode, encode
from tests.actors.conftest import Agent, Place
from tests.events.memory_log import MemoryLog

pytestmark = pytest.mark.anyio

TOKYO, LOS_ANGELES = "Asia/Tokyo", "America/Los_Angeles"


async def told(agent: Agent, question: str, **more: Any) -> set[str]:
    """Return what is of the time that a question asks for alone: it ranks far above all else."""
    found = await agent.call("search_graph", query=question, min_confidence="uncertain", explain=True, **more)
    best = max((one["score"] for one in found["results"]), default=0.0)
    return {one["content"] for one in found["results"] if one["score"] > best - BONUS / 2}


async def operate(context: Context, method: str = "memory/list", **limits: Any) -> dict[str, Any]:
    return await call(context, BY_METHOD[method], limits)


def stored(context: Context) -> list[MemoryStored]:
    return [one.event for one in context.hub.log.read() if isinstance(one.event, MemoryStored)]


@pytest.mark.parametrize(
    ("zone", "days"),
    [
        (
            TOKYO,
            {  # the evening is a day of UTC with the next morning, and the morning one with the evening before
                "2026-05-02T07:30": "Watered the bonsai.",
                "2026-05-02T19:00": "Tasted plum wine.",
                "2026-05-03T07:30": "Swam before breakfast.",
            },
        ),
        (
            LOS_ANGELES,
            {  # the evening is a day of UTC with the next morning
                "2026-05-02T16:30": "Sowed the beans.",
                "2026-05-02T17:30": "Fed the hens.",
                "2026-05-03T09:00": "Mended the fence.",
            },
        ),
    ],
)
async def test_today_and_yesterday_are_days_of_the_machines_calendar(
    agent: Agent, place: Place, zone: str, days: dict[str, str]
) -> None:
    first, second, third = days.values()
    for local, content in days.items():
        place(zone, local)
        answer = await agent.call("store_memory", content=content)
        assert answer["createdAt"][:16] == local, "as the clock shows it there"
    place(zone, "2026-05-02T20:00")
    assert await told(agent, "What did I do today?") == {first, second}
    place(zone, "2026-05-03T10:00")
    assert await told(agent, "What did I do today?") == {third}
    assert await told(agent, "What did I do yesterday?") == {first, second}
    assert await told(agent, "What happened on 3 May 2026?") == {third}
    asked_at = datetime.fromisoformat("2026-05-03T10:00").astimezone().isoformat()
    limits = {"since": "yesterday", "until": "2026-05-02", "asked_at": asked_at}
    found = await agent.call("search_graph", query="What did I do?", **limits)
    assert {one["content"] for one in found["results"]} == {first, second}


async def test_yesterday_in_a_memory_is_the_day_before_on_the_calendar_where_it_was_said(
    agent: Agent, place: Place
) -> None:
    place(LOS_ANGELES, "2026-05-02T18:00")  # 3 May in UTC
    await agent.call("store_memory", content="Yesterday the roof leaked.")
    await agent.call("store_memory", content="The chimney was swept.", created_at="2026-05-02T18:00-07:00")
    place("UTC", "2026-05-20T12:00")
    assert await told(agent, "What happened on 1 May 2026?") == {"Yesterday the roof leaked."}
    assert "The chimney was swept." in await told(agent, "What happened on 2 May 2026?")


async def test_mornings_are_those_of_the_machines_clock(agent: Agent, place: Place) -> None:
    for local, content in (("07:30", "Bread."), ("16:30", "Tea."), ("21:00", "Chess.")):  # tea is at 7:30 in UTC
        for day in range(11, 16):
            place(TOKYO, f"2026-05-{day}T{local}")
            await agent.call("store_memory", content=f"{content} {day}")
    place(TOKYO, "2026-05-20T22:00")
    for question, content in (
        ("What is there in the mornings?", "Bread."),
        ("What is there in the evenings?", "Chess."),
    ):
        found = await agent.call("search_single_space", space_index=2, query=question, top_k=5)
        assert {one["content"].partition(" ")[0] for one in found["results"]} == {content}


@pytest.mark.parametrize(
    ("changes", "utc"),
    [("2026-03-08", ("08:30", "06:30")), ("2026-11-01", ("07:30", "07:30"))],
)
async def test_a_day_on_which_the_clock_changes_is_whole(
    context: Context, agent: Agent, place: Place, changes: str, utc: tuple[str, str]
) -> None:
    """It has 23 or 25 hours, the first and the last at different offsets."""
    said = {"00:30": "The owl called.", "23:30": "The fox barked."}
    for local, content in said.items():
        place(LOS_ANGELES, f"{changes}T{local}")
        await agent.call("store_memory", content=content)
    assert tuple(f"{one.created_at:%H:%M}" for one in stored(context)) == utc
    place(LOS_ANGELES, f"{changes[:-1]}{int(changes[-1]) + 1}T10:00")
    assert await told(agent, "What happened yesterday?") == {*said.values()}
    assert (await operate(context, since=changes, until=changes))["total"] == 2
    assert (await operate(context, "store/calendar"))["days"] == [{"day": changes, "count": 2}]


async def test_each_memory_is_of_its_own_calendars_day_whoever_asks(
    context: Context, agent: Agent, place: Place
) -> None:
    times = {"Kyoto was hot.": "2026-05-02T08:30:00+09:00", "Portland was wet.": "2026-05-02T23:30:00-07:00"}
    for content, at in times.items():
        await agent.call("store_memory", content=content, created_at=at)
    await agent.call("store_memory", content="Lisbon was windy.", created_at="2026-05-03")
    for zone in (TOKYO, "UTC", LOS_ANGELES):
        place(zone, "2026-05-20T12:00")
        found = await operate(context, since="2026-05-02", until="2026-05-02")
        assert {one["content"]: one["createdAt"] for one in found["memories"]} == times
        assert await told(agent, "What happened on 2 May 2026?") == {*times}
        days = (await operate(context, "store/calendar"))["days"]
        assert days == [{"day": "2026-05-02", "count": 2}, {"day": "2026-05-03", "count": 1}]
        instants = await operate(context, since="2026-05-02T00:00Z", until="2026-05-02T23:59:59Z")
        assert instants["total"] == 0, "with a zone they are instants"
    assert await told(agent, "What happened yesterday?", asked_at="2026-05-04T00:30+09:00") == {"Lisbon was windy."}
    assert await told(agent, "What happened yesterday?", asked_at="2026-05-03T23:30-07:00") == {*times}


async def test_a_memory_of_an_earlier_version_keeps_its_day_of_utc_and_its_bytes(
    context: Context, agent: Agent, place: Place
) -> None:
    place(TOKYO, "2026-05-20T12:00")
    await agent.call("store_memory", content="The lift stood still.", created_at="2026-05-02T23:00:00Z")
    await agent.call("store_memory", content="The bell rang.", created_at="2026-05-02T23:00:00+09:00")
    (old, new) = stored(context)
    assert b"utc_offset" not in msgpack.encode(old)
    assert decode("memory_stored.3", encode(new)) == new != structs.replace(new, utc_offset=UNSET)
    assert (old.said_at, calendar_time(new.said_at)) == (old.created_at, old.created_at)
    assert await told(agent, "What happened on 2 May 2026?") == {"The lift stood still.", "The bell rang."}


async def test_as_of_and_the_audit_take_days_and_times_without_a_zone_as_those_of_the_machine(
    context: Context, place: Place
) -> None:
    place("UTC")
    await call(context, BY_METHOD["memory/store"], {"content": "The bell rang."})
    first = context.hub.log.get([1])[0].at
    for zone in ("Etc/GMT-14", "Etc/GMT+12"):
        place(zone)
        local = first.astimezone()
        for when in (f"{local:%Y-%m-%d}", f"{local:%Y-%m-%dT%H:%M:%S.%f}", "today"):
            found = await call(context, BY_METHOD["audit/trail"], {"since": when, "until": when})
            assert found["count"] >= 1, (zone, when)
        assert (await operate(context, as_of=f"{local:%Y-%m-%dT%H:%M:%S.%f}"))["total"] == 0
        assert (await operate(context, as_of=first.isoformat()))["total"] == 0


async def test_an_export_carries_the_offset_and_its_import_elsewhere_is_the_same_memory(
    start: Callable[[Log], Any], place: Place
) -> None:
    with start(MemoryLog()) as hub:
        place(LOS_ANGELES, "2026-05-02T18:00")
        first = Context(hub)
        await call(first, BY_METHOD["memory/store"], {"content": "Yesterday the roof leaked."})
        exported = (await operate(first, "memory/export"))["memories"]
        before = stored(first)
    with start(MemoryLog()) as hub:
        second = Context(hub)
        for zone, count in ((TOKYO, "stored"), (LOS_ANGELES, "stored_before"), ("UTC", "stored_before")):
            place(zone)
            assert (await operate(second, "memory/import", items=exported))[count] == 1
        after = stored(second)
    assert [(one.created_at, one.utc_offset) for one in after] == [(one.created_at, -420) for one in before]


@pytest.mark.parametrize("zone", [TOKYO, LOS_ANGELES])
async def test_a_time_without_a_zone_is_one_of_this_machine_also_in_the_order_of_memories(
    agent: Agent, place: Place, zone: str
) -> None:
    place(zone, "2026-05-02T21:05")
    await agent.call("store_memory", content="Mio is on call for the pumps.", created_at="2026-05-02T19:05")
    await agent.call("store_memory", content="Ken is on call for the pumps.")
    answer = await agent.call("search_graph", query="Who is on call for the pumps now?")
    assert [one["content"][:3] for one in answer["results"]] == ["Ken", "Mio"]
    recent = await agent.call("search_graph", query="Who is on call for the pumps?", since="2026-05-02T20:05")
    assert [one["content"][:3] for one in recent["results"]] == ["Ken"]
