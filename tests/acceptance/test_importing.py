"""The command line imports the histories of other programs, each turn once, and exports for other stores."""

import json
import os
import signal
import subprocess
import time
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from actors.importers.records import memory_id
from events.storage.duckdb_log import DuckDBLog
from events.vocabulary import MemoryStored
from events.vocabulary.codec import decompress
from tests.acceptance.conftest import COMMAND, PATIENCE
from tests.actors.cli.conftest import run
from tests.actors.importers import samples

ROOT = Path(__file__).parents[2]
PROJECTS = 20
MEMORY = 8_000
"""Bytes that a memory takes in the log at least."""


def run_json(store: Path, *arguments: str, status: int = 0, stdin: str | None = None) -> Any:
    done = run(store, *arguments, "--json", stdin=stdin)
    assert done.exit_code == status, done.output
    return json.loads(done.stdout)


def contents(store: Path) -> list[tuple[str, str | None, str]]:
    """Return namespace, session and content of each memory in the log, whose chain is checked, in order."""
    log = DuckDBLog(store)
    try:
        stored = [envelope.event for envelope in log.read() if isinstance(envelope.event, MemoryStored)]
        return [(one.namespace, one.session, decompress(one.content)) for one in stored]
    finally:
        log.close()


def import_until_killed(store: Path, folder: Path, stored: int) -> None:
    """Start an import, and kill its process as soon as so many memories are stored."""
    process = subprocess.Popen(
        [COMMAND, "import", str(folder), "--data", str(store)],
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        stderr=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    written = 0
    while process.poll() is None and written < stored * MEMORY:
        written = sum(file.stat().st_size for file in store.glob("log.duckdb*")) if store.exists() else 0
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=PATIENCE)


@pytest.mark.parametrize("sessions", [40, pytest.param(2_000, marks=pytest.mark.slow)])
def test_a_folder_of_transcripts_is_imported_once_however_often_and_whenever_it_is_killed(
    tmp_path: Path, sessions: int
) -> None:
    folder, store = tmp_path / "projects", tmp_path / "store"
    broken = samples.transcripts(folder, PROJECTS, sessions)
    plan = run_json(store, "import", str(folder), "--dry-run", status=1)
    assert (plan["source"], plan["memories"]) == ("Claude Code transcripts", 3 * sessions)
    assert len(plan["namespaces"]) == PROJECTS
    assert not store.exists(), "a dry run changes nothing"

    import_until_killed(store, folder, stored=sessions // 2)
    survived = contents(store)
    assert 0 < len(survived) < 3 * sessions
    first = run_json(store, "import", str(folder), status=1)
    assert (first["stored"], first["stored_before"]) == (3 * sessions - len(survived), len(survived))
    assert len(first["failed"]) == broken
    assert {failure["line"] for failure in first["failed"]} == {4}
    assert all(failure["file"].endswith(".jsonl") for failure in first["failed"])
    assert first["skipped"]["tool calls and results"] == 2 * sessions
    before = contents(store)
    assert len(before) == len(set(before)) == 3 * sessions
    assert before[: len(survived)] == survived
    again = run_json(store, "import", str(folder), status=1)
    assert (again["stored"], again["stored_before"]) == (0, 3 * sessions)
    assert contents(store) == before


def test_an_export_is_imported_into_a_new_store_by_commands(tmp_path: Path) -> None:
    token = "ghp_" + "k3J9xQ2mV7pL5sD8wR4tY6uB1nC0zA3eF5hG"
    lines = "\n".join(json.dumps({"content": f"Push number {number} with {token}."}) for number in range(2))
    store, copy, file = tmp_path / "store", tmp_path / "copy", tmp_path / "all.jsonl"
    told = run_json(store, "import", "-", stdin=lines)
    assert (told["stored"], told["redacted"]) == (2, {"github-token": 2})
    assert run_json(store, "export", str(file))["exported"] == 2
    assert run_json(copy, "import", str(file))["stored"] == 2
    assert [content for _, _, content in contents(copy)] == [
        f"Push number {number} with [redacted github-token]." for number in range(2)
    ]
    assert run_json(copy, "scan") == {"scanned": 2, "found": [], "redacted": False}


def test_unknown_formats_and_unreadable_files_are_refused_and_change_nothing(tmp_path: Path) -> None:
    store = tmp_path / "store"
    (tmp_path / "notes.md").write_bytes(b"K\xfcche")
    (tmp_path / "odd.json").write_text('{"what": 1}', "utf-8")
    for name, words in (("notes.md", "line 1: not UTF-8"), ("odd.json", "unknown format")):
        done = run(store, "import", str(tmp_path / name))
        assert done.exit_code == 1
        assert words in done.stderr
        assert name in done.stderr
        assert "Traceback" not in done.stderr
    assert not store.exists()


def test_sections_of_a_document_are_stored_once_and_a_changed_one_takes_its_place(tmp_path: Path) -> None:
    store, folder = tmp_path / "store", tmp_path / "notes"
    folder.mkdir()
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    note = folder / "CONTRIBUTING.md"
    note.write_text(text, "utf-8")
    count = run_json(store, "import", str(folder))["stored"]
    assert count > 2
    again = run_json(store, "import", str(folder))
    assert (again["stored"], again["stored_before"]) == (0, count)
    note.write_text(text + "The release manager is Ilse.\n", "utf-8")
    changed = run_json(store, "import", str(folder))
    assert (changed["stored"], changed["changed"], changed["stored_before"]) == (1, 1, count - 1)
    (found,) = run_json(store, "search", "Who is the release manager?", "--top-k", "1")["results"]
    assert "The release manager is Ilse." in found["content"]


def test_a_document_that_was_imported_whole_is_not_imported_in_sections_too(tmp_path: Path) -> None:
    store, folder = tmp_path / "store", tmp_path / "notes"
    folder.mkdir()
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    (folder / "CONTRIBUTING.md").write_text(text, "utf-8")
    whole = memory_id("note", "CONTRIBUTING", sha256(text.encode()).hexdigest())
    line = json.dumps({"id": str(whole), "content": text, "metadata": {"source": "note", "path": "CONTRIBUTING"}})
    assert run_json(store, "import", "-", stdin=line)["stored"] == 1
    (folder / "todo.md").write_text("Read [[CONTRIBUTING]].", "utf-8")
    told = run_json(store, "import", str(folder))
    assert (told["stored"], told["events"], told["failed"]) == (1, 1, []), "the note, and its link to the whole one"
    assert told["stored_before"] == 1, "the whole one, which its sections are parts of"
    assert len(contents(store)) == 2
    (folder / "todo.md").unlink()
    (folder / "CONTRIBUTING.md").write_text(text + "The release manager is Ilse.\n", "utf-8")
    changed = run_json(store, "import", str(folder))
    assert (changed["stored"] > 2, changed["stored_before"]) == (True, 0), "a changed note is another one"
    (folder / "CONTRIBUTING.md").write_text(text, "utf-8")
    run_json(store, "forget", str(whole), "--hard")
    assert run_json(store, "import", str(folder))["stored"] == 0, "what was erased doesn't come back"


@pytest.mark.numeric
def test_dated_minutes_answer_for_their_time_although_their_files_are_new(tmp_path: Path) -> None:
    folder, store = tmp_path / "minutes", tmp_path / "store"
    folder.mkdir()
    heads = {"2019-03-14": "Rosa", "2020-11-12": "Bruno", "2022-06-09": "Noor", "2024-02-08": "Ilse"}
    for day, name in heads.items():
        text = f"# Allotments\n\n## Water\n\n{name} reads the meter of the water pump and pays the bill for the water."
        (folder / f"{day}.md").write_text(text)
    assert run(store, "import", str(folder)).exit_code == 0
    for question, answer in (
        ("Who reads the water meter in March 2019?", "Rosa"),
        ("water meter, November 2020", "Bruno"),
        ("water meter November 2020", "Bruno"),
        ("Who reads the meter of the water pump now?", "Ilse"),
    ):
        (first,) = run_json(store, "search", question, "--top-k", "1")["results"]
        assert answer in first["content"], question
