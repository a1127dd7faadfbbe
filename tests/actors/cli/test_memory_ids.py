"""The start of a memory's id on the command line, in every command that takes one."""

import json
from pathlib import Path
from uuid import uuid4

import pytest

from tests.actors.cli.conftest import run, run_json
from tests.sampling import sampled

MARA, BO, FERRY = (
    "a1b2c3d4-0000-4000-8000-000000000001",
    "a1b2c3d4-0000-4000-8000-000000000002",
    "fe001100-0000-4000-8000-000000000003",
)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store with three memories, two of whose ids begin alike."""
    lines = [
        {"id": MARA, "content": "Mara lives in Oslo."},
        {"id": BO, "content": "Bo is afraid of thunder."},
        {"id": FERRY, "content": "The ferry leaves at nine.", "tags": ["captured"]},
    ]
    source = tmp_path / "memories.jsonl"
    source.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert run(tmp_path / "store", "import", str(source)).exit_code == 0
    return tmp_path / "store"


def test_the_start_of_an_id_is_enough_where_it_is_unique(store: Path) -> None:
    assert run_json(store, "show", "fe0011")["id"] == FERRY
    assert run_json(store, "show", "FE001100-00")["id"] == FERRY, "with the hyphen that stands there, in upper case too"
    assert [one["kind"] for one in run_json(store, "history", "fe0011")["events"]] == ["memory_stored"]
    start = "a1b2c3d4-0000-4000-8000-00000000000"
    assert 0 < run_json(store, "compare", f"{start}1", "fe001100")["overall_similarity"] < 1
    assert run(store, "forget", f"{start}2").exit_code == 0
    assert f"{BO} is back" in run(store, "restore", f"{start}2").stdout
    options = ("--supersedes", "fe0011", "--link-to", f"{start}1", "--no-hub")
    answer = run_json(store, "store", "The ferry leaves at ten.", *options)
    shown = run_json(store, "show", answer["fingerprintId"])
    assert (shown["supersedes"], shown["links"]) == ([FERRY], [MARA])
    moved = run(store, "namespaces", "--data", str(store), "move", "sea", "fe0011")
    assert "1 memory moved" in moved.stdout, moved.output
    run_json(store, "review", "--drop", "fe0011")
    assert run_json(store, "show", FERRY)["state"] == "forgotten"


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ("a1b2c3d4", f"'a1b2c3d4' is the start of 2 ids, {MARA}, {BO}; give more characters of one"),
        ("a1b2c", "'a1b2c' is too short for a memory's id: give 6 characters or more; 2 ids begin so"),
        ("fe0", "'fe0' is too short for a memory's id: give 6 characters or more; 1 id begins so"),
        ("abcdef", "Memory not found: no id begins with 'abcdef'"),
    ],
)
@sampled("command", ["show", "history", "forget", "restore"], every=2)
def test_a_start_that_names_no_single_memory_is_refused_with_what_it_may_mean(
    store: Path, command: str, given: str, sentence: str
) -> None:
    done = run(store, command, given)
    assert (done.exit_code, done.stderr) == (1, f"context-graph: {sentence}\n")
    assert run_json(store, "status")["memories"]["live"] == 3


def test_what_is_no_id_at_all_is_told_as_such(store: Path) -> None:
    done = run(store, "show", "my note")
    assert done.exit_code == 1
    assert "'' is neither" in run(store, "show", "").stderr
    assert "'my note' is neither a memory's id nor its start" in done.stderr
    unknown = str(uuid4())
    assert run(store, "show", unknown).stderr == f"context-graph: Memory not found: {unknown}\n"  # names no parameter


def test_the_start_of_a_runs_id_is_enough_wherever_a_run_is_named(store: Path) -> None:
    moved = run(store, "namespaces", "--data", str(store), "move", "sea", "fe0011", "--json")
    whole = json.loads(moved.stdout)["run_id"]
    assert run_json(store, "consolidations", whole[:6])["runs"][0]["run_id"] == whole
    assert run_json(store, "audit", "--run", whole[:9].upper())["total"] == 3
    assert run_json(store, "undo", whole[:8])["restored"] == [FERRY]
    assert f"undone at {run_json(store, 'consolidations', whole)['runs'][0]['undone_at'][:19]}Z" in (
        run(store, "undo", whole[:8]).stderr
    )
    other = "000000" if whole[0] != "0" else "111111"
    for given, sentence in (
        (other, f"Run not found: no id begins with '{other}'"),
        (whole[:3], f"'{whole[:3]}' is too short for a run's id: give 6 characters or more; 1 id begins so"),
        ("", "'' is neither a run's id nor its start: an id has 32 hexadecimal digits, as "),
    ):
        for command in (("undo",), ("consolidations",), ("audit", "--run")):
            done = run(store, *command, given)
            assert (done.exit_code, done.stderr.startswith(f"context-graph: {sentence}")) == (1, True), done.output


def test_a_date_is_no_start_of_an_id_but_the_name_of_a_folder_that_is_missing(store: Path) -> None:
    done = run(store, "restore", "2026-10-03")
    assert done.exit_code == 1
    assert done.stderr == "context-graph: '2026-10-03' is neither the id of a memory nor a folder\n"
