"""A store that imports its own export, or that of a store which imported it, holds no event twice."""

import json
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from tests.actors.cli.conftest import run, run_json


@pytest.fixture
def flat(tmp_path: Path) -> Path:
    """A store in which a memory was corrected, a copy merged, a namespace renamed, and a memory forgotten."""
    folder = tmp_path / "flat"
    for text in ("The rent is 1240 a month.", "The rent is 1260 a month.", *["The plumber is Mr. Okafor."] * 2):
        last = run_json(folder, "store", text, "-n", "flat", "--no-hub")["fingerprintId"]
    run_json(folder, "consolidate")
    assert run(folder, "namespaces", "--data", str(folder), "rename", "flat", "home").exit_code == 0
    assert run(folder, "forget", last).exit_code == 0
    return folder


def told(store: Path, file: Path) -> dict[str, Any]:
    """Import a file, and return the summary."""
    done = run(store, "import", str(file), "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_the_import_of_a_stores_own_export_changes_nothing_and_leaves_its_runs_to_undo(
    flat: Path, tmp_path: Path
) -> None:
    own, copied = tmp_path / "own.jsonl", tmp_path / "copied.jsonl"
    assert run(flat, "export", str(own)).exit_code == 0
    hidden = [one["id"] for one in map(json.loads, own.read_text().splitlines()) if "Okafor" in one.get("content", "")]
    assert run(flat, "restore", hidden[-1]).exit_code == 0
    events = run_json(flat, "audit")["total"]
    assert told(flat, own)["stored"] == 0
    assert run_json(flat, "audit")["total"] == events, "what was forgotten then is still restored"
    run_json(tmp_path / "used", "store", "The copy is in use.", "--no-hub")
    for copy in ("new", "used"):  # in the one in use, events get later times
        assert told(tmp_path / copy, own)["stored"] == 4
        assert run(tmp_path / copy, "export", str(copied), "--replace").exit_code == 0
        told(flat, copied)
    added = [one["kind"] for one in run_json(flat, "audit", "--since", str(events + 1))["events"]]
    assert sorted(added) == ["memory_stored"], "the memory of the copy alone is new"
    moved, merged = run_json(flat, "consolidations")["runs"]
    assert len(run_json(flat, "undo", moved["run_id"])["restored"]) == 4
    assert len(run_json(flat, "undo", merged["run_id"])["restored"]) == 1


def test_the_export_of_a_namespace_names_no_run_that_changed_nothing_in_it(tmp_path: Path) -> None:
    store = tmp_path / "store"
    for namespace in ("work", "home"):
        for text in (*["The printer is called Gutenberg."] * 2, f"The lease of {namespace} ends in June."):
            run_json(store, "store", text, "-n", namespace, "--no-hub")
    of_work = run_json(store, "consolidate", "-n", "work")["run_id"]
    run_json(store, "store", "The printer is called Gutenberg.", "-n", "home", "--no-hub")
    of_all = run_json(store, "consolidate")["run_id"]
    run_json(store, "consolidate", "-n", "home")
    run_json(store, "undo", of_work)
    named = {
        namespace: {
            event["run"]
            for line in run(store, "export", "-n", namespace).stdout.splitlines()
            if "run" in (event := json.loads(line).get("event", {}))
        }
        for namespace in ("work", "home")
    }
    assert of_work in named["work"]
    assert of_all not in named["work"]
    assert of_work not in named["home"]
    assert of_all in named["home"]


def test_an_export_as_markdown_brings_back_what_it_holds_of_each_memory(tmp_path: Path) -> None:
    first, second, notes = (tmp_path / name for name in ("first", "second", "notes"))
    lines = [
        {
            "id": str(UUID(int=1)),
            "content": "# The shed\n\nIts key hangs behind the canoe #boat.\n- [rule] Lock it.",
            "namespace": "home",
            "importance": 0.9,
            "tags": ["keys", "boat"],
            "created_at": "2026-03-02T10:11:12+01:00",
            "memory_type": "fact",
            "session": "s1",
            "rationale": "asked often",
            "metadata": {"speaker": "Mara", "places": {"shed": 1}},
        },
        {
            "content": "x = f(5);\n" * 400 + "y = 2;",
            "modality": "code",
            "link_to": [str(UUID(int=1))],
            "namespace": "home",
        },
    ]
    told_first = run(first, "import", "-", stdin="\n".join(map(json.dumps, lines)))
    assert told_first.exit_code == 0, told_first.output
    assert run(first, "export", str(notes), "--format", "markdown").exit_code == 0
    imported = told(second, notes)
    assert (imported["stored"], imported["events"]) == (2, 1), "both memories, and the link"
    held = "content namespace importance tags created_at memory_type session rationale metadata modality".split()
    exported = [
        [{name: one.get(name) for name in held} for one in map(json.loads, lines) if "content" in one]
        for store in (first, second)
        for lines in [run(store, "export").stdout.splitlines()]
    ]
    assert sorted(exported[0], key=str) == sorted(exported[1], key=str)


def test_a_note_of_an_export_that_was_edited_is_another_memory(tmp_path: Path) -> None:
    store, notes = tmp_path / "store", tmp_path / "notes"
    run_json(store, "store", "The rent is 1240 a month.", "-n", "flat", "--importance", "0.8", "--no-hub")
    assert run(store, "export", str(notes), "--format", "markdown").exit_code == 0
    (note,) = notes.rglob("*.md")
    note.write_text(note.read_text("utf-8").replace("1240 a month.\n", "1260 a month.\n"), "utf-8")
    assert told(store, notes)["stored"] == 1
    (now,) = run_json(store, "search", "What is the rent?", "-n", "flat", "--top-k", "1")["results"]
    assert now["content"] == "The rent is 1260 a month."
