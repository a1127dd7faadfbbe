"""What a person does about sleep on the command line; most commands run in this process, with models loaded once."""

import json
import subprocess
from pathlib import Path

import pytest

from events.storage.duckdb_log import DuckDBLog
from tests.acceptance.conftest import COMMAND, PATIENCE
from tests.acceptance.test_command_line import started
from tests.actors.cli.conftest import run, run_json
from tests.sampling import sampled

DOG = "Mara's dog is called Bo."
SOCK = "A visitor wore odd socks."


@pytest.fixture(autouse=True)
def _begun(tmp_path: Path) -> None:
    """An empty store: these commands make none."""
    DuckDBLog(tmp_path).close()


@pytest.fixture
def told(tmp_path: Path) -> dict[str, str]:
    """Two copies, and something that matters to nobody, by their part in what follows."""
    small = ("--importance", "0.1", "--created-at", "2020-02-02T00:00:00+00:00")
    wanted = {"kept": (DOG, "--importance", "0.9"), "twin": (f"{DOG} ",), "sock": (SOCK, *small)}
    return {name: run_json(tmp_path, "store", *arguments)["fingerprintId"] for name, arguments in wanted.items()}


def test_a_dry_run_a_run_and_its_undo_work_from_the_command_line(tmp_path: Path, told: dict[str, str]) -> None:
    looked = run_json(tmp_path, "candidates")
    assert [one["memory_id"] for one in looked["candidates"]] == [told["sock"]]
    assert SOCK in run(tmp_path, "candidates").stdout
    dry = run(tmp_path, "consolidate", "--dry-run").stdout
    assert "1 would be merged, 1 would be pruned" in dry
    done = run_json(tmp_path, "consolidate", "deep")
    assert (done["mode"], done["merged_count"], done["pruned_count"], done["final_memory_count"]) == ("deep", 1, 1, 1)
    listed = run_json(tmp_path, "consolidations")["runs"]
    assert [one["dry_run"] for one in listed] == [False, True]
    for none in (("--mode", "rem"), ("--offset", "2")):
        assert run(tmp_path, "consolidations", *none).stdout == "no run to show\n"
    one_by_one = run(tmp_path, "consolidations", done["run_id"]).stdout
    for part in (told["twin"], told["kept"], told["sock"], "recency"):
        assert part in one_by_one.replace("\n", "")
    assert [hit["fingerprintId"] for hit in run_json(tmp_path, "search", "socks of a dog")["results"]] == [told["kept"]]
    alone = run_json(tmp_path, "undo", done["run_id"], "--memory", told["sock"])
    assert alone["restored"] == [told["sock"]]
    assert "1 memory is back" in run(tmp_path, "undo", done["run_id"]).stdout
    assert len(run_json(tmp_path, "search", "socks of a dog")["results"]) == 3
    again = run(tmp_path, "undo", done["run_id"])
    assert (again.exit_code, "undone" in again.stderr) == (1, True)


def test_what_is_forgotten_with_a_merged_memory_is_named_and_an_undo_says_how_to_bring_it_back(
    tmp_path: Path, told: dict[str, str]
) -> None:
    done = run_json(tmp_path, "consolidate")
    gone = run(tmp_path, "forget", told["kept"]).stdout.replace("\n", " ")
    assert f"forgotten with it, since they were merged: {told['twin']}" in gone
    undone = run(tmp_path, "undo", done["run_id"]).stdout
    assert f"context-graph restore --data {tmp_path} {told['twin']}" in undone
    run_json(tmp_path, "restore", told["twin"])
    assert told["twin"] in {hit["fingerprintId"] for hit in run_json(tmp_path, "search", "dog")["results"]}


def test_the_undo_of_a_run_that_only_linked_speaks_of_no_memories(tmp_path: Path) -> None:
    for text in ("The lock gate jammed because a swan nested on it.", "A swan nested on the lock gate."):
        run_json(tmp_path, "store", text)
    done = run_json(tmp_path, "consolidate", "deep")
    assert (done["merged_count"], done["pruned_count"], done["can_be_undone"]) == (0, 0, True)
    assert run(tmp_path, "undo", done["run_id"]).stdout == "undone: the deep run\n"


def test_the_schedule_is_set_from_the_command_line(tmp_path: Path) -> None:
    before = run_json(tmp_path, "schedule")
    assert {mode: of["when"] for mode, of in before["modes"].items()} == {
        "light": "0 * * * *",
        "deep": "30 3 * * *",
        "rem": "30 4 * * sun",
    }
    assert (before["paused"], before["pruning_permitted"]) == (False, False)
    changed = run_json(tmp_path, "schedule", "--light", "90m", "--rem", "off", "--prune", "--pause")
    assert {mode: of["when"] for mode, of in changed["modes"].items()} == {
        "light": "90m",
        "deep": "30 3 * * *",
        "rem": None,
    }
    assert (changed["paused"], changed["pruning_permitted"]) == (True, True)
    shown = run(tmp_path, "schedule", "--no-prune").stdout
    assert "paused" in shown
    assert "90m" in shown
    assert "exact copies only" in shown
    assert "paused" not in run(tmp_path, "schedule", "--resume").stdout


def test_of_several_changes_to_the_schedule_none_is_made_if_one_is_bad(tmp_path: Path) -> None:
    before = run_json(tmp_path, "schedule")
    done = run(tmp_path, "schedule", "--light", "90m", "--rem", "sometimes", "--prune", "--pause")
    assert (done.exit_code, "sometimes" in done.stderr) == (1, True)
    after = run_json(tmp_path, "schedule")
    for state in (before, after):
        for of in state["modes"].values():
            of.pop("next")
    assert after == before


def test_off_in_any_spelling_switches_a_mode_and_its_idle_run_off(tmp_path: Path) -> None:
    assert "idle minutes" in run(tmp_path, "schedule").stdout
    assert "idle minutes" not in run(tmp_path, "schedule", "--pause").stdout
    assert "idle minutes" in run(tmp_path, "schedule", "--resume").stdout
    assert "idle minutes" not in run(tmp_path, "schedule", "--light", "OFF").stdout
    changed = run_json(tmp_path, "schedule", "--deep", "Off")
    assert {mode: of["when"] for mode, of in changed["modes"].items()} == {
        "light": None,
        "deep": None,
        "rem": "30 4 * * sun",
    }


@sampled("columns", ["20", "80", "200"])
def test_ids_of_runs_are_printed_whole_in_a_narrow_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    ids = [run_json(tmp_path, "consolidate", "--dry-run")["run_id"] for _ in range(2)]
    words = started(tmp_path, "consolidations").split()
    assert [word for word in words if word in ids] == ids[::-1]


@pytest.mark.usefixtures("told")
def test_a_run_that_reached_its_time_limit_ends_with_status_1(tmp_path: Path) -> None:
    done = run(tmp_path, "consolidate", "--max-seconds", "0.000001")
    assert (done.exit_code, "max_seconds" in done.stdout, "Traceback" in done.stderr) == (1, True, False)
    assert run_json(tmp_path, "consolidations")["runs"][0]["outcome"] == "timed_out"
    assert run(tmp_path, "consolidate", "--max-seconds", "60").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("consolidate", "--max-memories", str(2**64)), "max_memories"),
        (("consolidate", "--threshold", "2"), "salience_threshold"),
        (("consolidate", "--max-seconds", "0"), "max_seconds"),
        (("undo", "no-id"), "neither a run's id nor its start"),
        (("undo", "00000000-0000-4000-8000-000000000001"), "Run not found"),
        (("consolidations", "00000000-0000-4000-8000-000000000001"), "Run not found"),
        (("schedule", "--deep", "sometimes"), "'deep': 'sometimes'"),
    ],
)
def test_invalid_arguments_end_with_one_sentence_and_status_1(
    tmp_path: Path, arguments: tuple[str, ...], word: str
) -> None:
    done = run(tmp_path, *arguments)
    assert done.exit_code == 1
    assert word in done.stderr
    assert "Traceback" not in done.stderr


def test_an_unknown_mode_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    # In a process of its own: typer's refusal is held by its validator for ever, and with it the modules of its frames.
    command = [COMMAND, "consolidate", "nap", "--data", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 2
    assert "light" in done.stderr
    assert json.loads(run(tmp_path, "consolidations", "--json").stdout)["runs"] == []


def test_a_run_that_changed_nothing_offers_no_undo(tmp_path: Path) -> None:
    run_json(tmp_path, "store", DOG)
    done = run(tmp_path, "consolidate")
    assert "0 merged, 0 pruned" in done.stdout
    assert "undo" not in done.stdout
    (listed,) = run_json(tmp_path, "consolidations")["runs"]
    assert listed["can_be_undone"] is False, "which the page of the run goes by too"
    refused = run(tmp_path, "undo", listed["run_id"])
    assert (refused.exit_code, "the run changed nothing" in refused.stderr) == (1, True)
    run_json(tmp_path, "store", f"{DOG} ")
    assert "undo" in run(tmp_path, "consolidate").stdout


@pytest.mark.usefixtures("told")
def test_a_move_is_listed_with_what_it_moved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    moved = run(tmp_path, "namespaces", "--data", str(tmp_path), "rename", "default", "kennel", "--json")
    run_id = json.loads(moved.stdout)["run_id"]
    _, row, *_ = run(tmp_path, "consolidations").stdout.splitlines()
    assert row.split()[2] == "move", "a time stands in one line"
    assert "3 moved" in row
    assert "moved   3 memories from default to kennel" in run(tmp_path, "consolidations", run_id[:8]).stdout
