"""The benchmarks of crashes and of scale: a small run of each, and how they judge what they see."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest

from actors.runtime.actor import EXIT_UNCERTAIN
from events.storage.chain import GENESIS
from events.verify.examination import Problem, Report

sys.path.append(str(Path(__file__).parents[2] / "scripts"))  # what people run is no package

from benchmarks.crash.checking import Compared, Remains, betrayed
from benchmarks.crash.client import ERASED, Memory
from benchmarks.crash.flipping import Fate, Flip, judged
from benchmarks.crash.judging import survived, unnoticed
from benchmarks.crash.killing import Kill, Outcome, Victim
from benchmarks.crash.store import Seen

SCRIPT = Path(__file__).parents[2] / "scripts" / "bench.py"
PATIENCE = 300.0


def run(*arguments: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, SCRIPT, *arguments, "--json"], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def by_name(section: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {verdict["what"]: verdict for verdict in section}


@pytest.mark.slow
def test_a_few_kills_and_flips_lose_nothing_and_are_all_counted() -> None:
    report = run("crash", "--kills", "2", "--clients", "2", "--flips", "14")
    assert report["failed"] == []
    killed = by_name(report["sections"]["kill -9"])
    there = killed["what was acknowledged is there as it was acknowledged"]["figures"]
    assert sum(there["kills"].values()) == 2
    assert there["found"] == there["acknowledged"] > 0
    assert killed["every request is answered, and as if nothing had happened"]["figures"]["requests"] > 0
    flipped = by_name(report["sections"]["flipped bytes"])
    assert flipped["no wrong answer is given"]["figures"]["flips"] == 14
    assert {"closed: log.duckdb", "killed: log.duckdb.wal", "killed: head", "killed: keys"} <= flipped.keys()


@pytest.mark.slow
def test_storing_and_starting_are_measured_beside_what_was_promised() -> None:
    report = run("scale", "--memories", "40", "--clients", "2", "--stores", "5", "--rounds", "1")
    assert report["failed"] == []
    stored = report["sections"]["storing"]
    assert [one["figures"]["stored"] for one in stored if "stored" in one["figures"]] == [5, 10, 10]
    started = by_name(report["sections"]["starting"])
    assert started.keys() == {
        "an empty store: the models",
        "40 memories, replayed",
        "40 memories, from a snapshot",
    }
    assert all(one["figures"]["first search answered, s"] > 0 for one in started.values())


# ── judging kills ───────────────────────────────────────────────────────────────────────────────────

SOUND = Report(events=1, head=GENESIS, acknowledged=GENESIS, sealed=1, shredded=0, problems=())
DAMAGED = msgspec.structs.replace(SOUND, problems=(Problem("keys", None, "it is damaged", ""),))
LEFT = Remains(report=SOUND, duplicated=(), missing=(), erased=1, betrayed=())
WELL = Outcome(
    kills=(Kill(Victim.HUB, "store", ("store",), 1.0),),
    compared=(Compared(acknowledged=5, found=5, wrong=(), surplus=0),),
    remains=LEFT,
    failures=(),
    requests=9,
    sent_again=1,
    longest=1.0,
    refused_starts=0,
    missed=0,
    errors=Counter(),
    took={"store": 0.1},
)


def failing(**changed: Any) -> list[str]:
    return [one.what for one in survived(msgspec.structs.replace(WELL, **changed)) if one.holds is False]


def left(**changed: Any) -> Remains:
    return msgspec.structs.replace(LEFT, **changed)


def test_a_campaign_that_lost_nothing_passes() -> None:
    assert failing() == []


@pytest.mark.parametrize(
    ("changed", "fails"),
    [
        ({"compared": (Compared(5, 4, ("a is forgotten, not live",), 0),)}, "what was acknowledged is there"),
        ({"remains": left(missing=("key",))}, "what was acknowledged is there"),
        ({"remains": None}, "the store opens after every kill"),
        ({"missed": 1}, "what was acknowledged is there"),
        ({"compared": ()}, "what was acknowledged is there"),
        ({"remains": left(duplicated=("key",))}, "a request that was sent again is done once"),
        ({"compared": (Compared(5, 5, (), 1),)}, "a request that was sent again is done once"),
        ({"remains": left(report=DAMAGED)}, "the chain is intact"),
        ({"remains": left(betrayed=("word in log",))}, "what was erased is in no file"),
        ({"errors": Counter({"store: -32603": 1})}, "every request is answered"),
    ],
)
def test_whatever_is_amiss_fails_just_its_own_verdict(changed: dict[str, Any], fails: str) -> None:
    (failed,) = failing(**changed)
    assert failed.startswith(fails)


def test_a_client_that_was_never_answered_says_that_the_store_did_not_open() -> None:
    failed = failing(failures=("client 1: TimeoutError()",))
    assert failed == [
        "the store opens after every kill",
        "every request is answered, and as if nothing had happened",
    ]


def test_what_is_left_of_an_erased_memory_is_found_in_any_file(tmp_path: Path) -> None:
    memory = Memory("m", "badegoliru tamifozezi", ERASED, (b"a piece of its embedding",))
    (tmp_path / "snapshots").mkdir()
    (tmp_path / "log.duckdb").write_bytes(b"\0tamifozezibo\0")
    (tmp_path / "snapshots" / "rows").write_bytes(b"\1a piece of its embedding\2")
    (tmp_path / "head").write_bytes(b"nothing of the kind")
    assert list(betrayed(tmp_path, [memory])) == [
        "tamifozezi of m in log.duckdb",
        f"an embedding of m in {Path('snapshots', 'rows')}",
    ]


# ── judging flips ───────────────────────────────────────────────────────────────────────────────────

SNAPSHOTS_BELIEVED = "an undamaged snapshot is used, and a damaged one isn't"
RIGHT = {"status": "[1]", "a memory": '"text"'}


@pytest.mark.parametrize(
    ("seen", "fate"),
    [
        (Seen(RIGHT), Fate.RIGHT),
        (Seen({}, ("named",), refused="LogCorruptError"), Fate.REFUSED),
        (Seen(RIGHT | {"a memory": "!-32004 Storage failed"}, ("named",)), Fate.REFUSED_LATER),
        (Seen({"status": "[1]"}, ("named",), status=EXIT_UNCERTAIN), Fate.REFUSED_LATER),
        (Seen(RIGHT | {"a memory": '"texx"'}, ("named",)), Fate.WRONG),
        (Seen({"a memory": '"texx"'}, status=EXIT_UNCERTAIN), Fate.WRONG),
        (Seen(RIGHT | {"a memory": "!-32010 not found"}), Fate.WRONG),
        (Seen({}, status=-11), Fate.DIED),
    ],
)
def test_an_answer_after_a_flip_is_right_refused_or_wrong(seen: Seen, fate: Fate) -> None:
    assert judged(seen, RIGHT)[0] is fate


def flip(fate: Fate, *, detected: bool, touched: bool = False, thawed: bool = False, file: str = "log.duckdb") -> Flip:
    return Flip(
        store="closed",
        file=file,
        offset=1,
        mask=1,
        fate=fate,
        detected=detected,
        touched=touched,
        thawed=thawed,
        why="",
    )


@pytest.mark.parametrize(
    ("seen", "fails"),
    [
        (flip(Fate.RIGHT, detected=False), []),
        (flip(Fate.REFUSED, detected=True), []),
        (flip(Fate.WRONG, detected=True), ["no wrong answer is given"]),
        (flip(Fate.DIED, detected=True), ["no wrong answer is given"]),
        (flip(Fate.REFUSED, detected=False), ["whatever isn't harmless is named by `verify`"]),
        (flip(Fate.RIGHT, detected=True, touched=True), ["`verify` changes nothing"]),
        (flip(Fate.RIGHT, detected=True, thawed=True), []),
        (flip(Fate.RIGHT, detected=True, thawed=True, file="snapshot: manifest"), [SNAPSHOTS_BELIEVED]),
    ],
)
def test_a_flip_may_be_harmless_or_named_but_never_lead_to_a_wrong_answer(seen: Flip, fails: list[str]) -> None:
    assert [one.what for one in unnoticed([seen], {"closed": True}) if one.holds is False] == fails


def test_a_snapshot_that_is_never_used_fails() -> None:
    verdicts = unnoticed([flip(Fate.RIGHT, detected=True)], {"closed": False})
    assert [one.what for one in verdicts if one.holds is False] == [SNAPSHOTS_BELIEVED]
