"""Audits on the command line, on a store whose memories no model ever saw: replay needs none."""

import json
import subprocess
import sys
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from actors.api.operations.administration import history
from events.spaces import SPACES
from events.storage.duckdb_log import DuckDBLog
from events.storage.log import Draft
from events.vocabulary import MemoryErased, MemoryForgotten, MemoryRecalled, SpacesDeclared
from events.vocabulary.values import SpaceModel
from projections.memories.catalog import Catalog
from projections.registry import rebuild
from tests.acceptance.conftest import PATIENCE
from tests.actors.cli.conftest import run, run_json
from tests.actors.conftest import Place
from tests.events.samples import DIMENSIONS, draft, stored

FOX, DOG = UUID(int=11), UUID(int=12)

DECLARED = SpacesDeclared(
    profile="embedded",
    spaces=tuple(SpaceModel(space.key, "sample", "00" * 32, DIMENSIONS[space.key]) for space in SPACES),
)
HISTORY: tuple[Draft, ...] = (
    draft(DECLARED),
    draft(stored("The fox is red.", rationale="for the tale"), id=FOX),
    draft(stored("The dog is old."), id=DOG),
    draft(MemoryRecalled(memories=(FOX, DOG), query_sha256=bytes(32))),
    draft(MemoryForgotten(memory=DOG, reason="it was wrong")),
    draft(MemoryErased(memory=FOX, reason="asked for")),
)

MODELS = {"openvino", "torch", "transformers", "sentence_transformers", "tokenizers", "safetensors"}

PROGRAM = """
import sys
from actors.cli import app
sys.argv = ["context-graph", *sys.argv[1:]]
try:
    app()
finally:
    sys.stderr.write("loaded: " + " ".join(sorted({name.partition(".")[0] for name in sys.modules})))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    log = DuckDBLog(tmp_path / "store")
    for one in HISTORY:
        log.append([one])
    log.shred([FOX])
    log.close()
    return tmp_path / "store"


def told(folder: Path, *arguments: str) -> str:
    done = run(folder, *arguments)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_a_replay_compares_every_projection_and_loads_no_model(folder: Path) -> None:
    answers = []
    for _ in range(2):
        command = [sys.executable, "-c", PROGRAM, "replay", "--json", "--data", str(folder)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=True)
        assert MODELS.isdisjoint(done.stderr.rpartition("loaded: ")[2].split())
        answers.append(json.loads(done.stdout))
    answer, again = answers
    assert (answer["matches"], answer["seq"]) == (True, len(HISTORY))
    assert again["projections"] == answer["projections"], "two processes, one digest"
    assert "the present state follows from the log" in told(folder, "replay")


def test_a_replay_that_differs_ends_with_1_and_names_the_projection(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "rebuild", lambda envelopes: rebuild(envelopes) | {"catalog": Catalog()})
    done = run(folder, "replay")
    assert done.exit_code == 1
    assert "catalog cannot be rebuilt from the log" in done.stdout


def test_a_replay_up_to_a_moment_shows_digests(folder: Path) -> None:
    answer = run_json(folder, "replay", "--as-of", "3")
    assert answer["seq"] == 3
    assert len(answer["projections"]["catalog"]["replayed"]) == 64
    assert "after event 3" in told(folder, "replay", "--as-of", "3")


def test_history_and_audit_describe_events_in_words_latest_last(folder: Path) -> None:
    lines = told(folder, "history", str(DOG)).splitlines()
    assert [line.split()[0] for line in lines] == ["3", "4", "5"]
    assert "stored in default as 15 characters" in lines[0]
    assert "recalled as number 2 of 2" in lines[1]
    assert "forgotten, because: it was wrong" in lines[2]
    lines = told(folder, "audit", "--since", "4", "--until", "5").splitlines()
    assert len(lines) == 2
    lines = told(folder, "audit", "--limit", "1").splitlines()
    assert f"memory {FOX} was erased: its key was destroyed, because: asked for" in lines[0]
    assert lines[1] == f"the latest 1 of {len(HISTORY)} events"


def test_many_recalls_of_a_memory_in_a_row_are_counted_and_can_be_left_out(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    log = DuckDBLog(folder)
    for one in HISTORY[:3]:
        log.append([one])
    for _ in range(5):
        log.append([HISTORY[3]])
    log.close()
    stored_at, recalled = told(folder, "history", str(DOG)).splitlines()
    assert "stored in default" in stored_at
    assert "5 recalls up to event 8" in recalled
    assert len(run_json(folder, "history", str(DOG))["events"]) == 6
    assert told(folder, "history", str(DOG), "--no-recalls").splitlines()[1:] == ["without 5 recalls"]


def test_a_difference_is_told_in_words(folder: Path) -> None:
    words = told(folder, "diff", "1")
    assert "2 memories stored" in words
    assert "The dog is old." in words
    assert "1 memory forgotten" in words
    assert "(erased 2026-01-01 12:00, because: asked for)" in words
    assert "fox" not in words
    assert "0 events" in told(folder, "diff", "2", "2")


def test_a_difference_from_a_day_has_what_happened_at_its_first_instant(folder: Path, place: Place) -> None:
    place("Etc/GMT-12")  # twelve hours ahead, so that the noon of all events is midnight
    assert "6 events" in told(folder, "diff", "2026-01-02")


def test_a_memory_and_the_store_are_shown_as_they_were(folder: Path) -> None:
    assert "forgotten, because: it was wrong" in told(folder, "show", str(DOG))
    before = told(folder, "show", str(DOG), "--as-of", "4")
    assert "The dog is old." in before
    assert "live" in before
    assert told(folder, "status", "--as-of", "4").startswith("1 memory, 0 forgotten, 1 erased")
    assert "log at event 6, " in told(folder, "status", "--as-of", "yesterday")
    assert "forgotten, because: it was wrong" in told(folder, "show", str(DOG), "--as-of", "last week")
    assert "forgotten, because: it was wrong" in told(folder, "show", str(DOG), "--as-of", "January 2026")
    assert "log at event 6, " in told(folder, "status", "--as-of", "2026-01-01")
    spans = (("0",), ("2026-01-01",), ("January 2026", "January 2026"))
    (whole,) = {told(folder, "diff", *span) for span in spans}
    assert "6 events" in whole
    assert told(folder, "audit", "--since", "January 2026", "--until", "January 2026") == told(folder, "audit")
    assert told(folder, "audit", "--since", "yesterday") == "there is no such event\n"
    noon = "2026-01-01T12:00:00+00:00"
    assert "0 events" in told(folder, "diff", noon), "a time means the last event at or before it"
    erased = run(folder, "show", str(FOX), "--as-of", "4")
    assert erased.exit_code == 1
    assert "Memory was erased at 2026-01-01" in erased.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("history", str(uuid4())), "Memory not found"),
        (("audit", "--run", str(uuid4())), "Run not found"),
        (("diff", "5", "3"), "comes before"),
        (("diff", "99"), "the log has events 1 to 6"),
        (("replay", "--as-of", "2999-01-01"), "still to come"),
        (("replay", "--as-of", "soon"), "neither the number of an event nor a time such as 2026-05-02"),
        (
            ("replay", "--as-of", "the 1990s"),
            "before the first event; the log has events 1 to 6, the first at 2026-01-01",
        ),
        (("show", str(DOG), "--as-of", "2"), "Memory not found"),
    ],
)
def test_errors_end_with_one_sentence_and_status_1(folder: Path, arguments: tuple[str, ...], words: str) -> None:
    done = run(folder, *arguments)
    assert done.exit_code == 1
    assert words in done.stderr
    assert "Traceback" not in done.stderr
