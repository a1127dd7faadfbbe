"""Hubs that share a log on a real server: each sees what the others store, also after the server was away."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from threading import current_thread
from time import monotonic
from typing import Any
from uuid import UUID, uuid4

import msgspec
import pytest
from psycopg.errors import DiskFull
from typer.testing import CliRunner

from actors.api.context import Context
from actors.api.operations.administration.maintenance import store_status
from actors.api.operations.lifecycle.memories import memory_delete, store_memory
from actors.api.operations.mind.sleep import ConsolidateMemories, consolidate_memories
from actors.api.params.memories import MemoryDelete, StoreMemory
from actors.api.params.parsing import parse
from actors.api.tools.agent_tools import BY_METHOD, BY_NAME
from actors.api.tools.dispatch import call
from actors.cli.commands import program
from actors.hub.composition import open_hub
from actors.hub.hub import Hub
from actors.hub.reembed import built_beside
from actors.runtime.faults import InvalidParamsFault, StorageFault
from actors.store.messages import ReadDigests, ReadStatus, TakeSnapshot
from actors.store.snapshot_files import Snapshots
from events import vocabulary as ev
from events.postgres import connection, rows, writer
from events.postgres.log import PostgresLog
from events.postgres.snapshot_keys import OFFLINE, Known, OfflineKeys
from events.postgres.writer import Writer
from events.recovery.salvage import DAMAGED
from events.storage import chain
from events.storage.log import LogAwayError, LogError, LogUncertainError
from tests.actors.conftest import loaded, reembedded, search, store
from tests.actors.store.test_store import append
from tests.events.samples import SLEEP, draft
from tests.postgres import Server

BOUND = 60.0

pytestmark = pytest.mark.anyio

Open = Callable[..., Hub]


@pytest.fixture
def opened(address: str, tmp_path: Path, profile: Any) -> Iterator[Open]:
    """Opens a hub on the shared log, each in a folder of its own."""
    with ExitStack() as stack:

        def hub(name: str) -> Hub:
            return stack.enter_context(open_hub(tmp_path / name, load=loaded(profile), address=address))

        yield hub


def known(hub: Hub, seq: int) -> None:
    """Wait until a hub has folded an event, about which nobody but the server told it."""
    deadline = monotonic() + BOUND
    while hub.store.ask(ReadStatus(), timeout=BOUND).head.seq < seq:
        assert monotonic() < deadline, "the hub doesn't follow"


def take_snapshot(hub: Hub) -> None:
    """Ask for a snapshot until one is taken: an event that follows a store, as of a cause, cancels it."""
    deadline = monotonic() + BOUND
    while not hub.store.ask(TakeSnapshot(), timeout=BOUND):
        assert monotonic() < deadline, "no snapshot is taken"


@contextmanager
def stopped(postgres: Server) -> Iterator[None]:
    postgres.stop()
    try:
        yield
    finally:
        postgres.start()


async def test_what_one_hub_stores_the_other_finds_and_both_know_the_same(opened: Open) -> None:
    here, there = Context(opened("here")), Context(opened("there"))
    first = await store(here, "the ferry leaves the eastern harbour at nine")
    known(there.hub, here.hub.log.head.seq)
    assert [one["fingerprintId"] for one in await search(there, "when does the boat sail")] == [first]
    second = await store(there, "the lighthouse keeper has a grey cat")
    known(here.hub, there.hub.log.head.seq)
    assert second in [one["fingerprintId"] for one in await search(here, "a cat in the lighthouse")]
    deadline = monotonic() + BOUND
    while True:  # until neither has anything more to say about what was stored
        ours, theirs = (hub.store.ask(ReadDigests(), timeout=BOUND) for hub in (here.hub, there.hub))
        if ours[0] == theirs[0]:
            break
        assert monotonic() < deadline
    assert ours == theirs


async def test_a_log_to_which_another_hub_appends_meanwhile_is_not_embedded_anew(
    opened: Open, address: str, tmp_path: Path, profile: Any
) -> None:
    there = Context(opened("there"))
    with open_hub(tmp_path / "here", load=loaded(profile), address=address) as hub:
        await store(Context(hub), "the ferry leaves the eastern harbour at nine")

    async def progress(done: float, _total: float | None, what: str) -> None:
        if what == "memories embedded" and done:
            await store(there, "the lighthouse keeper has a grey cat")

    with (
        pytest.raises(LogError, match="other hubs appended events meanwhile"),
        built_beside(tmp_path / "new") as building,
        open_hub(building, load=loaded(profile)) as hub,
    ):
        await reembedded(tmp_path / "here", hub, progress)
    assert not (tmp_path / "new").exists()


async def test_what_is_stored_without_a_notification_is_found_too(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = opened("here"), opened("there")
    monkeypatch.setattr(rows, "CHANNEL", "nobody_listens_there")
    stored = await store(Context(here), "the ferry leaves the eastern harbour at nine")
    known(there, here.log.head.seq)
    assert [one["fingerprintId"] for one in await search(Context(there), "when does the boat sail")] == [stored]


async def test_a_request_that_is_sent_to_two_hubs_is_carried_out_once(opened: Open) -> None:
    here, there = Context(opened("here")), Context(opened("there"))
    request = parse({"content": "the key is under the third stone"}, StoreMemory)
    key = uuid4()
    first = await store_memory(replace(here, key=key), request)
    second = await store_memory(replace(there, key=key), request)
    assert second["fingerprintId"] == first["fingerprintId"]
    assert there.hub.store.ask(ReadStatus(), timeout=BOUND).memories["live"] == 1


async def test_what_one_hub_erases_no_other_can_read_not_even_from_its_snapshot(opened: Open, tmp_path: Path) -> None:
    here, there = Context(opened("here")), Context(opened("there"))
    kept, secret = await store(here, "the bakery opens at six"), await store(here, "the vault opens with 4417")
    known(there.hub, here.hub.log.head.seq)
    take_snapshot(there.hub)
    assert list((tmp_path / "there" / "snapshot").iterdir())
    await memory_delete(here, parse({"id": secret, "soft": False}, MemoryDelete))
    known(there.hub, here.hub.log.head.seq)
    assert [one["fingerprintId"] for one in await search(there, "when does it open")] == [kept]
    assert not list((tmp_path / "there" / "snapshot").iterdir())


async def stored_again(here: Context) -> None:
    """Store a second memory once the server is reached again."""
    deadline = monotonic() + BOUND
    while True:
        try:
            await store(here, "the third ferry leaves at eleven")
            break
        except StorageFault:
            assert monotonic() < deadline
    assert here.hub.store.ask(ReadStatus(), timeout=BOUND).memories["live"] == 2


async def test_without_the_server_searches_go_on_and_stores_fail_at_once(opened: Open, postgres: Server) -> None:
    here = Context(opened("here"))
    memory = await store(here, "the ferry leaves the eastern harbour at nine")
    with stopped(postgres):
        assert [one["fingerprintId"] for one in await search(here, "when does the boat sail")] == [memory]
        with pytest.raises(StorageFault) as caught:
            await store(here, "the second ferry leaves at ten")
        assert caught.value.code == -32004
        assert caught.value.data["retry_after_ms"] > 0
        assert (await store_status(here))["log"]["lag"]["reason"]
    await stored_again(here)


async def test_a_full_disk_of_the_server_is_told_as_its_own(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    here = Context(opened("here"))

    def full(*_: object) -> None:
        raise DiskFull("could not extend file")

    with monkeypatch.context() as patched:
        patched.setattr(rows, "insert", full)
        with pytest.raises(StorageFault, match="the disk of the log's PostgreSQL server is full"):
            await store(here, "the ferry leaves the eastern harbour at nine")
    await store(here, "the ferry leaves the eastern harbour at nine")


async def test_a_server_that_does_not_answer_delays_no_search(
    opened: Open, postgres: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "SILENCE", 0.5)
    here = Context(opened("here"))
    memory = await store(here, "the ferry leaves the eastern harbour at nine")
    attempts: list[str] = []
    connect = connection.connect

    def counted(url: str) -> connection.Connection:
        attempts.append(current_thread().name)
        return connect(url)

    monkeypatch.setattr(connection, "connect", counted)
    monkeypatch.setattr(writer, "connect", counted)
    with postgres.frozen():
        with pytest.raises(StorageFault):
            await store(here, "the second ferry leaves at ten")
        attempts.clear()
        for _ in range(5):
            assert [one["fingerprintId"] for one in await search(here, "when does the boat sail")] == [memory]
            with pytest.raises(StorageFault):
                await store(here, "the second ferry leaves at ten")
        assert not attempts
        assert (await store_status(here))["log"]["lag"]["reason"]
    await stored_again(here)


async def test_an_answer_that_may_be_older_than_it_may_be_says_so(
    address: str, tmp_path: Path, profile: Any, postgres: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONTEXT_GRAPH_MAX_LAG", "0.001")
    with open_hub(tmp_path / "here", load=loaded(profile), address=address) as hub:
        here = Context(hub)
        await store(here, "the ferry leaves the eastern harbour at nine")
        with stopped(postgres):
            answer = await call(here, BY_NAME["search_graph"], {"query": "when does the boat sail"})
            assert answer["results"]
            assert answer["lag"]["seconds"] >= 0
            assert answer["lag"]["events"] == 0
    monkeypatch.setenv("CONTEXT_GRAPH_MAX_LAG", "soon")
    with pytest.raises(LogError, match="--max-lag must be a positive number"):
        open_hub(tmp_path / "here", address=address).__enter__()


@pytest.mark.parametrize("again", [False, True], ids=["once", "again while it is read back"])
async def test_a_store_whose_commit_was_not_answered_is_acknowledged_once_the_log_shows_it(
    opened: Open, monkeypatch: pytest.MonkeyPatch, *, again: bool
) -> None:
    here = Context(opened("here"))
    await store(here, "the ferry leaves the eastern harbour at nine")
    commit, get = Writer.commit, PostgresLog.get

    def away(_log: PostgresLog, _seqs: object) -> None:
        monkeypatch.setattr(PostgresLog, "get", get)
        raise LogAwayError("the server is away again")

    def lost_after(writer: Writer) -> None:
        commit(writer)
        monkeypatch.setattr(Writer, "commit", commit)
        if again:
            monkeypatch.setattr(PostgresLog, "get", away)
        writer.close()
        raise LogUncertainError("the connection was lost during a commit")

    monkeypatch.setattr(Writer, "commit", lost_after)
    memory = await store(here, "the lighthouse keeper has a grey cat")
    assert memory in [one["fingerprintId"] for one in await search(here, "a cat in the lighthouse")]
    assert here.hub.store.ask(ReadStatus(), timeout=BOUND).memories["live"] == 2


async def test_an_import_takes_nothing_of_a_run_while_another_hub_consolidates(opened: Open) -> None:
    here, there = Context(opened("here")), Context(opened("there"))
    await store(there, "the lighthouse keeper has a grey cat")
    await consolidate_memories(there, ConsolidateMemories())
    known(here.hub, there.hub.log.head.seq)
    text, at = "the ferry leaves at nine", "2026-01-05T09:00:00+00:00"
    ids, run = [str(uuid4()) for _ in range(2)], str(uuid4())
    events = (
        {"type": "consolidation_started.1", "run": run, "mode": "light", "trigger": "request", "namespace": None}
        | {"salience_threshold": 0.3, "max_memories": 0, "dry_run": False, "thorough": True, "rationale": None},
        {"type": "memories_merged.1", "run": run, "survivor": ids[0], "absorbed": ids[1:], "similarities": [1.0]},
    )
    items = [{"id": id_, "content": text, "created_at": at} for id_ in ids]
    items += [{"event": event, "id": str(uuid4()), "at": at} for event in events]
    answer = await call(here, BY_METHOD["memory/import"], {"items": items})
    assert [one["success"] for one in answer["results"]] == [True, True, False, False]
    assert "another hub" in answer["results"][2]["error"]["message"]
    assert "Run not found" in answer["results"][3]["error"]["message"]
    assert {one["fingerprintId"] for one in await search(here, "when does the ferry leave")} >= {*ids}


async def test_one_hub_consolidates_and_another_only_after_it_is_gone(
    opened: Open, address: str, tmp_path: Path, profile: Any
) -> None:
    there = Context(opened("there"))
    light = parse({"mode": "light"}, ConsolidateMemories)
    with open_hub(tmp_path / "here", load=loaded(profile), address=address) as hub:
        await store(Context(hub), "the bakery opens at six")
        assert (await consolidate_memories(Context(hub), light))["outcome"] == "finished"
        with pytest.raises(StorageFault, match=r"another hub .* consolidates this log"):
            await consolidate_memories(there, light)
    deadline = monotonic() + BOUND
    while True:  # until the server has ended the session of the other hub
        try:
            assert (await consolidate_memories(there, light))["outcome"] == "finished"
            break
        except StorageFault:
            assert monotonic() < deadline
    changes = [
        envelope.event for envelope in there.hub.log.read() if isinstance(envelope.event, ev.ConsolidatorChanged)
    ]
    assert [change.epoch for change in changes] == [1, 2]


async def test_a_hub_that_was_overtaken_during_its_run_changes_nothing(opened: Open, postgres: Server) -> None:
    here, there = opened("here"), opened("there")
    run, later = uuid4(), uuid4()

    def tell(hub: Hub, kind: type[Any], of: UUID) -> None:
        (sample,) = (event for event in SLEEP if isinstance(event, kind))
        hub.store.ask(append(msgspec.structs.replace(sample, run=of)), timeout=BOUND)

    tell(here, ev.ConsolidationStarted, run)
    # As the server does where a process is stopped.
    postgres.execute("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'")
    deadline = monotonic() + BOUND
    while True:
        try:
            tell(there, ev.ConsolidationStarted, later)
            break
        except StorageFault:
            assert monotonic() < deadline
    with pytest.raises(StorageFault, match="has taken over the consolidation"):
        tell(here, ev.ConsolidationFinished, run)
    tell(there, ev.ConsolidationFinished, later)
    known(here, there.log.head.seq)
    events = [envelope.event for envelope in here.log.read()]
    assert [event.run for event in events if isinstance(event, ev.ConsolidationFinished)] == [later]


async def test_a_hub_starts_from_its_own_snapshot_and_folds_what_others_stored_since(
    opened: Open, address: str, tmp_path: Path, profile: Any
) -> None:
    there = Context(opened("there"))
    with open_hub(tmp_path / "here", load=loaded(profile), address=address) as hub:
        await store(Context(hub), "the bakery opens at six")
        take_snapshot(hub)
    later = await store(there, "the bakery has moved to the harbour")
    here = Context(opened("here"))
    assert list((tmp_path / "here" / "snapshot").iterdir())
    assert later in [one["fingerprintId"] for one in await search(here, "where is the bakery")]


async def refused_at_once(here: Context) -> None:
    with pytest.raises(StorageFault) as caught:
        await store(here, "the second ferry leaves at ten")
    assert caught.value.code == -32004
    assert caught.value.data["retry_after_ms"] > 0


async def stored_once_it_is_back(here: Context, content: str) -> str:
    deadline = monotonic() + BOUND
    while True:
        try:
            return await store(here, content)
        except StorageFault:
            assert monotonic() < deadline


@pytest.fixture
def kept(
    address: str, tmp_path: Path, profile: Any, monkeypatch: pytest.MonkeyPatch
) -> Callable[[], AbstractContextManager[Hub]]:
    """Opens a hub that may start without the server, always in the same folder."""
    monkeypatch.setenv("CONTEXT_GRAPH_OFFLINE", "1")
    monkeypatch.setenv("CONTEXT_GRAPH_PASSPHRASE", "correct horse battery")
    return lambda: open_hub(tmp_path / "kept", load=loaded(profile), address=address)


async def test_a_hub_starts_from_its_snapshot_without_the_server_and_catches_up_when_it_is_back(
    kept: Callable[[], AbstractContextManager[Hub]], opened: Open, postgres: Server, tmp_path: Path
) -> None:
    with kept() as hub:
        first = await store(Context(hub), "the ferry leaves the eastern harbour at nine")
        take_snapshot(hub)
    there = Context(opened("there"))
    later = await store(there, "the ferry to the island sails from the western harbour")
    with stopped(postgres), kept() as hub:
        here = Context(hub)
        answer = await call(here, BY_NAME["search_graph"], {"query": "when does the boat sail"})
        assert [one["fingerprintId"] for one in answer["results"]] == [first]
        await refused_at_once(here)
        lag = (await store_status(here))["log"]["lag"]
        assert "can't be opened" in lag["reason"]
        assert lag["events"] == 0
        postgres.start()
        known(hub, there.hub.log.head.seq)
        third = await stored_once_it_is_back(here, "the third ferry leaves at eleven")
        assert {one["fingerprintId"] for one in await search(here, "a ferry")} == {first, later, third}
        assert (await store_status(here))["log"]["lag"]["reason"] is None


async def test_without_that_choice_nothing_in_the_folder_opens_a_snapshot(
    kept: Callable[[], AbstractContextManager[Hub]], postgres: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with kept() as hub:
        await store(Context(hub), "the ferry leaves the eastern harbour at nine")
        take_snapshot(hub)
        assert (tmp_path / "kept" / OFFLINE).exists()
        await store(Context(hub), "the bakery opens at six")
        monkeypatch.setenv("CONTEXT_GRAPH_OFFLINE", "0")
        take_snapshot(hub)
        assert not (tmp_path / "kept" / OFFLINE).exists()
    with stopped(postgres), pytest.raises(LogAwayError, match=r"can't be opened: .*; start the server.* --offline"):
        kept().__enter__()


async def test_what_was_erased_elsewhere_leaves_no_key_behind_once_the_hub_learns_of_it(
    kept: Callable[[], AbstractContextManager[Hub]], opened: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with kept() as hub:
        secret = await store(Context(hub), "the vault opens with 4417")
        take_snapshot(hub)
    there = Context(opened("there"))
    await memory_delete(there, parse({"id": secret, "soft": False}, MemoryDelete))
    with kept() as hub:
        known(hub, there.hub.log.head.seq)
        assert await search(Context(hub), "when does it open") == []
    assert not (tmp_path / "kept" / OFFLINE).exists()
    assert not list((tmp_path / "kept" / "snapshot").iterdir())


async def test_a_server_that_came_back_with_another_log_is_refused(
    kept: Callable[[], AbstractContextManager[Hub]],
    postgres: Server,
    database: str,
    address: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(writer, "_PAUSE", 0.0)
    with kept() as hub:
        await store(Context(hub), "the ferry leaves the eastern harbour at nine")
        take_snapshot(hub)
    keys = OfflineKeys(tmp_path / "kept").load("correct horse battery")
    assert keys is not None
    with stopped(postgres):
        known_head = Snapshots(tmp_path / "kept", keys).newest()
        assert known_head is not None
        log = PostgresLog(address, tmp_path / "kept", known=lambda: Known(keys, *known_head))
    try:
        postgres.execute("DROP SCHEMA context_graph CASCADE", database)
        with pytest.raises(LogError, match="holds another log than this hub knows, or none"):
            log.follow()
        PostgresLog(address, tmp_path / "other", "correct horse battery").close()
        with pytest.raises(LogError, match="holds another log than this hub knows, or none"):
            log.begin()
    finally:
        log.close()


async def test_a_server_that_went_back_takes_nothing_before_it_holds_what_the_hubs_have_seen(
    opened: Open, postgres: Server, database: str, address: str, tmp_path: Path, profile: Any
) -> None:
    here, there = Context(opened("here")), Context(opened("there"))
    first = await store(here, "the ferry leaves the eastern harbour at nine")
    copy = postgres.dump(database)
    lost = await store(here, "the lighthouse keeper has a grey cat")
    known(there.hub, here.hub.log.head.seq)

    postgres.execute(f"ALTER DATABASE {database} ALLOW_CONNECTIONS false")
    postgres.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname LIKE 'store%'")
    postgres.execute(f"ALTER DATABASE {database} RENAME TO {database}_kept")
    postgres.execute(f"CREATE DATABASE {database}")
    postgres.restore(copy, database)
    for hub in (here, there):
        await refused_for(hub, "events are missing); searches go on, `context-graph doctor` says what to do")
        assert "events are missing" in (await store_status(hub))["log"]["lag"]["reason"]
        assert {one["fingerprintId"] for one in await search(hub, "a cat or a ferry")} == {first, lost}
    with open_hub(tmp_path / "fresh", load=loaded(profile), address=address) as fresh:  # which misses nothing
        for number in range(20):
            await store(Context(fresh), f"crate number {number} holds salt")
    for hub in (here, there):
        await refused_for(hub, "the log is damaged")

    postgres.execute(f"DROP DATABASE {database} WITH (FORCE)")
    postgres.execute(f"ALTER DATABASE {database}_kept RENAME TO {database}")
    postgres.execute(f"ALTER DATABASE {database} ALLOW_CONNECTIONS true")
    for hub in (here, there):
        await stored_once_it_is_back(hub, "the bakery opens at six")


async def refused_for(hub: Context, why: str) -> None:
    """Wait until a hub refuses a memory for a reason; until then it may find its connection lost."""
    deadline = monotonic() + BOUND
    while True:
        with pytest.raises(StorageFault) as caught:
            await store(hub, "the key hangs behind the red canoe")
        if why in caught.value.message:
            return
        assert monotonic() < deadline, caught.value.message


async def test_a_verification_that_the_server_interrupts_goes_on_and_marks_nothing_as_damaged(
    opened: Open, address: str, tmp_path: Path, profile: Any, postgres: Server
) -> None:
    with open_hub(tmp_path / "here", load=loaded(profile), address=address) as hub:
        memory = await store(Context(hub), "the ferry leaves the eastern harbour at nine")
        take_snapshot(hub)
    here = Context(opened("here"))
    here.hub.replayed.get(timeout=BOUND)
    with stopped(postgres):  # before the chain is verified, which waits for some seconds
        assert [one["fingerprintId"] for one in await search(here, "when does the boat sail")] == [memory]
        await refused_at_once(here)
    await stored_once_it_is_back(here, "the third ferry leaves at eleven")
    assert not (tmp_path / "here" / DAMAGED).exists()


async def test_an_event_of_a_newer_version_stops_an_older_hub_and_is_named(
    opened: Open, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = Context(opened("here"))
    memory = await store(here, "the ferry leaves the eastern harbour at nine")
    newer = PostgresLog(address, tmp_path / "newer")
    try:
        newer.begin()
        (before,) = newer.append([draft(ev.MemoryRecalled(memories=(UUID(memory),), query_sha256=bytes(32)))])
        with monkeypatch.context() as patched:
            patched.setattr(chain, "kind_of", lambda _event: "memory_dreamt_of.1")
            (unknown,) = newer.append([draft(ev.MemoryRestored(memory=UUID(memory)))])
        known(here.hub, before.seq)
        with pytest.raises(StorageFault, match=rf"event {unknown.seq} .* memory_dreamt_of.1, which a newer version"):
            await store(here, "the second ferry leaves at ten")
        assert [one["fingerprintId"] for one in await search(here, "when does the boat sail")] == [memory]
        lag = (await store_status(here))["log"]["lag"]
        assert "update this one" in lag["reason"]
        assert here.hub.log.head.seq == before.seq
    finally:
        newer.close()


async def test_a_field_that_a_newer_version_added_is_left_out_by_an_older_one(
    opened: Open, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = Context(opened("here"))
    memory = await store(here, "the ferry leaves the eastern harbour at nine")
    newer = PostgresLog(address, tmp_path / "newer")
    try:
        newer.begin()
        with monkeypatch.context() as patched:
            encode = chain.encode

            def encode_more(event: ev.Event) -> bytes:
                fields = msgspec.msgpack.decode(encode(event), type=dict[str, Any])
                return msgspec.msgpack.encode(fields | {"mood": "calm"})

            patched.setattr(chain, "encode", encode_more)
            (forgotten,) = newer.append([draft(ev.MemoryForgotten(memory=UUID(memory)))])
        known(here.hub, forgotten.seq)
        assert await search(here, "when does the boat sail") == []
        second = await store(here, "the second ferry leaves at ten")
        assert second in [one["fingerprintId"] for one in await search(here, "a ferry")]
    finally:
        newer.close()


async def test_a_shared_log_is_embedded_anew_into_a_folder(address: str, tmp_path: Path, profile: Any) -> None:
    with open_hub(tmp_path / "here", load=loaded(profile), address=address) as hub:
        ferry = await store(Context(hub), "the ferry leaves the eastern harbour at nine")
        await store(Context(hub), "the bakery opens at six")
    with open_hub(tmp_path / "anew", load=loaded(profile)) as hub:
        counts = await reembedded(tmp_path / "here", hub)
        assert counts.memories == 2
        found = await search(Context(hub), "when does the boat sail")
    assert found[0]["fingerprintId"] == ferry


async def test_backups_after_sleep_that_no_hub_would_make_are_refused(opened: Open) -> None:
    here = Context(opened("here"))
    with pytest.raises(InvalidParamsFault, match="a log on a server isn't copied after sleep"):
        await call(here, BY_METHOD["store/schedule"], {"backups": 3, "paused": True})
    assert not (await call(here, BY_METHOD["store/schedule"], {"backups": 0}))["paused"]


@pytest.mark.parametrize(
    ("command", "advice"),
    [
        (("repair", "NEW"), "context-graph restore BACKUP"),
        (("passphrase",), "context-graph move --data HERE --to NEW_FOLDER"),
        (("upgrade",), "its hubs upgrade it when they start"),
        (("anchor",), "run context-graph backup --data HERE COPY, then context-graph anchor --data COPY"),
    ],
)
async def test_what_needs_the_files_of_a_log_says_what_to_run_instead(
    opened: Open, tmp_path: Path, command: tuple[str, ...], advice: str
) -> None:
    opened("here")
    arguments = [str(tmp_path / "new") if one == "NEW" else one for one in command]
    answer = CliRunner().invoke(program, [*arguments, "--data", str(tmp_path / "here")])
    assert answer.exit_code == 1
    said = " ".join(answer.output.split())
    assert "the log is at postgresql://postgres@" in said
    assert advice.replace("HERE", str(tmp_path / "here")) in said
    assert not (tmp_path / "new").exists()
