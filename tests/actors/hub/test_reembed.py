"""A new store out of an old one: the same memories, embedded anew, and the old one as it was."""

import json
import math
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
import pytest
from typer.testing import CliRunner

from actors.api.context import Context
from actors.api.operations.administration.audit import AuditTrail, audit_trail
from actors.api.operations.administration.maintenance import store_status
from actors.api.operations.lifecycle.memories import memory_delete, memory_restore
from actors.api.operations.lifecycle.retrieval import memory_retrieve
from actors.api.operations.mind.runs import ListConsolidations, list_consolidations
from actors.api.operations.mind.schedule import ChangeSchedules, store_schedule
from actors.api.operations.mind.sleep import (
    ConsolidateMemories,
    UndoConsolidation,
    consolidate_memories,
    undo_consolidation,
)
from actors.api.params.memories import MemoryDelete, MemoryRestore, MemoryRetrieve
from actors.api.tools.agent_tools import BY_METHOD
from actors.api.tools.dispatch import call
from actors.cli.commands import program
from actors.embedder.pool.local import start_pool
from actors.embedder.pool.prepared import BulkEmbedding
from actors.embedder.pool.worker import WorkerSettings
from actors.embedder.profiles.embedded import EmbeddedProfile
from actors.hub.composition import open_hub
from actors.hub.reembed import PLAN, ReembedCounts, built_beside, reembed
from actors.hub.reembed_source import history_of
from actors.runtime.faults import EmbeddingFault, InvalidParamsFault
from actors.runtime.settings import SleepMode
from events.storage.duckdb_log import DuckDBLog
from events.storage.log import Envelope, Head
from events.vocabulary import MemoriesLinked, MemoryErased, MemoryForgotten, MemoryStored, MemoryTagged, SpacesDeclared
from projections.registry import digests, rebuild
from tests.actors.conftest import reembedded, search, store
from tests.events.memory_log import MemoryLog
from tests.events.samples import draft, stored

KEPT = (
    "id content contentHashHex state createdAt namespace session position modality importance tags rationale metadata "
    "links embeddings passages"
).split()
"""What a memory has in common with itself in the new store."""

Start = Callable[..., Any]


def head_of(folder: Path) -> Head:
    log = DuckDBLog(folder)
    log.close()
    return log.head


async def fill(context: Context) -> dict[str, str]:
    """Store a handful of memories of all sorts, and return their ids by name."""
    ids = {"plain": await store(context, "Mara's dog is called Bo.", tags=["pets"], importance=0.9)}
    ids["erased"] = await store(context, "The code of the safe is 4711.")
    ids["linked"] = await store(
        context,
        "Bo is afraid of thunder.",
        link_to=[ids["plain"], ids["erased"]],
        rationale="for the vet",
        metadata={"speaker": "Mara"},
        created_at="2025-05-05T10:00:00+09:00",
        namespace="home",
    )
    for turn in ("Where do we go?", "To the sea.", "Then pack the tent."):
        ids[turn] = await store(context, turn, session="trip", modality="mixed")
    ids["long"] = await store(context, "The harbour was full of small boats that evening. " * 60)
    ids["forgotten"] = await store(context, "An old shopping list: milk, bread, salt.")
    await memory_delete(context, MemoryDelete(id=UUID(ids["forgotten"]), reason="bought"))
    await memory_delete(context, MemoryDelete(id=UUID(ids["erased"]), soft=False))
    await search(context, "dog")
    return ids


async def known(context: Context, memory: str) -> dict[str, Any]:
    answer = await memory_retrieve(context, MemoryRetrieve(id=UUID(memory)))
    return {key: answer[key] for key in KEPT}


@pytest.mark.anyio
async def test_all_memories_but_the_erased_are_in_the_new_store_as_they_were(start: Start, tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    with start(DuckDBLog(old)) as hub:
        ids = await fill(Context(hub))
        del ids["erased"]
        before = {name: await known(Context(hub), memory) for name, memory in ids.items()}
    head = head_of(old)
    told: list[tuple[float, float | None, str]] = []

    async def progress(*news: Any) -> None:
        told.append(news)

    with start(DuckDBLog(new)) as hub:
        counts = await reembedded(old, hub, progress)
    assert counts == ReembedCounts(memories=7, forgotten=1, erased=1, links=1)
    assert [done for done, _, what in told if what == "memories embedded"] == [1, 7], (
        "a batch ends before a link into it"
    )
    with start(DuckDBLog(new)) as hub:
        context = Context(hub)
        after = {name: await known(context, memory) for name, memory in ids.items()}
        assert after["linked"]["links"] == [ids["plain"]]
        assert after == before
        assert after["forgotten"]["state"] == "forgotten"
        assert after["long"]["passages"] > 1
        found = await search(context, "Is Bo afraid of thunder?", tags=["pets"])
        assert [hit["fingerprintId"] for hit in found] == [ids["plain"]]
        results = await search(context, "shopping list with milk", top_k=100)
        assert {hit["fingerprintId"] for hit in results} == set(ids.values()) - {ids["forgotten"]}
        trail = await audit_trail(context, AuditTrail(memory_id=UUID(ids["forgotten"])))
        life = [event for event in reversed(trail["events"]) if event["actor"] != "workspace"]
        assert [event["what"].partition(" ")[0].rstrip(",") for event in life] == ["stored", "forgotten"]
        assert life[1]["what"] == "forgotten, because: bought"
    assert head_of(old) == head


@pytest.mark.anyio
async def test_the_embeddings_are_those_of_a_first_store(start: Start, tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    with start(DuckDBLog(old)) as hub:
        await fill(Context(hub))
    with start(DuckDBLog(new)) as hub:
        await reembedded(old, hub)
    fingerprints = [{memory: event.fingerprint for memory, (_, event) in stored_in(one).items()} for one in (old, new)]
    same = [memory for memory in fingerprints[0] if fingerprints[0][memory] == fingerprints[1][memory]]
    assert len(fingerprints[0]) == 7
    assert len(same) == 7, "what they are connected with is no part of them"


@pytest.mark.anyio
async def test_a_memory_that_can_not_be_embedded_is_named(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = tmp_path / "old"
    with start(DuckDBLog(old)) as hub:
        memory = await store(Context(hub), "a b c")

    def fail(*_: Any) -> Any:
        raise EmbeddingFault("Embedding failed: no")
        yield

    monkeypatch.setattr(EmbeddedProfile, "plan_content", fail)
    with start(MemoryLog()) as hub, pytest.raises(EmbeddingFault, match=memory):
        await reembedded(old, hub)


@pytest.mark.anyio
async def test_a_folder_without_a_store_is_refused_and_left_empty(start: Start, tmp_path: Path) -> None:
    with start(MemoryLog()) as hub, pytest.raises(InvalidParamsFault, match="holds no store"):
        await reembedded(tmp_path / "nothing", hub)
    assert not (tmp_path / "nothing").exists()


def test_turns_are_stored_in_the_order_of_their_places_whatever_order_they_were_logged_in() -> None:
    log = MemoryLog()
    log.append([draft(stored(session="s", position=place, content=str(place))) for place in (1, 0, 3, 2)])
    log.append([draft(stored(content="alone"))])
    memories = history_of(log).memories
    assert [entry.body.text for entry in memories if entry.body] == ["0", "1", "2", "3", "alone"]


def test_links_keep_what_they_were_drawn_with_and_lose_ends_that_were_erased() -> None:
    log = MemoryLog()
    one, other, gone = (envelope.id for envelope in log.append([draft(stored()) for _ in range(3)]))
    log.append([draft(MemoriesLinked(source=one, targets=(gone, other), relation="explains", weight=0.5))])
    log.append([draft(MemoriesLinked(source=gone, targets=(one,), relation="explains", weight=0.5))])
    log.append([draft(MemoriesLinked(source=other, targets=(gone,), relation="explains", weight=0.5))])
    log.append([draft(MemoryErased(memory=gone))])
    log.shred([gone])
    history = history_of(log)
    assert [entry.id for entry in history.memories] == [one, other]
    assert history.later == (MemoriesLinked(source=one, targets=(other,), relation="explains", weight=0.5),)
    assert (history.initial_links, history.erased) == ({}, 1)


def test_tags_that_were_changed_stay_changed_unless_their_memory_was_erased() -> None:
    log = MemoryLog()
    kept, gone = (envelope.id for envelope in log.append([draft(stored()) for _ in range(2)]))
    changes = [MemoryTagged(memory=memory, tags=("new",), was=()) for memory in (kept, gone)]
    log.append([draft(change) for change in changes])
    log.append([draft(MemoryErased(memory=gone))])
    log.shred([gone])
    history = history_of(log)
    assert history.slept == (changes[0],)
    assert history.stored[kept].tags == (), "a change is of the tags that it was stored with"


def test_a_new_store_takes_its_place_only_when_it_is_whole(tmp_path: Path) -> None:
    target = tmp_path / "new"
    target.mkdir()

    def interrupted() -> None:
        with built_beside(target) as folder:
            (folder / "half").touch()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert list(tmp_path.iterdir()) == [target]
    with built_beside(target) as folder:
        (folder / "whole").touch()
        assert not any(target.iterdir())
    assert [path.name for path in target.iterdir()] == ["whole"]
    with pytest.raises(InvalidParamsFault, match="must be an empty folder"), built_beside(target):
        pass
    (tmp_path / "other.unfinished").mkdir()
    with pytest.raises(InvalidParamsFault, match="delete it first"), built_beside(tmp_path / "other"):
        pass


def stored_in(folder: Path) -> dict[UUID, tuple[Envelope, MemoryStored]]:
    """Return the memories of a store in the order of its log."""
    with closing(DuckDBLog(folder)) as log:
        return {one.id: (one, event) for one in log.read() if isinstance(event := one.event, MemoryStored)}


def embedded(folder: Path) -> list[tuple[UUID, bytes]]:
    """Return the memories of a store in the order of its log, with all that their embedding made of them."""
    return [
        (memory, msgspec.msgpack.encode((event.fingerprint, event.passages, event.names)))
        for memory, (_, event) in stored_in(folder).items()
    ]


def digests_of(folder: Path) -> dict[str, str]:
    with closing(DuckDBLog(folder)) as log:
        return digests(rebuild(log.read()))


async def bulk_reembed(old: Path, new: Path, profile: EmbeddedProfile, *, stop_after: float = math.inf) -> None:
    """Re-embed with a pool of one thread, going on with an earlier run; fail after some memories."""
    settings = WorkerSettings("embedded")
    bulk = BulkEmbedding(lambda precision: start_pool(settings, 1, None, precision))

    async def progress(done: float, _total: float | None, _what: str) -> None:
        if done >= stop_after:
            raise KeyboardInterrupt

    with (
        built_beside(new, resume=True) as building,
        bulk,
        open_hub(building, load=bulk.loading(lambda _: profile)) as hub,
    ):
        await reembed(old, hub, progress, bulk)


@pytest.mark.anyio
async def test_a_run_that_was_interrupted_goes_on_and_makes_the_same_store(
    start: Start, tmp_path: Path, profile: EmbeddedProfile
) -> None:
    old, whole, parts = tmp_path / "old", tmp_path / "whole", tmp_path / "parts"
    with start(DuckDBLog(old)) as hub:
        context = Context(hub)
        await fill(context)
        for number in range(60):
            await store(context, f"Turn {number}: the ferry {number % 7} leaves at {number % 24} o'clock.", session="s")
        forgotten = await store(context, "Mara sold the blue boat.")
        await memory_delete(context, MemoryDelete(id=UUID(forgotten)))
    await bulk_reembed(old, whole, profile)
    for stop_after in (20, 50):
        with pytest.raises((KeyboardInterrupt, BaseExceptionGroup)):
            await bulk_reembed(old, parts, profile, stop_after=stop_after)
        assert not parts.exists()
    await bulk_reembed(old, parts, profile)
    assert embedded(parts) == embedded(whole)
    assert digests_of(parts) == digests_of(whole)
    assert not (parts / PLAN).exists()
    assert not parts.with_name("parts.unfinished").exists()


@pytest.mark.anyio
async def test_a_memory_keeps_its_time_its_request_and_what_it_was_judged_when_it_was_stored(
    start: Start, tmp_path: Path
) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    with start(DuckDBLog(old)) as hub:
        context = Context(hub)
        await fill(context)
        await store(context, "Mara's dog Bo is afraid of thunder and lightning.")
    with start(DuckDBLog(new)) as hub:
        await reembedded(old, hub)
        assert {type(envelope.event) for envelope in hub.log.read()} == {
            SpacesDeclared,
            MemoryStored,
            MemoriesLinked,
            MemoryForgotten,
        }, "nothing is in focus, and nothing examined for causes, while memories are embedded"
    before, after = stored_in(old), stored_in(new)
    assert before.keys() == after.keys()
    for memory, (envelope, event) in after.items():
        then, judged = before[memory]
        assert (envelope.at, envelope.correlation_id) == (then.at, then.correlation_id)
        assert event.learning == judged.learning
    assert len({event.learning for _, event in after.values()}) == len(after)


@pytest.mark.anyio
async def test_a_run_that_ended_before_its_last_events_appends_only_those(start: Start, tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    with start(DuckDBLog(old)) as hub:
        context = Context(hub)
        ids = [await store(context, f"Mara's boat number {number}.") for number in range(3)]
        for memory in ids:
            await memory_delete(context, MemoryDelete(id=UUID(memory)))
    with start(DuckDBLog(new)) as hub:
        await reembedded(old, hub)
        whole = [envelope.event for envelope in hub.log.read()]
    cut = DuckDBLog(new)
    kept = [*cut.read(last=len(whole) - 2)]
    cut.close()
    log = MemoryLog()
    log.append(kept)
    with start(log) as hub:
        await reembedded(old, hub)
        assert [envelope.event for envelope in hub.log.read()] == whole
        await reembedded(old, hub)
        assert [envelope.event for envelope in hub.log.read()] == whole, "nothing is missing"


@pytest.mark.anyio
async def test_work_on_another_store_is_not_gone_on_with(
    start: Start, tmp_path: Path, profile: EmbeddedProfile
) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    with start(DuckDBLog(old)) as hub:
        await store(Context(hub), "Mara's dog is called Bo.")
        await store(Context(hub), "Bo is afraid of thunder.")
    with pytest.raises((KeyboardInterrupt, BaseExceptionGroup)):
        await bulk_reembed(old, new, profile, stop_after=1)
    (new.with_name("new.unfinished") / PLAN).write_bytes(b'{"source": "0", "precision": null}')
    with pytest.raises(InvalidParamsFault, match="was begun with another source"):
        await bulk_reembed(old, new, profile)


def test_the_command_makes_a_store_that_can_be_searched(tmp_path: Path) -> None:
    def run(*arguments: str, status: int = 0) -> str:
        done = CliRunner().invoke(program, arguments)
        assert done.exit_code == status, done.output
        return done.stdout if status == 0 else done.stderr

    old, new = str(tmp_path / "old"), str(tmp_path / "new")
    memory = json.loads(run("store", "Mara's dog is called Bo.", "--data", old, "--json"))["fingerprintId"]
    counts = json.loads(run("reembed", new, "--data", old, "--embedder", "embedded", "--json"))
    assert Path(counts.pop("backup")).is_dir()
    assert counts == {"folder": new, "embedder": "embedded", "memories": 1, "forgotten": 0, "erased": 0, "links": 0}
    (found,) = json.loads(run("search", "dog", "--data", new, "--json"))["results"]
    assert found["fingerprintId"] == memory
    assert "must be an empty folder" in run("reembed", new, "--data", old, status=1)
    missing = run("search", "dog", "--data", old, "--embedder", "full", "--models", str(tmp_path / "old"), status=1)
    assert "no folder for e1_semantic" in missing
    assert len(missing.splitlines()) == 1


@pytest.mark.anyio
async def test_what_was_merged_or_pruned_stays_so_and_can_still_be_undone(start: Start, tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    small = {"importance": 0.1, "created_at": "2020-02-02T00:00:00+00:00"}
    with start(DuckDBLog(old)) as hub:
        context = Context(hub)
        kept = await store(context, "Mara's dog is called Bo.", tags=["pets"], importance=0.9)
        absorbed = await store(context, "Mara's dog  is called Bo.", tags=["dogs"])
        apart = await store(context, " Mara's dog is called Bo.", tags=["vet"])
        pruned, back, gone = [await store(context, f"Odd sock number {n}.", **small) for n in range(3)]
        run = (await consolidate_memories(context, ConsolidateMemories()))["run_id"]
        await undo_consolidation(context, UndoConsolidation(run_id=UUID(run), memory_id=UUID(apart)))
        await memory_restore(context, MemoryRestore(id=UUID(back)))
        await memory_delete(context, MemoryDelete(id=UUID(gone), soft=False))
        later = await store(context, "Mara's dog is  called Bo.", tags=["home"])
        undone = await consolidate_memories(context, ConsolidateMemories(mode=SleepMode.DEEP, salience_threshold=0))
        await undo_consolidation(context, UndoConsolidation(run_id=UUID(undone["run_id"])))
        before = (await store_status(context))["memories"]
    with start(DuckDBLog(new)) as hub:
        await reembedded(old, hub)
    with start(DuckDBLog(new)) as hub:
        context = Context(hub)
        after = (await store_status(context))["memories"]
        assert before == {"live": 4, "forgotten": 0, "pruned": 1, "merged": 1, "erased": 1, "lost": 0}
        assert after == before | {"erased": 0}
        answer = await memory_retrieve(context, MemoryRetrieve(id=UUID(absorbed)))
        assert (answer["id"], answer["lineage"], answer["tags"]) == (kept, [absorbed], ["pets", "dogs"])
        assert (await memory_retrieve(context, MemoryRetrieve(id=UUID(pruned))))["state"] == "pruned"
        found = {hit["fingerprintId"] for hit in await search(context, "odd sock of Mara's dog", top_k=100)}
        assert found == {kept, apart, later, back}
        listed = (await list_consolidations(context, ListConsolidations()))["runs"]
        assert [one["run_id"] for one in listed] == [run], "the other one hides nothing"
        again = await undo_consolidation(context, UndoConsolidation(run_id=UUID(run)))
        assert {*again["restored"]} == {absorbed, pruned}
        assert (await store_status(context))["memories"]["live"] == 6


@pytest.mark.anyio
async def test_when_a_store_sleeps_is_what_somebody_said_in_the_new_one_too(start: Start, tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    with start(DuckDBLog(old)) as hub:
        context = Context(hub)
        await store(context, "Mara's dog is called Bo.")
        before = await store_schedule(
            context, ChangeSchedules(light="90m", rem="off", paused=True, pruning_permitted=True)
        )
    with start(DuckDBLog(new)) as hub:
        await reembedded(old, hub)
    with start(DuckDBLog(new)) as hub:
        after = await call(Context(hub), BY_METHOD["store/schedule"], {})
    same = ("paused", "pruning_permitted")
    assert [after[name] for name in same] == [before[name] for name in same] == [True, True]
    told = {mode: of["when"] for mode, of in before["modes"].items()}
    assert {mode: of["when"] for mode, of in after["modes"].items()} == told
    assert (told["light"], told["rem"]) == ("90m", None)


@pytest.mark.anyio
async def test_what_somebody_brought_back_is_kept_in_the_new_store_too(start: Start, tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    with start(DuckDBLog(old)) as hub:
        context = Context(hub)
        kept = await store(context, "An odd sock.", importance=0.1, created_at="2020-02-02T00:00:00+00:00")
        assert (await consolidate_memories(context, ConsolidateMemories()))["pruned_count"] == 1
        await memory_restore(context, MemoryRestore(id=UUID(kept)))
        assert (await consolidate_memories(context, ConsolidateMemories()))["pruned_count"] == 0
    with start(DuckDBLog(new)) as hub:
        await reembedded(old, hub)
        context = Context(hub)
        assert (await consolidate_memories(context, ConsolidateMemories()))["pruned_count"] == 0
        assert (await memory_retrieve(context, MemoryRetrieve(id=UUID(kept))))["state"] == "live"
