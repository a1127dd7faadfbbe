"""What `consolidate_memories` takes and answers, and which memories it holds for the same."""

import threading
from typing import Any

import pytest

from actors.api.context import Context
from actors.api.operations.administration.maintenance import store_status
from actors.api.tools.agent_tools import BY_NAME
from actors.api.tools.rate_limits import Limits
from events.vocabulary import ConsolidationFinished, ConsolidationStarted, MemoriesMerged
from events.vocabulary.values import Outcome
from tests.actors.api.conftest import Bed, Way
from tests.actors.api.sleeper import MODES, Sleeper, counts, end, found, hits, kinds, meanwhile, merges, settled
from tests.actors.api.stream import Lasting
from tests.actors.conftest import Connect, store
from tests.actors.consolidator.planted_memories import Kind

pytestmark = pytest.mark.anyio

COPIES = (Kind.EXACT, Kind.RESPACED)
LOAVES = "The baker sold all forty loaves of rye bread before ten in the morning."


async def tell(bed: Sleeper, *texts: str, **more: Any) -> list[str]:
    """Store texts that have nothing to do with what is planted."""
    told = [await bed.mind("store_memory", content=text, namespace="shelf", **more) for text in texts]
    return [answer["fingerprintId"] for answer in told]


@pytest.mark.requirement("INTEG-013/mode", "INTEG-013/salience-threshold", "INTEG-013/max-memories")
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("mode", "nap"),
        ("mode", "dream"),
        ("salience_threshold", -0.1),
        ("salience_threshold", 1.1),
        ("salience_threshold", "high"),
        ("max_memories", -1),
        ("max_memories", 1.5),
        ("max_memories", 1_000_000_001),
        ("max_memories", 2**64),
        ("max_seconds", 0),
        ("dry_run", "yes"),
        ("namespace", 7),
        ("colour", "red"),
    ],
)
async def test_invalid_parameters_are_refused_by_name(way: Way, field: str, value: Any) -> None:
    error = await way.refused("consolidate_memories", **{field: value})
    assert error["code"] == -32602
    assert field in error["message"]
    runs = await way("list_consolidations")
    assert runs["runs"] == []


async def test_a_threshold_that_is_no_number_is_refused(sleeper: Sleeper) -> None:
    fault = await sleeper.refused("consolidate_memories", salience_threshold=float("nan"))
    assert (fault.code, "salience_threshold" in fault.message) == (-32602, True)


@pytest.mark.requirement("INTEG-013/empty-store", "INTEG-013/answer", "INTEG-013/arch-06/boundary")
@pytest.mark.parametrize("mode", MODES)
async def test_an_empty_store_sleeps_well(way: Way, mode: str) -> None:
    answer = await way("consolidate_memories", mode=mode)
    zeros = ("pruned_count", "merged_count", "clusters_discovered", "final_memory_count", "memories_looked_at")
    assert {name: answer[name] for name in zeros} == dict.fromkeys(zeros, 0)
    assert (answer["mode"], answer["outcome"], answer["dry_run"], answer["new_patterns"]) == (
        mode,
        "finished",
        False,
        [],
    )
    assert answer["duration_ms"] >= 0


@pytest.mark.requirement("INTEG-013/dry-run-default")
async def test_without_arguments_a_light_run_at_the_threshold_of_the_seed_does_what_it_says(sleeper: Sleeper) -> None:
    answer = await sleeper.mind("consolidate_memories")
    assert (answer["mode"], answer["dry_run"], answer["namespace"]) == ("light", False, None)
    (started,) = found(sleeper.log, ConsolidationStarted)
    assert (started.salience_threshold, started.max_memories, started.thorough) == (0.3, 0, True)
    assert len(found(sleeper.log, MemoriesMerged)) == answer["merged_count"] > 0
    status = await store_status(sleeper.mind.context)
    assert answer["final_memory_count"] == status["memories"]["live"]
    assert answer["final_memory_count"] == 52 - answer["merged_count"] - answer["pruned_count"]


@pytest.mark.requirement("INTEG-013/light/duplicates", "INTEG-013/light/no-clusters", "INTEG-013/time-left-out")
async def test_light_merges_copies_whenever_they_were_told_and_nothing_else(sleeper: Sleeper) -> None:
    days = [memory.arguments["created_at"][:10] for memory in sleeper.planted.told]
    again = sleeper.planted.repeats(*COPIES)
    assert all(days[sleeper.planted.ids.index(one)] != days[sleeper.planted.ids.index(again[one])] for one in again)
    answer = await sleeper("light")
    assert merges(answer) == again
    assert (answer["merged_count"], answer["clusters_discovered"], answer["new_patterns"]) == (len(again), 0, [])
    assert kinds(sleeper.log)["ClustersFormed"] == 0


@pytest.mark.requirement("INTEG-013/deep/duplicates")
async def test_deep_merges_what_differs_in_a_synonym_and_nothing_else(sleeper: Sleeper) -> None:
    answer = await sleeper("deep")
    assert merges(answer) == sleeper.planted.repeats(*COPIES, Kind.ONE_WORD)
    similar = {one["id"]: one["similarity"] for merge in answer["merges"] for one in merge["absorbed"]}
    assert {similar[one] for one in sleeper.planted.of(*COPIES)} == {1.0}
    assert all(0.9 < similar[one] < 1 for one in sleeper.planted.of(Kind.ONE_WORD))


async def test_light_merges_the_same_words_above_its_limit_and_deep_synonyms_above_a_lower_one(
    sleeper: Sleeper,
) -> None:
    near = "Rye bread really sells out by ten on Fridays, while the brioche is left over."
    (kept,) = [one for one in sleeper.planted.ids if (await sleeper.memory(one))["content"].startswith("Rye bread")]
    (other,) = [(await sleeper.mind("store_memory", content=near))["fingerprintId"]]
    answer = await sleeper("light", dry_run=True)
    similar = {one["id"]: one["similarity"] for merge in answer["merges"] for one in merge["absorbed"]}
    assert merges(answer)[other] == kept
    assert 0.95 < similar[other] < 1
    deep = await sleeper("deep", dry_run=True)
    lower = {one["id"]: one["similarity"] for merge in deep["merges"] for one in merge["absorbed"]}
    assert similar.items() <= lower.items()
    assert all(0.9 < lower[one] < 1 for one in lower.keys() - similar.keys())
    assert lower.keys() - similar.keys() == {*sleeper.planted.of(Kind.ONE_WORD)}


@pytest.mark.parametrize(
    "other",
    [
        LOAVES.replace("forty", "fifty"),
        LOAVES.replace("ten", "11:30"),
        LOAVES.replace("morning", "evening"),
        LOAVES.replace("sold", "never sold"),
        LOAVES.replace("The baker", "Anneke"),
    ],
)
async def test_a_changed_fact_keeps_memories_apart_in_every_mode(sleeper: Sleeper, other: str) -> None:
    told = await tell(sleeper, LOAVES, other)
    for mode in MODES:
        assert (await sleeper(mode, namespace="shelf"))["merged_count"] == 0
    assert set(await hits(sleeper.mind, LOAVES, namespace="shelf")) == {*told}


async def test_the_same_text_in_two_namespaces_is_two_memories(sleeper: Sleeper) -> None:
    await tell(sleeper, LOAVES)
    await sleeper.mind("store_memory", content=LOAVES, namespace="cellar")
    assert (await sleeper("deep", namespace="shelf"))["merged_count"] == 0
    everywhere = await sleeper("deep")
    assert merges(everywhere) == sleeper.planted.repeats(*COPIES, Kind.ONE_WORD)


async def test_copies_in_different_sessions_and_years_are_one(sleeper: Sleeper) -> None:
    first, second, third = [
        (await tell(sleeper, LOAVES, session=session, created_at=f"{year}-05-05T05:05:05+00:00"))[0]
        for session, year in (("a", 2024), ("b", 2020), ("c", 2026))
    ]
    answer = await sleeper("light", namespace="shelf", salience_threshold=0)
    assert merges(answer) == {first: second, third: second}, "the oldest survives among equally important ones"


@pytest.mark.requirement("INTEG-013/merged-chains")
async def test_duplicates_of_duplicates_have_one_survivor_the_most_important(sleeper: Sleeper) -> None:
    step = "We selected a matte green for the shop front since it goes well with the brass sign."
    planted = sleeper.planted
    (changed,) = [one for one in planted.of(Kind.ONE_WORD) if "picked" in (await sleeper.memory(one))["content"]]
    (last,) = [(await sleeper.mind("store_memory", content=step, importance=0.9))["fingerprintId"]]
    answer = await sleeper("deep")
    assert {one: into for one, into in merges(answer).items() if into == last} == {
        changed: last,
        planted.repeats(Kind.ONE_WORD)[changed]: last,
    }


@pytest.mark.parametrize("mode", MODES)
async def test_max_memories_caps_what_is_looked_at_to_the_latest(sleeper: Sleeper, mode: str) -> None:
    last = len(sleeper.planted.repeats(*COPIES, Kind.ONE_WORD, Kind.PARAPHRASED))
    answer = await sleeper(mode, max_memories=last)
    assert answer["memories_looked_at"] == last
    assert (answer["merged_count"], answer["pruned_count"]) == (0, 0), "what they repeat was told earlier"
    assert answer["final_memory_count"] == 52
    whole = await sleeper(mode, max_memories=1_000)
    assert whole["memories_looked_at"] == 52
    assert whole["merged_count"] > 0


async def test_a_namespace_that_sleeps_leaves_the_others_alone(sleeper: Sleeper) -> None:
    kept, twin = await tell(sleeper, LOAVES, LOAVES)
    answer = await sleeper("deep", namespace="shelf")
    assert (answer["memories_looked_at"], answer["final_memory_count"], answer["namespace"]) == (2, 1, "shelf")
    assert merges(answer) == {twin: kept}
    assert all([(await sleeper.memory(one))["id"] == one for one in sleeper.planted.ids])


@pytest.mark.requirement("INTEG-013/dry-run-counts", "INTEG-013/dry-run-changes-nothing")
@pytest.mark.parametrize("mode", MODES)
async def test_a_dry_run_counts_what_the_run_does_and_changes_nothing(sleeper: Sleeper, mode: str) -> None:
    before = [await sleeper.memory(one) for one in sleeper.planted.ids]
    await settled(sleeper.mind)
    start = end(sleeper.log)
    dry = await sleeper(mode, dry_run=True)
    assert kinds(sleeper.log, start) == {"ConsolidationStarted": 1, "ConsolidationFinished": 1}
    assert [await sleeper.memory(one) for one in sleeper.planted.ids] == before
    assert dry["final_memory_count"] == 52
    real = await sleeper(mode)
    assert counts(dry) == counts(real)
    assert (dry["merges"], dry["pruned"]) == (real["merges"], real["pruned"])
    assert real["merged_count"] > 0
    assert real["pruned_count"] > 0
    merged = found(sleeper.log, MemoriesMerged)
    assert sum(len(event.absorbed) for event in merged) == dry["merged_count"]


@pytest.mark.requirement("INTEG-013/time-limit")
@pytest.mark.parametrize("mode", MODES)
async def test_a_run_that_reaches_its_time_limit_changes_nothing(sleeper: Sleeper, mode: str) -> None:
    await settled(sleeper.mind)
    start = end(sleeper.log)
    answer = await sleeper(mode, max_seconds=1e-6)
    assert answer["outcome"] == "timed_out"
    assert "max_seconds" in answer["reason"]
    assert not any(counts(answer).values())
    assert answer["final_memory_count"] == 52
    assert kinds(sleeper.log, start) == {"ConsolidationStarted": 1, "ConsolidationFinished": 1}
    (run,) = (await sleeper.mind("list_consolidations", run_id=answer["run_id"]))["runs"]
    assert (run["outcome"], run["can_be_undone"], run["merges"]) == ("timed_out", False, [])
    assert (await sleeper(mode, max_seconds=60))["merged_count"] > 0


@pytest.mark.requirement("INTEG-013/rate-limit", "INTEG-013/rate-limit-per-session")
async def test_a_second_call_within_a_minute_is_refused_in_its_session_alone(
    context: Context, connect: Connect
) -> None:
    clock = [1_000.0]
    await store(context, "A fox jumps.")
    async with (
        connect(context, Limits(clock=lambda: clock[0])) as one,
        connect(context, Limits(clock=lambda: clock[0])) as other,
    ):
        assert (await one.refused("consolidate_memories", mode="nap"))["code"] == -32602, "which doesn't count"
        await one.call("consolidate_memories")
        clock[0] += 20
        for error in (
            await one.refused("consolidate_memories"),
            await one.request_refused(BY_NAME["consolidate_memories"].method, mode="deep"),
        ):
            assert error["code"] == -32001
            assert error["data"]["retry_after_ms"] == 40_000
        runs = (await one.call("list_consolidations"))["runs"]
        assert len(runs) == 1, "what was refused didn't begin"
        await store(context, "A fox jumps.")
        assert (await other.call("consolidate_memories"))["merged_count"] == 1
        clock[0] += 40
        assert (await one.call("consolidate_memories"))["merged_count"] == 0


async def test_the_run_that_a_dry_run_prepares_may_follow_at_once(context: Context, connect: Connect) -> None:
    fox, twin = [await store(context, "A fox jumps.") for _ in range(2)]
    async with connect(context, Limits(clock=lambda: 1_000.0)) as agent:
        dry = await agent.call("consolidate_memories", dry_run=True)
        error = await agent.refused("consolidate_memories", dry_run=True)
        assert (error["code"], "'consolidate_memories' as a dry run" in error["message"]) == (-32001, True)
        assert (await agent.call("memory_retrieve", id=twin))["id"] == twin
        assert (await agent.call("consolidate_memories"))["merged_count"] == dry["merged_count"] == 1
        assert (await agent.call("memory_retrieve", id=twin))["id"] == fox
        assert (await agent.refused("consolidate_memories"))["code"] == -32001


async def test_a_run_that_is_given_up_changes_nothing(sleeper: Sleeper) -> None:
    await settled(sleeper.mind)
    start = end(sleeper.log)
    cancelled = threading.Event()

    async def give_up() -> None:
        cancelled.set()

    slept = await meanwhile(sleeper, "deep", give_up, cancelled=cancelled)
    assert slept.finished.outcome is Outcome.ABORTED
    assert kinds(sleeper.log, start) == {"ConsolidationStarted": 1, "ConsolidationFinished": 1}
    (finished,) = found(sleeper.log, ConsolidationFinished)
    assert (finished.outcome, finished.counts.merged) == (Outcome.ABORTED, 0)


async def test_what_is_stored_or_deleted_while_a_run_decides_is_not_lost(sleeper: Sleeper) -> None:
    planted = sleeper.planted
    again = planted.repeats(*COPIES)
    (absorbed, survivor), (kept, gone), *_ = again.items()
    trivial = planted.of(Kind.TRIVIAL)[0]
    new: list[str] = []

    async def happen() -> None:
        new.append((await sleeper.mind("store_memory", content="Something new."))["fingerprintId"])
        await sleeper.mind("memory_delete", id=absorbed, soft=False)
        await sleeper.mind("memory_delete", id=gone)
        await sleeper.mind("memory_delete", id=trivial)

    slept = await meanwhile(sleeper, "deep", happen)
    assert slept.finished.outcome is Outcome.FINISHED
    into = {str(one): str(merge.survivor) for merge in slept.merged for one in merge.absorbed}
    expected = planted.repeats(*COPIES, Kind.ONE_WORD)
    assert into == {one: into for one, into in expected.items() if one not in {absorbed, kept}}
    assert trivial not in {str(one.memory) for one in slept.pruned}
    status = (await store_status(sleeper.mind.context))["memories"]
    assert (status["erased"], status["forgotten"]) == (1, 2)
    assert slept.finished.memories == status["live"]
    assert (slept.finished.counts.merged, slept.finished.counts.pruned) == (status["merged"], status["pruned"])
    for memory in (new[0], kept, survivor):
        assert (await sleeper.memory(memory))["id"] == memory
    for memory in (gone, trivial):
        assert (await sleeper.memory(memory))["state"] == "forgotten"
    assert (await sleeper.refused("memory_retrieve", id=absorbed)).code == -32010


@pytest.mark.parametrize("during", ["texts read", "memories clustered"])
async def test_what_is_erased_while_a_run_decides_stays_out_of_it_and_the_run_goes_on(
    sleeper: Sleeper, during: str
) -> None:
    planted = sleeper.planted
    (absorbed, left), (freed, survivor), *_ = planted.repeats(*COPIES).items()
    erased = {absorbed, survivor, planted.of(Kind.TRIVIAL)[0], planted.of(Kind.ORDINARY)[2]}

    async def erase() -> None:
        for memory in erased:
            await sleeper.mind("memory_delete", id=memory, soft=False)

    slept = await meanwhile(sleeper, "deep", erase, during=during)
    assert slept.finished.outcome is Outcome.FINISHED
    touched = {str(one) for merge in slept.merged for one in (merge.survivor, *merge.absorbed)}
    touched |= {str(one.memory) for one in slept.pruned}
    assert touched
    assert not touched & erased
    status = (await store_status(sleeper.mind.context))["memories"]
    assert (status["erased"], status["live"]) == (4, slept.finished.memories)
    assert (slept.finished.counts.merged, slept.finished.counts.pruned) == (status["merged"], status["pruned"])
    for memory in (left, freed):
        assert (await sleeper.memory(memory))["id"] == memory


async def test_of_much_that_a_run_did_its_answer_tells_a_part_and_says_how_much_is_left(sleeper: Sleeper) -> None:
    small = {"importance": 0.1, "created_at": "2020-02-02T00:00:00+00:00"}
    planted = len(sleeper.planted.repeats(*COPIES)), len(sleeper.planted.of(Kind.TRIVIAL))
    some = await sleeper("light", dry_run=True)
    assert (some["merges_not_shown"], some["pruned_not_shown"]) == (0, 0)
    for number in range(22):
        for _ in range(2):
            await tell(sleeper, f"Berth {number} at the pier is let.")
        await tell(sleeper, f"A gull with {number} spots sat there.", **small)
    answer = await sleeper("light")
    assert (len(answer["merges"]), answer["merges_not_shown"]) == (20, planted[0] + 2)
    assert (len(answer["pruned"]), answer["pruned_not_shown"]) == (20, planted[1] + 2)
    (whole,) = (await sleeper.mind("list_consolidations", run_id=answer["run_id"]))["runs"]
    assert (len(whole["merges"]), len(whole["pruned"])) == (planted[0] + 22, planted[1] + 22)


async def test_a_restart_knows_the_same(bed: Bed) -> None:
    with bed() as sleeper:
        answer = await sleeper("rem")
        runs = await sleeper.mind("list_consolidations", run_id=answer["run_id"])
        known = [await sleeper.memory(one) for one in sleeper.planted.ids]
        log = sleeper.log
        await settled(sleeper.mind)
    assert isinstance(log, Lasting)
    with bed(log) as again:
        assert await again.mind("list_consolidations", run_id=answer["run_id"]) == runs
        assert [await again.memory(one) for one in again.planted.ids] == known
        assert (await again("rem"))["merged_count"] == 0
