"""Backups after deep sleep, as those see them who ask the store."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from actors.api.caller import Caller, Scope
from actors.api.context import Context
from actors.api.tools.agent_tools import BY_METHOD
from actors.api.tools.dispatch import call
from actors.embedder.profiles.embedded import EmbeddedProfile
from actors.hub.anchors import SETTING, Anchors
from actors.hub.composition import start_hub
from actors.hub.hub import Hub
from actors.hub.serve import back_up_if_due
from actors.runtime.ask import ask
from actors.runtime.faults import InvalidParamsFault
from actors.scheduler.messages import ReadSchedule
from events.recovery.backup import back_up, restore
from events.storage.duckdb_log import DuckDBLog
from events.storage.log import Log
from events.verify.verification import verify
from events.vocabulary.values import Mode
from tests.actors.conftest import Agent, Connect, loaded
from tests.events.memory_log import MemoryLog
from tests.events.samples import draft, stored

pytestmark = pytest.mark.anyio

Sleep = Callable[[], Awaitable[dict[str, Any]]]
"""Lets the store sleep; returns what `status` says of backups once one that is due was made."""

LETTERS = ("The lighthouse keeper repaints the stairs in May.", "Ferries to the island leave from pier four.")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def hub(folder: Path, profile: EmbeddedProfile) -> Iterator[Hub]:
    with start_hub(DuckDBLog(folder), folder, loaded(profile)) as hub:
        yield hub


@pytest.fixture
def sleep_deeply(hub: Hub, connect: Connect) -> Sleep:
    async def slept() -> dict[str, Any]:
        async with connect(Context(hub)) as agent:  # each session may begin one sleep a minute
            assert (await agent.request("memory/consolidate", mode="deep"))["outcome"] == "finished"
            await back_up_if_due(hub)
            return (await agent.request("store/status"))["backups"]

    return slept


async def test_each_deep_sleep_is_followed_by_one_backup_and_the_latest_are_kept(
    hub: Hub, connect: Connect, sleep_deeply: Sleep, tmp_path: Path
) -> None:
    async with connect(Context(hub)) as agent:
        first = await agent.request("memory/inject", content=LETTERS[0])
        none = await sleep_deeply()
        assert (none["keep"], none["made"]) == (0, []), "nobody asked for any"
        await agent.request("store/schedule", backups=2)
        await back_up_if_due(hub)
        made = [(await agent.request("store/status"))["backups"]["made"]]
        assert len(made[0]) == 1
        await back_up_if_due(hub)
        assert (await agent.request("store/status"))["backups"]["made"] == made[0], "it hasn't slept since"
        await agent.request("memory/inject", content=LETTERS[1])
        made += [(await sleep_deeply())["made"] for _ in range(2)]
    assert [len(each) for each in made] == [1, 2, 2]
    assert made[2][0] == made[1][1]
    assert sorted(path.name for path in Path(made[2][0]).parent.iterdir()) == [
        *(Path(each).name for each in made[2]),
        "keep",
    ]
    newest = Path(made[2][1])
    assert newest.parent.stat().st_mode & 0o777 == 0o700
    assert verify(newest).problems == ()
    restore(newest, tmp_path / "other")
    log = DuckDBLog(tmp_path / "other")
    assert first["memory_id"] in {str(envelope.id) for envelope in log.read()}
    log.close()


async def test_backups_of_another_store_that_was_in_the_folder_before_stay(
    agent: Agent, sleep_deeply: Sleep, tmp_path: Path
) -> None:
    before = tmp_path / "store.backups" / "20200101T020000.000000Z"
    with closing(DuckDBLog(tmp_path / "lost")) as lost:
        lost.append([draft(stored("The deed of the boathouse is in the safe."))])
        back_up(lost, before)
    await agent.request("memory/inject", content=LETTERS[0])
    await agent.request("store/schedule", backups=1)
    await sleep_deeply()
    await agent.request("memory/inject", content=LETTERS[1])
    made = (await sleep_deeply())["made"]
    assert (made[0], len(made)) == (str(before), 2)


async def test_a_backup_that_cannot_be_checked_is_a_warning_and_the_next_sleep_makes_one(
    hub: Hub, agent: Agent, sleep_deeply: Sleep, monkeypatch: pytest.MonkeyPatch
) -> None:
    await agent.request("memory/inject", content=LETTERS[0])
    await agent.request("store/schedule", backups=1)
    with monkeypatch.context() as wrong:
        wrong.setenv("CONTEXT_GRAPH_PASSPHRASE", "of another store")
        failed = await sleep_deeply()
    assert (failed["made"], "passphrase" in failed["failed"]) == ([], True)
    await back_up_if_due(hub)
    assert (await agent.request("store/status"))["backups"]["made"] == [], "once for each sleep"
    await agent.request("memory/inject", content=LETTERS[1])
    made = await sleep_deeply()
    assert (len(made["made"]), made["failed"]) == (1, None)


async def test_the_number_of_backups_is_bounded(agent: Agent) -> None:
    error = await agent.request_refused("store/schedule", backups=366)
    assert "backups" in error["message"]


async def test_a_signed_head_follows_each_deep_sleep_and_proves_the_log(
    hub: Hub, folder: Path, agent: Agent, sleep_deeply: Sleep, tmp_path: Path
) -> None:
    anchors, other = tmp_path / "anchors", tmp_path / "notes.txt"
    other.write_text("shopping: rye flour")
    for target, word in (
        (str(other), "something else"),
        ("anchors", "no absolute path"),
        (f"git:{tmp_path}", "git"),
        (str(folder / "anchors"), "inside the store"),
    ):
        refusal = await agent.request_refused("store/schedule", anchor=target)
        assert (refusal["code"], word in refusal["message"]) == (-32602, True)
    assert other.read_text() == "shopping: rye flour"
    await agent.request("memory/inject", content=LETTERS[0])
    answer = await agent.request("store/schedule", anchor=str(anchors))
    assert answer["anchors"] == {"target": str(anchors), "failed": None}
    assert not anchors.exists()
    for letter in LETTERS:
        await agent.request("memory/inject", content=letter)
        await sleep_deeply()
    await back_up_if_due(hub)
    assert anchors.stat().st_mode & 0o777 == 0o600
    schedule = await ask(hub.scheduler, ReadSchedule())
    slept_at = next(planned.last for planned in schedule.modes if planned.mode is Mode.DEEP)
    Anchors(folder).write_if_due(hub.log, slept_at)  # as the next start does
    lines = anchors.read_text().split()
    assert len(lines) == 2, "one for each sleep"
    proved = await agent.request("store/verify", anchor=anchors.read_text())
    assert [one["confirmed"] for one in proved["anchors"]] == [True, True]
    anchors.write_text("shopping")
    await sleep_deeply()
    state = (await agent.request("store/schedule"))["anchors"]
    assert "something else" in state["failed"]
    assert anchors.read_text() == "shopping"
    anchors.unlink()
    await back_up_if_due(hub)
    assert len(anchors.read_text().split()) == 1, "tried again"
    assert (await agent.request("store/schedule"))["anchors"]["failed"] is None
    (folder / SETTING).write_text("{")
    assert "set --anchor again" in (await agent.request("store/schedule"))["anchors"]["failed"]
    assert (await agent.request("store/schedule", anchor="off"))["anchors"]["target"] is None


async def test_a_schedule_with_an_anchor_that_cannot_be_written_changes_nothing(agent: Agent, tmp_path: Path) -> None:
    before = await agent.request("store/schedule")
    wanted = {"light": "90m", "paused": True, "backups": 2}
    for target in (str(tmp_path / "none" / "anchors"), f"git:{tmp_path}", f"{tmp_path}/null\0"):
        refusal = await agent.request_refused("store/schedule", anchor=target, **wanted)
        assert (refusal["code"], refusal["data"]["parameter"]) == (-32602, "anchor")
    assert await agent.request("store/schedule") == before


async def test_anchors_are_refused_over_http_and_where_no_key_signs_them(
    hub: Hub, start: Callable[[Log], Any], tmp_path: Path
) -> None:
    anchors, schedule = tmp_path / "anchors", BY_METHOD["store/schedule"]
    remote = Context(hub).for_caller(Caller(name="far", scope=Scope.ADMIN, namespaces=None))
    await call(Context(hub), schedule, {"anchor": str(anchors)})
    for target in (str(tmp_path / "others"), "off"):
        with pytest.raises(InvalidParamsFault, match="'anchor': not over HTTP"):
            await call(remote, schedule, {"anchor": target})
    assert (await call(remote, schedule, {"paused": True}))["anchors"]["target"] == str(anchors)
    with start(MemoryLog()) as keyless:
        with pytest.raises(InvalidParamsFault, match=r"'anchor': .* this log has none"):
            await call(Context(keyless), schedule, {"anchor": str(anchors)})
        await call(Context(keyless), schedule, {"anchor": "off"})
