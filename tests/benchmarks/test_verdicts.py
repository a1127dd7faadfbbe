"""Every verdict of a benchmark can fail: on observations made up for the test, each wrong in one place."""

import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import numpy as np
import pytest
from benchmarks.crash import bit_flips, kills
from benchmarks.crash.audit import Comparison, FileAudit, leaks
from benchmarks.crash.bit_flips import LOST, Fate, Flip, classify, readable
from benchmarks.crash.damaged_store import MEMORY, Observation
from benchmarks.crash.kills import Kill, Outcome
from benchmarks.crash.workload import Memory, Request, State, Tally
from benchmarks.datasets import Document, GradedPair, read_lines
from benchmarks.fuzz.checks import Checker
from benchmarks.fuzz.messages import Message
from benchmarks.fuzz.values import Known
from benchmarks.report import Times, Verdict, publish
from benchmarks.sleep import verdicts as sleep
from benchmarks.sleep.plan import DUPLICATES, NEAR_MISSES, Kind, Plan, make_plan
from benchmarks.sleep.runs import Answers, Decisions, Query, Run, recall
from benchmarks.sleep.texts import NearMisses, respaced
from benchmarks.speed import index, latency
from hypothesis import given
from hypothesis import strategies as st
from typer import BadParameter, Exit

from actors.runtime.actor import EXIT_UNCERTAIN
from events.quantization import directions
from events.storage.chain import GENESIS
from events.verify.report import Problem, Report
from tests.benchmarks.datasets import talk

pytestmark = pytest.mark.benchmarks


def failing(verdicts: list[Verdict]) -> list[str]:
    return [one.what for one in verdicts if one.holds is False]


def test_a_report_with_a_failed_verdict_ends_with_status_1(capsys: pytest.CaptureFixture[str]) -> None:
    publish({"a": [Verdict("holds", {}, holds=True), Verdict("only measured", {})]}, as_json=False)
    with pytest.raises(Exit) as stopped:
        publish({"a": [Verdict("fails", {}, holds=False)]}, as_json=True, seed=1)
    assert stopped.value.exit_code == 1
    assert json.loads(capsys.readouterr().out.rpartition("fail\n")[2])["failed"] == ["a: fails"]


# ── crash ───────────────────────────────────────────────────────────────────────────────────────────

SOUND = Report(events=1, head=GENESIS, acknowledged=GENESIS, sealed=1, shredded=0, problems=())
DAMAGED = msgspec.structs.replace(SOUND, problems=(Problem("keys", None, "it is damaged", ""),))
FILES = FileAudit(report=SOUND, duplicated=(), missing=(), erased=1, leaked=())
OUTCOME = Outcome(
    kills=(Kill("hub", "store", ("store",)),),
    comparisons=(Comparison(acknowledged=5, wrong=(), surplus=0),),
    files=FILES,
    failures=(),
    tally=Tally([Request("store", 0.1, 2)]),
)


def files(**changed: Any) -> FileAudit:
    return msgspec.structs.replace(FILES, **changed)


@pytest.mark.parametrize(
    ("changed", "fails"),
    [
        ({}, []),
        ({"comparisons": (Comparison(5, ("a is forgotten, not live",), 0),)}, ["what was acknowledged is there"]),
        ({"comparisons": ()}, ["what was acknowledged is there"]),
        ({"tally": Tally(missed=["a"])}, ["what was acknowledged is there"]),
        ({"files": files(missing=("key",))}, ["what was acknowledged is there"]),
        ({"files": files(duplicated=("key",))}, ["a request that was sent again is done once"]),
        ({"comparisons": (Comparison(5, (), 1),)}, ["a request that was sent again is done once"]),
        ({"files": files(report=DAMAGED)}, ["the chain is intact"]),
        ({"files": files(leaked=("word in log",))}, ["what was erased is in no file"]),
        ({"files": None}, ["the store opens after every kill"]),
        ({"tally": Tally([Request("store", 0.1, 1, "store: -32603")])}, ["every request is answered"]),
        ({"failures": ("client 1",)}, ["the store opens after every kill", "every request is answered"]),
    ],
)
def test_a_crash_campaign_fails_exactly_where_something_is_wrong(changed: dict[str, Any], fails: list[str]) -> None:
    failed = failing(kills.judge(msgspec.structs.replace(OUTCOME, **changed)))
    assert len(failed) == len(fails)
    assert all(one.startswith(start) for one, start in zip(failed, fails, strict=True))


def test_traces_of_an_erased_memory_are_found_in_any_file(tmp_path: Path) -> None:
    memory = Memory("m", "badegoliru tamifozezi", State.ERASED, (b"a piece of its embedding",))
    (tmp_path / "snapshots").mkdir()
    (tmp_path / "log.duckdb").write_bytes(b"\0tamifozezibo\0")
    (tmp_path / "snapshots" / "rows").write_bytes(b"\1a piece of its embedding\2")
    (tmp_path / "head").write_bytes(b"nothing of the kind")
    assert list(leaks(tmp_path, [memory])) == [
        "tamifozezi of m in log.duckdb",
        f"an embedding of m in {Path('snapshots', 'rows')}",
    ]


RIGHT = {"status": "[1]", "a memory": '"text"'}


@pytest.mark.parametrize(
    ("seen", "fate"),
    [
        (Observation(RIGHT), Fate.RIGHT),
        (Observation({}, ("named",), refused="LogCorruptError"), Fate.REFUSED),
        (Observation(RIGHT | {"a memory": "!-32004 Storage failed"}, ("named",)), Fate.REFUSED_LATER),
        (Observation({"status": "[1]"}, ("named",), status=EXIT_UNCERTAIN), Fate.REFUSED_LATER),
        (Observation(RIGHT | {"a memory": '"texx"'}, ("named",)), Fate.WRONG),
        (Observation(RIGHT | {"a memory": "!-32010 not found"}), Fate.WRONG),
        (Observation({}, status=-11), Fate.DIED),
        (Observation({"status": "[0]", "a memory": f"!-32010 Memory is {LOST}"}, damage="head"), Fate.READ_ONLY),
        (Observation(RIGHT | {"a memory": '[{"content": "invented"}]'}, damage="head"), Fate.WRONG),
    ],
)
def test_the_effect_of_a_flip_is_classified_by_the_answers(seen: Observation, fate: Fate) -> None:
    assert classify(seen, RIGHT)[0] is fate


def retrieved(*memories: tuple[str, float, float]) -> dict[str, str]:
    """Return answers about memories, with one number for E1 and one for E8."""
    vectors = [{"e1_semantic": [meaning], "e8_graph": [graph]} for _, meaning, graph in memories]
    answers = [
        {"content": one[0], "embeddings": {name: {} for name in found if any(found[name])}, "vectors": found}
        for one, found in zip(memories, vectors, strict=True)
    ]
    return {f"{MEMORY} {number}": json.dumps(answer) for number, answer in enumerate(answers)}


def test_of_other_memories_than_the_lost_one_all_but_the_graph_is_compared() -> None:
    right = retrieved(("one", 1, 1), ("two", 2, 2), ("three", 3, 3))
    lost = {f"{MEMORY} 0": f"!-32010 Memory is {LOST}"}
    assert readable(Observation(retrieved(("one", 1, 1), ("two", 2, 9), ("three", 3, 0)) | lost), right) == 1
    assert readable(Observation(retrieved(("one", 1, 1), ("two", 9, 2), ("three", 3, 3)) | lost), right) == 0.5
    assert readable(Observation(retrieved(("one", 1, 1), ("twx", 2, 2), ("three", 3, 3)) | lost), right) == 0.5


def flip(fate: Fate, *, detected: bool, file: str = "log.duckdb", **seen: Any) -> Flip:
    observation = Observation({}, ("named",) if detected else (), **seen)
    return Flip(store="closed", file=file, offset=1, mask=1, seen=observation, fate=fate, why="")


@pytest.mark.parametrize(
    ("seen", "fails"),
    [
        (flip(Fate.RIGHT, detected=False), []),
        (flip(Fate.REFUSED, detected=True), []),
        (flip(Fate.READ_ONLY, detected=True, lost=1), []),
        (flip(Fate.READ_ONLY, detected=True, lost=2), ["`repair` keeps all events but the one whose byte changed"]),
        (
            flip(Fate.REFUSED, detected=True, unrepaired="no"),
            ["`repair` keeps all events but the one whose byte changed"],
        ),
        (flip(Fate.WRONG, detected=True), ["no wrong answer is given"]),
        (flip(Fate.DIED, detected=True), ["no wrong answer is given"]),
        (flip(Fate.REFUSED, detected=False), ["`verify` names whatever isn't harmless"]),
        (flip(Fate.RIGHT, detected=True, changed=True), ["`verify` changes nothing"]),
        (
            flip(Fate.RIGHT, detected=True, snapshot_used=True, file="snapshot: manifest"),
            ["an undamaged snapshot is used, and a damaged one isn't"],
        ),
    ],
)
def test_a_flip_may_be_harmless_or_named_but_never_lead_to_a_wrong_answer(seen: Flip, fails: list[str]) -> None:
    assert failing(bit_flips.judge([seen], {"closed": True})) == fails
    assert len(failing(bit_flips.judge([seen], {"closed": False}))) >= 1, "a snapshot that is never used fails"


# ── sleep ───────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def plan() -> Plan:
    return make_plan([talk(460)], 400, datetime(2026, 11, 21, tzinfo=UTC))


def test_as_many_duplicates_and_low_value_texts_are_planned_as_needed(plan: Plan) -> None:
    counts = Counter(item.kind for item in plan.items)
    assert len(plan.items) == 400
    assert counts[Kind.LOW_VALUE] == 20
    assert {counts[kind] for kind in (*DUPLICATES, *NEAR_MISSES)} == {5}
    assert {counts[kind] for kind in (Kind.YOUNG, Kind.IMPORTANT, Kind.LINKED)} == {1}
    assert make_plan([talk(460)], 400, datetime(2026, 11, 21, tzinfo=UTC)) == plan
    for item in plan.items:
        if item.original is not None:
            said, again = plan.items[item.original].text.split(), item.text.split()
            assert (said == again) is (item.kind in DUPLICATES)


@given(
    st.lists(st.sampled_from("boats floated Ana Otto was not 12 the".split()), min_size=1),
    st.randoms(use_true_random=False),
)
def test_a_copy_has_the_same_words_and_a_near_miss_differs_in_one(words: list[str], rng: Random) -> None:
    text = " ".join(words)
    assert respaced(text, rng, code=False).split() == words
    changes = NearMisses(["Ana painted boats.", "Otto mended coats."], rng)
    for change, able in (
        (changes.word, {"boats", "floated"}),
        (changes.number, {"12"}),
        (changes.name, {"Ana", "Otto"}),
    ):
        again = change(text)
        assert (again is None) is not (able & {*words})
        if again is not None:
            ((old, _),) = [pair for pair in zip(words, again.split(), strict=True) if pair[0] != pair[1]]
            assert old in able
    negated = changes.negation(text)
    assert negated is None or len(negated.split()) == len(words) + 1


def ids(plan: Plan) -> dict[int, str]:
    return {place: f"memory {place}" for place in range(len(plan.items))}


def merged(plan: Plan, *kinds: Kind) -> dict[str, str]:
    """Survivors by absorbed memory: every other duplicate survives its original, the rest are absorbed."""
    pairs = [(f"memory {place}", f"memory {plan.items[place].original}") for place in plan.places(*kinds)]
    return dict(pair if number % 2 else pair[::-1] for number, pair in enumerate(pairs))


def test_a_missing_duplicate_and_a_wrong_pair_fail(plan: Plan) -> None:
    right = merged(plan, Kind.EXACT, Kind.RESPACED)
    assert failing(sleep.judge_merges(plan, ids(plan), right, "light")) == []
    few = sleep.judge_merges(plan, ids(plan), merged(plan, Kind.EXACT), "deep")
    assert failing(few) == ["re-spaced: all are found"]
    stranger = f"memory {plan.places(Kind.LOW_VALUE)[0]}"
    wrong = sleep.judge_merges(plan, ids(plan), {**right, stranger: next(iter(right.values()))}, "light")
    assert failing(wrong) == ["nothing is merged that isn't planted"]
    assert wrong[0].figures["precision"] == pytest.approx(5 / 6)
    missed = sleep.judge_merges(plan, ids(plan), right | merged(plan, Kind.NEGATED), "deep")
    assert failing(missed) == ["negated: none is merged"]


def test_pruning_a_protected_memory_fails_and_so_does_keeping_a_low_value_one(plan: Plan) -> None:
    low_value = {f"memory {place}" for place in plan.places(Kind.LOW_VALUE)}
    assert failing(sleep.judge_pruning(plan, ids(plan), decisions(pruned=low_value))) == []
    young = {f"memory {plan.places(Kind.YOUNG)[0]}"}
    assert failing(sleep.judge_pruning(plan, ids(plan), decisions(pruned=low_value | young))) == [
        "nothing that is protected is pruned"
    ]
    assert failing(sleep.judge_pruning(plan, ids(plan), decisions())) == ["what is trivial is pruned"]


def decisions(*, pruned: set[str] | frozenset[str] = frozenset()) -> Decisions:
    return Decisions({}, frozenset(pruned))


def test_an_undo_that_does_not_restore_every_answer_fails() -> None:
    found = Answers(((("a", 0.5), ("b", 0.4)),), (1.0,))
    run = Run({}, decisions(), before=found, consolidated=Answers(((("a", 0.5),),), (1.0,)), undone=found)
    assert sleep.judge_undo(run).holds
    changed = msgspec.structs.replace(run, undone=Answers(((("a", 0.5), ("b", 0.4001)),), (1.0,)))
    assert sleep.judge_undo(changed).holds is False


def test_an_absorbed_memory_counts_as_found_with_its_survivor() -> None:
    queries = [Query("talk", {}, ("a", "b")), Query("talk", {}, ("x",))]
    found = Answers(((("c", 1.0),), (("x", 1.0),)), (1.0, 1.0))
    assert recall(found, queries, {}) == {"talk": 0.5}
    assert recall(found, queries, {"a": "b", "b": "c"}) == {"talk": 1.0}


def test_searches_more_than_twice_as_slow_beside_a_run_fail() -> None:
    assert sleep.judge_latency([1.0, 2.0, 3.0], [4.0, 4.0]).holds
    assert sleep.judge_latency([1.0, 2.0, 3.0], [4.0, 4.1]).holds is False


# ── index and fuzz ──────────────────────────────────────────────────────────────────────────────────


def test_synthetic_vectors_of_one_topic_are_neighbours_and_others_are_not() -> None:
    rng = np.random.default_rng(7)
    topics = np.eye(384, dtype=np.float32)[:2]
    near, far = (directions(index.draw(40, topics[place : place + 1], rng)) for place in (0, 1))
    assert np.median(near @ near.T) > 1 / (1 + index.OWN[1] ** 2)
    assert abs(np.median(near @ far.T)) < 0.1


def lines(vectors: int, scanned: float, found: float, filtered: float) -> list[index.Line]:
    took = {rows: scanned if rows == "all" else filtered for rows in index.SHARES}
    return [index.Line(vectors, rows, found, milliseconds, exact_ms=1.0) for rows, milliseconds in took.items()]


def test_an_index_that_misses_too_much_or_is_slower_than_a_scan_fails() -> None:
    def held(*arguments: float) -> list[bool | None]:
        return [verdict.holds for verdict in index.judge(lines(300_000, *arguments))]

    assert held(0.5, 0.99, 0.9) == [True, True, True]
    assert held(1.2, 0.98, 0.9) == [False, False, True]
    assert held(0.5, 0.99, 2.0) == [True, True, False]
    small = index.judge(lines(400, 1.1, 1.0, 0.9))
    assert [verdict.holds for verdict in small] == [True, None, True]


def answer(**parts: Any) -> str:
    return json.dumps({"jsonrpc": "2.0", **parts})


@pytest.mark.parametrize(
    ("line", "fails"),
    [
        (answer(id=1, result={}), []),
        ("{", ["no JSON"]),
        (answer(id=1), ["neither result nor error"]),
        (answer(id=9, result={}), ["more answers than requests"]),
        (answer(id=1, error={"code": -32603, "message": "oh"}), ["an undocumented code"]),
        (answer(id=1, error={"code": -32602, "message": "ValueError in log.py"}), ["shows ["]),
        (answer(id=1, error={"code": -32602, "message": "y" * 10_000}), ["an error as long"]),
    ],
)
def test_the_fuzzer_notices_a_wrong_answer(tmp_path: Path, line: str, fails: list[str]) -> None:
    checker = Checker(Known(canary=""), tmp_path)
    checker.sent(Message(0, b"{}", 1))
    checker.received(line)
    assert [failure.what.startswith(start) for failure, start in zip(checker.failures, fails, strict=True)] == [
        True for _ in fails
    ]


def test_the_fuzzer_notices_a_missing_answer_and_a_memory_of_another_namespace(tmp_path: Path) -> None:
    checker = Checker(Known(canary=""), tmp_path)
    checker.known.namespaces["m"] = "a"
    checker.sent(Message(0, b"{}", 1))
    checker.sent(Message(1, b"{}", 2, "search_graph", {"namespace": "b"}))
    checker.received(answer(id=2, result={"results": [{"fingerprintId": "m", "content": "secret"}]}))
    checker.timed_out()
    assert [failure.what for failure in checker.failures] == ["shows m of namespace 'a': secret", "no answer"]


def test_a_ratio_a_rate_a_tail_or_a_budget_that_is_missed_fails() -> None:
    times = Times()
    times["inject 20"], times["bare inject 20"] = [4.0], [2.0]
    times["batch 20"], times["bare batch 20"] = [100.0], [60.0]
    times["inject"], times["search"] = [25.0], [9.0]
    assert latency.judge_passes("inject", times, "inject 20", 2.0).holds
    assert latency.judge_rate(times, 20).holds
    assert [one.holds for one in latency.judge_times(times)] == [None] * 4 + [True, None]
    assert latency.judge_tail([1.0, 1.0, 2.0]).holds
    times["inject 20"], times["batch 20"], times["inject"] = [4.1], [101.0], [25.1]
    assert latency.judge_passes("inject", times, "inject 20", 2.0).holds is False
    assert latency.judge_rate(times, 20).holds is False
    assert [one.holds for one in latency.judge_times(times)] == [None] * 4 + [False, None]
    assert latency.judge_tail([1.0, 1.0, 2.2]).holds is False


@pytest.mark.parametrize("kind", [GradedPair, Document])
@pytest.mark.parametrize("line", ["no JSON", '{"text_a": 1, "_id": 1}', '{"text_a": "\udcff"'])
def test_a_file_that_holds_other_lines_is_named_with_the_line(tmp_path: Path, kind: type, line: str) -> None:
    file = tmp_path / "other"
    file.write_bytes(b"\n" + line.encode(errors="surrogateescape"))
    with pytest.raises(BadParameter, match=f"{file}, line 2: "):
        read_lines(file, kind)
