"""Issues of GitHub and of Beads: what was reported and answered, by whom, when, and what became of it."""

import json
from pathlib import Path
from typing import Any

import pytest

from actors.importers.records import FormatError
from tests.actors.importers.test_sources import by_content, links, read

ADDRESS = "https://github.com/harbour/tides/issues/7"
ISSUE: dict[str, Any] = {
    "number": 7,
    "title": "Gauge shows yesterday's level",
    "body": "<!-- Say which gauge. -->\nThe gauge at the pier is a day late.",
    "author": {"login": "runa"},
    "createdAt": "2026-03-02T08:00:00Z",
    "closedAt": "2026-03-05T09:00:00Z",
    "state": "CLOSED",
    "labels": [{"name": "gauges"}],
    "url": ADDRESS,
    "comments": [
        {
            "url": f"{ADDRESS}#c1",
            "author": {"login": "odd"},
            "body": "The cache is never emptied.",
            "createdAt": "2026-03-03",
        },
        {"url": f"{ADDRESS}#c2", "author": None, "body": "<!-- bot -->", "createdAt": "2026-03-04"},
    ],
}
REST = {
    "number": 8,
    "title": "Read the new buoy",
    "body": None,
    "user": {"login": "odd"},
    "created_at": "2026-04-01T08:00:00Z",
    "state": "closed",
    "html_url": "https://github.com/harbour/tides/pull/8",
    "url": "https://api.github.com/repos/harbour/tides/issues/8",
    "comments": 1,
    "pull_request": {"merged_at": "2026-04-02T08:00:00Z"},
}
ANSWER = {
    "issue_url": "https://api.github.com/repos/harbour/tides/issues/8",
    "html_url": "https://github.com/harbour/tides/pull/8#issuecomment-5",
    "user": {"login": "runa"},
    "body": "The buoy speaks NMEA.",
    "created_at": "2026-04-01T09:00:00Z",
}
TASKS = [
    {
        "id": "tides-a1",
        "title": "Empty the cache at midnight",
        "description": "Else the gauge is a day late.",
        "status": "closed",
        "issue_type": "bug",
        "created_at": "2026-03-03T10:00:00Z",
        "created_by": "Runa",
        "close_reason": "The timer empties it.",
        "labels": ["gauges"],
        "dependencies": [{"issue_id": "tides-a1", "depends_on_id": "tides-b2", "type": "blocks"}],
        "comments": [{"id": 1, "author": "Odd", "text": "Midnight of UTC?", "created_at": "2026-03-03T11:00:00Z"}],
    },
    {
        "id": "tides-b2",
        "title": "Add a timer",
        "status": "in_progress",
        "issue_type": "task",
        "comments": [{"id": 1, "author": "Odd", "text": "Midnight of UTC?"}],
    },
]


def written(file: Path, value: object) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(value), "utf-8")
    return file


def test_an_issue_and_its_comments_are_the_turns_of_a_session_in_the_project(tmp_path: Path) -> None:
    name, items, broken, skipped = read(written(tmp_path / "issues.json", [ISSUE]))
    assert name == "issues of GitHub"
    issue, comment = items
    assert issue["content"] == (
        "Issue #7: Gauge shows yesterday's level (closed)\n\nThe gauge at the pier is a day late."
    )
    assert {(item["session"], item["namespace"]) for item in items} == {("harbour/tides#7", "tides")}
    assert (issue["tags"], issue["memory_type"], issue["metadata"]["speaker"]) == (["gauges"], "issue", "runa")
    assert (comment["content"], comment["metadata"]["speaker"]) == ("The cache is never emptied.", "odd")
    assert comment["metadata"]["url"] == f"{ADDRESS}#c1"
    assert skipped == {"comments without text": 1}
    assert broken == []


@pytest.mark.parametrize("value", [[REST], REST, [[REST], []], {**REST, "comments": {"nodes": []}}])
def test_a_merged_request_of_the_rest_api_says_so(tmp_path: Path, value: object) -> None:
    _, (item,), _, _ = read(written(tmp_path / "pulls.json", value))
    assert (item["content"], item["memory_type"]) == ("Pull request #8: Read the new buoy (merged)", "pull_request")


def test_comments_that_are_listed_apart_belong_to_the_session_of_their_issue(tmp_path: Path) -> None:
    _, (issue,), _, _ = read(written(tmp_path / "pulls.json", [REST]))
    _, (comment,), _, _ = read(written(tmp_path / "comments.json", [ANSWER]))
    assert comment["session"] == issue["session"] == "harbour/tides#8"
    own = {**ANSWER, "issue_url": "https://git.harbour.example/api/v3/repos/harbour/tides/issues/8"}
    _, (comment,), _, _ = read(written(tmp_path / "own.json", [own]))
    assert comment["session"] == "harbour/tides#8"


def test_issues_as_json_lines_without_address_belong_to_their_file(tmp_path: Path) -> None:
    issues = [{"number": number, "title": f"Gauge {number}", "body": ""} for number in (1, 2)]
    for folder in ("north", "south"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "issues.jsonl").write_text("\n".join(map(json.dumps, issues)), "utf-8")
    north, south = (read(tmp_path / folder / "issues.jsonl")[1] for folder in ("north", "south"))
    assert [item["content"] for item in north] == ["Issue #1: Gauge 1", "Issue #2: Gauge 2"]
    assert {item["id"] for item in north}.isdisjoint(item["id"] for item in south)


def test_issues_of_beads_hold_what_became_of_them_and_are_linked_to_what_they_need(tmp_path: Path) -> None:
    file = tmp_path / "tides" / ".beads" / "issues.jsonl"
    file.parent.mkdir(parents=True)
    file.write_text("\n".join(map(json.dumps, [*TASKS, {"id": "tides-c3"}])), "utf-8")
    name, items, broken, _ = read(file)
    assert name == "issues of Beads"
    found = by_content(items)
    closed = "Bug tides-a1: Empty the cache at midnight (closed)\n\nElse the gauge is a day late.\n\n"
    closed += "Close reason: The timer empties it."
    waiting = "Task tides-b2: Add a timer (in progress)"
    assert found.keys() == {closed, waiting, "Midnight of UTC?"}
    assert {item["namespace"] for item in found.values()} == {"tides"}
    assert found[closed]["tags"] == ["bug", "gauges"]
    first, second = (item for item in items if item.get("content") == "Midnight of UTC?")
    assert (first["session"], second["session"]) == (found[closed]["session"], found[waiting]["session"])
    assert first["id"] != second["id"]
    assert links(items) == {(closed, "blocks", waiting)}
    assert [one.line for one in broken] == [3]


def test_a_list_of_other_things_with_numbers_and_titles_is_no_issue(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="unknown format"):
        read(written(tmp_path / "books.json", [{"number": 1, "title": "The Sea"}]))
