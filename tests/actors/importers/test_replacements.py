"""Notes that say which note takes the place of which: read from properties, relations and the status of a record."""

from pathlib import Path
from time import process_time
from typing import Any

import pytest

from actors.importers.notes.replacements import Replacement, replacements
from actors.importers.recogniser import recognise
from actors.importers.records import Item, Options
from tests.actors.cli.conftest import run_json
from tests.actors.importers import samples

OLD, NEW = "docs/0007-queue", "docs/0012-topics"

SAID = {
    "## Status\n\nSuperseded by [ADR-0012](0012-topics.md)\n\n## Context\n\nMail waits.": (False, NEW),
    "## Status\n\n⌛️ Superseded by [12. Topics](0012-topics.md)": (False, NEW),
    "- **Status:** superseded by [ADR 12](0012-topics.md) on 2026-05-19 — the queue has lost mail": (False, NEW),
    "- **Status:** ⚠️ Superseded by ADR-0012\n- **Date:** 2026-07-29": (False, "ADR-0012"),
    "**Status:** Superceded by 12. Ask Ole.": (False, "12"),
    "Superseded-By: 12\nCreated: 5-May-2016": (False, "12"),
    "> **Superseded by [ADR-0012](0012-topics.md):** mail is\n> a topic now.": (False, NEW),
    "> **ARCHIVED** - This document has been superseded by [topics](0012-topics.md).": (False, NEW),
    "Status: Obsoleted by [[Topics]] (2026-05-19)": (False, "Topics"),
    "Status: Accepted. Supersedes [ADR-0007](0007-queue.md).\n\nMail waits.": (True, OLD),
    "- **Status:** Accepted (2026-07-13). **Supersedes [ADR-7](0007-queue.md)**.": (True, OLD),
    "*Note:* this RFC has been superseded by [RFC 12][].": (False, "RFC 12"),
    "## Relations\n\n- supersedes [[Queue]]": (True, "Queue"),
}
NO_NOTE = [
    "## Status\n\nAccepted - **the retries are superseded by [ADR-0012](0012-topics.md)**",
    "## Status\n\nAccepted. One queue for all is superseded by [ADR-0012](0012-topics.md)\nfor mail.",
    "## Status\n\nPartly superseded by [ADR-0012](0012-topics.md)",
    "## Status\n\nSuperseded by [ADR-0012](0012-topics.md) for mail",
    "## Status\n\nSuperseded by [ADR-0012](0012-topics.md)\nin the part on mail.",
    "## Status\n\nSuperseded by [ADR-0012](0012-topics.md) - for mail",
    "## Status\n\nSuperseded by [ADR-0012](0012-topics.md), if accepted.",
    "## Status\n\nSuperseded by [ADR-0012](0012-topics.md)?",
    "## Status\n\nSuperseded by [retries](0012-topics.md#retries)",
    "## Status\n\nSuperseded by ADR-0012; the other decisions there hold.",
    "Supersedes [ADR-0007](0007-queue.md) (in part)",
    "Supersedes [ADR-0007](0007-queue.md): its retries.",
    "This ADR supersedes some aspects of [ADR-0007](0007-queue.md).",
    "Status: Accepted - supersedes [ADR-0007](0007-queue.md)\n(the table of queues and who may read each of them)",
    "## Retries\n\n> Superseded by [ADR-0012](0012-topics.md)",
    "## Status\n\nAccepted\n\n## Notes\n\nSuperseded by [ADR-0012](0012-topics.md)",
    "Retries\n-------\n\nSuperseded by [ADR-0012](0012-topics.md)",
    "```\nSuperseded by [ADR-0012](0012-topics.md)\n```",
    "<!-- Superseded by [ADR-0012](0012-topics.md) -->",
    "Amended by [ADR-0012](0012-topics.md)",
    "- [ADR-0007](0007-queue.md) - superseded by [ADR-0012](0012-topics.md)",
    "The pump was replaced by [[Pump B]].",
    "The old boiler is out. Replaced by [[Boiler B]].",
    "Superseded by 12.5.2024 minutes.",
    "Supersedes 2.0 of the interface.",
    "Supersedes 2023 budgets",
    "Superseded by 3 newer models.",
    "Superseded by 12",
    '"Superseded by ADR-12." is how Bob marks records.',
]


@pytest.mark.parametrize("title", ["# Queue\n\n", ""])
@pytest.mark.parametrize("body", SAID)
def test_a_note_says_that_it_is_replaced_or_replaces_another_one(body: str, title: str) -> None:
    assert [*replacements({}, title + body, "docs")] == [Replacement(*SAID[body])]


@pytest.mark.parametrize("body", NO_NOTE)
def test_what_is_said_of_a_part_of_a_note_or_of_something_else_replaces_no_note(body: str) -> None:
    assert [*replacements({}, f"# Queue\n\n{body}", "docs")] == []


@pytest.mark.parametrize(
    ("properties", "expected"),
    [
        ({"status": "superseded by [ADR-0012](0012-topics.md)"}, [(False, NEW)]),
        ({"status": "superseded by ADR-0012"}, [(False, "ADR-0012")]),
        ({"withdrawal-reason": "Superseded by ADR-12."}, [(False, "ADR-12")]),
        ({"superseded-by": ["0012-topics.md"]}, [(False, "0012-topics")]),
        ({"supersededBy": "[[Topics]]"}, [(False, "Topics")]),
        ({"Superseded_By": 12}, [(False, "12")]),
        ({"superseded-by": "12, 14"}, [(False, "12"), (False, "14")]),
        ({"supersedes": ["[[Queue]]", "ADR-3"]}, [(True, "Queue"), (True, "ADR-3")]),
        ({"superseded-by": None, "supersedes": "", "status": "accepted", "replaces": "[[Queue]]"}, []),
        ({"superseded-by": "[ADR-12](0012-topics.md) (partly)", "supersedes": "none", "obsoletes": 0}, []),
        ({"superseded-by": True, "tags": ["superseded by 2"], "title": "Superseded by [[Topics]]"}, []),
        ({True: "push", 2024: "plan", "status": "waits \0 for mail"}, []),
    ],
)
def test_properties_say_it_too(properties: dict[Any, object], expected: list[tuple[bool, str]]) -> None:
    assert [*replacements(properties, "Mail waits.", "docs")] == [Replacement(*one) for one in expected]


@pytest.mark.parametrize(
    "text",
    [
        *("Superseded by ADR-12 (" + "a" * 99_000, "Superseded by ADR-12" + " (" * 40_000, "# " + " " * 99_000),
        *("*" * 99_000, "Superseded by " + "ADR-1, " * 9_000, "<!--" * 25_000, "Accepted " + "-" * 99_000),
    ],
    ids=str.split("letters brackets blanks stars codes comments dashes"),
)
def test_long_texts_are_read_in_linear_time(tmp_path: Path, text: str) -> None:
    (tmp_path / "note.md").write_text(f"{text}\n\nMail waits.")
    started = process_time()
    assert [*recognise(tmp_path, Options()).read()]
    list(replacements({"status": text}, text, ""))
    assert process_time() - started < 20, "a quadratic one takes minutes"


def replaced(folder: Path, notes: dict[str, str]) -> set[tuple[str, str]]:
    """Write notes, and return which supersedes which, by the names of their files."""
    samples.write_files(folder, notes)
    items = [one.value for one in recognise(folder, Options()).read() if isinstance(one, Item)]
    paths = {item["id"]: Path(item["metadata"]["path"]).name for item in items if "content" in item}
    events = [item["event"] for item in items if item.get("event", {}).get("type") == "memory_superseded.1"]
    return {(paths[event["memory"]], paths[event["by"]]) for event in events}


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("0007-queue.md", "0012-topics.md", "ADR-12"),
        ("0007-queue.md", "0012-topics.md", "#12"),
        ("adr-007_queue.md", "adr-012_topics.md", "ADR 0012"),
        ("ADR007 Queue.md", "ADR012 Topics.md", "12"),
        ("pep-0007.rst", "pep-0012.rst", "12"),
    ],
)
def test_the_code_of_a_record_means_the_file_of_that_number(tmp_path: Path, old: str, new: str, named: str) -> None:
    notes = {old: f"Status: Superseded by {named}\n\nMail waits in a queue.", new: "Mail has topics."}
    assert replaced(tmp_path, notes) == {(Path(old).stem, Path(new).stem)}


@pytest.mark.parametrize("named", ["RFC-12", "ADR-13", "none", "ADR-12"])
def test_a_code_that_means_no_file_or_several_replaces_nothing(tmp_path: Path, named: str) -> None:
    others = {
        "0012-topics.md": "Mail has topics.",
        "adr-12-loss.md": "Mail is lost.",
        "elsewhere/0013-mail.md": "No mail.",
    }
    assert replaced(tmp_path, {"0007-queue.md": f"Status: Superseded by {named}\n\nMail waits."} | others) == set()


def test_a_note_that_names_itself_or_says_it_twice_is_no_more_than_that(tmp_path: Path) -> None:
    old = "---\nsuperseded-by: 0012-topics.md\n---\nStatus: superseded by [it](0012-topics.md)\n\nMail waits."
    new = "Supersedes [7](0007-queue.md). Supersedes ADR-12.\n\nMail has topics."
    assert replaced(tmp_path, {"0007-queue.md": old, "0012-topics.md": new}) == {("0007-queue", "0012-topics")}


def test_two_notes_that_replace_each_other_both_hold(tmp_path: Path) -> None:
    notes = {"a.md": "Superseded by [[b]]\n\nMail waits.", "b.md": "Superseded by [[a]]\n\nMail has topics."}
    assert replaced(tmp_path, notes) == set()


def test_a_search_answers_from_the_record_that_holds_and_shows_the_former_one_beneath(tmp_path: Path) -> None:
    records = tmp_path / "decisions"
    records.mkdir()
    body = "# 7. Where bookings are kept\n\nDate: 2024-03-05\n\n## Status\n\n{}\n\n## Decision\n\n{}\n"
    old, new = records / "0007-sqlite.md", records / "0019-postgres.md"
    why = "We keep the bookings of all three studios in SQLite, since one process writes them."
    old.write_text(body.format("Accepted", why))
    first = run_json(tmp_path / "store", "import", str(records))
    assert (first["stored"], first["events"]) == (1, 0)

    old.write_text(body.format("Superseded by [19. A server](0019-postgres.md)", why))
    new.write_text(
        "# 19. A server\n\n* Status: accepted\n* Date: 2025-06-17\n\nPostgres takes over from the file, which was "
        "locked at opening hour when each studio wrote its own."
    )
    run_json(tmp_path / "store", "import", str(records))
    again = run_json(tmp_path / "store", "import", str(records))
    assert (again["stored"], again["events"]) == (0, 0), "a folder that stays as it is changes nothing"

    found = run_json(tmp_path / "store", "search", "In what do we keep the bookings of the studios?")["results"]
    assert found[0]["content"].startswith("# 19. A server")
    assert found[0]["createdAt"].startswith("2025-06-17")
    assert found[1]["content"].startswith("# 7. Where bookings are kept")
    assert found[1]["superseded_by"] == found[0]["fingerprintId"]
