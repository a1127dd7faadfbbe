"""Imports of tables and mailboxes through the command line: stored once, found, and named where they are broken."""

from pathlib import Path

from tests.actors.cli.conftest import run, run_json
from tests.actors.importers.test_mail import ANSWERED, ASKED, mailbox

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
