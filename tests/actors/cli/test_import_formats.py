"""Imports of tables and mailboxes through the command line: stored once, found, and named where they are broken."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from actors.api.operations.lifecycle import memories
from actors.cli import importing
from actors.cli.views import terminal
from actors.importers import records
from actors.importers.notes.documents import UNREAD
from actors.runtime.faults import StorageFault
from actors.runtime.types import JsonObject
from events.storage.log import LogFullError
from tests.actors.cli.conftest import run, run_json
from tests.actors.importers.test_mail import ANSWERED, ASKED, mailbox
from tests.actors.importers.test_notebooks import CELLS, notebook
from tests.actors.importers.test_word import BODY, document, word

TABLE = "place,remark\ncellar,The spare fuses lie on the top shelf.\nloft,one,two\nshed,The ladder is lent to Ole.\n"


def test_a_table_is_imported_by_the_named_column_and_its_broken_row_is_reported(tmp_path: Path) -> None:
    file = tmp_path / "places.csv"
    file.write_text(TABLE)
    refused = run(tmp_path / "store", "import", str(file))
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert f"{file}, line 1: no column is named content, text, " in refused.stderr
    assert "by --column, of these: 'place', 'remark'; nothing was imported" in refused.stderr
    assert not (tmp_path / "store").exists()
    done = run(tmp_path / "store", "import", str(file), "--column", "remark")
    assert done.exit_code == 1
    assert "places.csv:line3:3values,andthetablehas2columns" in "".join(done.output.split()), "wrapped anywhere"
    found = run_json(tmp_path / "store", "search", "What lies in the cellar?")["results"]
    assert found[0]["content"] == "The spare fuses lie on the top shelf.\n\nplace: cellar"


def test_a_mailbox_is_imported_once_and_answers_are_turns_of_one_conversation(tmp_path: Path) -> None:
    file = mailbox(tmp_path / "mail.mbox", ASKED, ANSWERED)
    first = run_json(tmp_path / "store", "import", str(file), "--namespace", "bees")
    assert (first["source"], first["stored"], first["skipped"]) == ("a mailbox", 2, {"attachments": 1})
    again = run_json(tmp_path / "store", "import", str(file), "--namespace", "bees")
    assert (again["stored"], again["stored_before"]) == (0, 2)
    found = run_json(tmp_path / "store", "search", "Who brings the smoker?", "--namespace", "bees")["results"]
    assert "smoker" in found[0]["content"]
    assert len({one["session"] for one in found}) == 1


def test_the_progress_of_long_texts_is_told_batch_by_batch_without_a_terminal_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terminal, "LINE_INTERVAL", 0.0)
    monkeypatch.setattr(importing, "BATCH_TEXT", 6_000)
    monkeypatch.setattr(records, "MAX_CHARACTERS", 4_000)
    file = tmp_path / "one_line.txt"
    file.write_text(" ".join(f"Bed {number} grows leeks." for number in range(500)))
    told = run(tmp_path / "store", "import", str(file))
    assert "stored 3 memories" in told.stdout
    steps = re.findall(r"importing (\d) of 3: (\d+)%", told.stderr)
    shares = [int(share) for _, share in steps]
    assert shares == sorted(shares)
    assert {"2", "3"} <= {done for done, _ in steps}
    assert any(66 < share < 100 for share in shares), "windows of the last text"
    quiet = run_json(tmp_path / "store", "import", str(file))
    assert (quiet["stored"], quiet["stored_before"]) == (0, 3)


def test_an_import_ends_once_the_disk_is_full_and_goes_on_where_it_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "bees.jsonl"
    file.write_text("".join(json.dumps({"content": f"Hive {number} has a queen."}) + "\n" for number in range(9)))
    monkeypatch.setattr(importing, "BATCH", 4)
    with monkeypatch.context() as patched:
        batches = 0

        def refuse(_folder: Path, _size: int, _wal: int = 0) -> None:
            if batches:
                raise LogFullError("the disk has 0 bytes left")

        class CountedBatch(importing.Batch):
            __slots__ = ()

            def add(self, answer: JsonObject) -> None:
                nonlocal batches
                batches += 1
                super().add(answer)

        patched.setattr("events.storage.room.check_free", refuse)
        patched.setattr(importing, "Batch", CountedBatch)
        full = run(tmp_path / "store", "import", str(file))
    assert (full.exit_code, batches, full.stdout) == (1, 2, "")
    assert "since the disk is full" in full.stderr
    assert "; 4 of 9 memories are stored, and the same import goes on with the others" in full.stderr
    again = run_json(tmp_path / "store", "import", str(file))
    assert (again["stored"], again["stored_before"], again["failed"]) == (5, 4, [])


def test_an_import_goes_on_where_the_log_refuses_a_single_item(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "bees.jsonl"
    file.write_text("".join(json.dumps({"content": f"Hive {number} has a queen."}) + "\n" for number in range(5)))
    reports = memories.item_report

    def one_refused(index: int, outcome: Any) -> JsonObject:
        return reports(index, StorageFault("Storage failed: this one") if index == 1 else outcome)

    monkeypatch.setattr("actors.api.operations.ingest.imports.item_report", one_refused)
    done = run(tmp_path / "store", "import", str(file), "--json")
    answer = json.loads(done.stdout)
    assert [(one["line"], one["message"]) for one in answer["failed"]] == [(2, "Storage failed: this one")]
    assert (done.exit_code, answer["stored"]) == (1, 4)


def test_another_format_on_standard_input_is_refused_with_what_to_do(tmp_path: Path) -> None:
    refused = run(tmp_path / "store", "import", "-", stdin="# Bees\nThey swarm in May.\n")
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert "standard input, line 1: unknown format; known are " in refused.stderr
    assert "standard input is read as JSON lines: give a file of another format by its name" in refused.stderr


def test_a_folder_of_documents_notebooks_and_messages_is_imported_and_found_and_scans_are_named(tmp_path: Path) -> None:
    folder = tmp_path / "club"
    folder.mkdir()
    word(folder / "minutes.docx", document(BODY))
    notebook(folder / "yield.ipynb", *CELLS)
    (folder / "asked.eml").write_text(ASKED, "utf-8")
    (folder / "invoice.pdf").write_bytes(b"%PDF-1.7")
    done = run_json(tmp_path / "store", "import", str(folder))
    assert (done["source"], done["files"], done["stored"]) == ("a folder of notes, messages", 3, 3)
    assert done["unread"] == [{"file": "invoice.pdf", "reason": UNREAD[".pdf"]}]
    assert done["skipped"]["outputs of cells"] == 1
    found = run_json(tmp_path / "store", "search", "Is hive two strong or weak?")["results"]
    assert "Hive two is strong" in found[0]["content"]
    again = run_json(tmp_path / "store", "import", str(folder))
    assert (again["stored"], again["stored_before"]) == (0, 3)


def test_files_and_folders_are_imported_together_and_none_twice(tmp_path: Path) -> None:
    vault, store = tmp_path / "vault", tmp_path / "store"
    vault.mkdir()
    (vault / "bees.md").write_text("Hive two swarmed on 3 May.")
    (vault / "hive.png").write_bytes(b"\x89PNG")
    (tmp_path / "loft.md").write_text("The ladder is lent to Ole.")
    line = json.dumps({"content": "The spare fuses lie on the top shelf."})
    arguments = ("import", str(vault), str(tmp_path / "loft.md"), "-")
    done = json.loads(run(store, *arguments, "--json", stdin=line).stdout)
    assert (done["source"], done["files"]) == ("a folder of notes, a note, memories as JSON lines", 3)
    assert (done["stored"], done["failed"]) == (3, [])
    assert done["unread"] == [{"file": str(vault / "hive.png"), "reason": "unknown format"}]
    again = json.loads(run(store, *arguments, "--json", stdin=line).stdout)
    assert (again["stored"], again["stored_before"]) == (0, 3)
    twice = run(store, "import", str(vault), str(vault / "bees.md"))
    assert (twice.exit_code, twice.stdout) == (1, "")
    assert f"{vault / 'bees.md'} would be imported twice: name it, or a folder that holds it, once" in twice.stderr
