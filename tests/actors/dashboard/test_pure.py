"""What pages compute before they show it, and what they ship."""

import hashlib
import re
from datetime import date
from pathlib import Path

import pytest

import actors.dashboard
from actors.dashboard.comparing import differing, why_above
from actors.dashboard.layout import days, surroundings
from actors.dashboard.names import did, when

FOLDER = Path(actors.dashboard.__file__).parent


def test_the_reason_for_a_place_is_the_difference_of_each_part_of_the_score() -> None:
    found = why_above({"meaning": 0.5, "words": 0.1, "names": 0.2}, {"meaning": 0.2, "words": 0.3, "names": 0.2})
    assert [part for part, _ in found["ahead"]] == ["meaning"]
    assert [part for part, _ in found["behind"]] == ["words"]
    assert round(found["total"], 6) == 0.1


def test_two_texts_are_shown_whole_with_what_differs_marked() -> None:
    first, second = "Warnings are sent at 18:00, never later.", "Warnings are sent at 17:00!"
    left, right = differing(first, second)
    assert ("".join(text for text, _ in left), "".join(text for text, _ in right)) == (first, second)
    assert next(text for text, marked in left if marked) == "18"
    assert next(text for text, marked in right if marked) == "17"


TODAY = date(2026, 3, 9)


def test_days_without_a_memory_are_shown_too() -> None:
    shown = days([{"day": "2026-02-26", "count": 2}, {"day": "2026-03-02", "count": 4}], 60, TODAY)
    assert [one["day"] for one in shown][1:3] == ["2026-02-27", "2026-02-28"]
    assert [one["share"] for one in shown] == [0.5, 0, 0, 0, 1]
    assert len(days([{"day": "2020-01-01", "count": 1}, {"day": "2026-03-02", "count": 4}], 60, TODAY)) == 60
    assert days([], 60, TODAY) == []


def test_a_memory_of_a_mistaken_year_hides_no_other_day() -> None:
    later = {"day": "2222-01-01", "count": 1}
    assert [one["day"] for one in days([{"day": "2026-03-02", "count": 4}, later], 60, TODAY)] == ["2026-03-02"]
    assert [one["day"] for one in days([later], 60, TODAY)] == ["2222-01-01"]


def test_each_neighbour_has_a_place_of_its_own_and_an_edge() -> None:
    neighbours = [
        {
            "id": str(one),
            "from": "a" if one < 5 else str(one - 5),
            "hops": 1 + one // 5,
            "content": "x",
            "edge_type": "n",
        }
        for one in range(10)
    ]
    picture = surroundings({"id": "a", "content": "A text that is much longer than a label"}, neighbours)
    assert len({(one["x"], one["y"]) for one in picture["nodes"]}) == 11
    assert len(picture["edges"]) == 10
    assert all(0 <= one["x"] <= picture["width"] and 0 <= one["y"] <= picture["height"] for one in picture["nodes"])


def test_the_library_from_elsewhere_is_the_published_one() -> None:
    (stated,) = re.findall(r"`([0-9a-f]{64})`", (FOLDER / "README.md").read_text(encoding="utf-8"))
    assert hashlib.sha256((FOLDER / "static" / "htmx.min.js").read_bytes()).hexdigest() == stated
    assert "Zero-Clause BSD" in (FOLDER / "static" / "htmx.LICENSE").read_text(encoding="utf-8")


def test_no_page_holds_a_script_or_a_style_of_its_own() -> None:
    for path in (FOLDER / "templates").glob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=|hx-on|\|\s*safe(?!\s*if)", text), (
            path.name
        )


@pytest.mark.parametrize(
    ("schedule", "words"),
    [
        ("0 * * * *", "every hour"),
        ("15 * * * *", "every hour at 15 minutes past"),
        ("30 3 * * *", "every day at 03:30"),
        ("30 4 * * sun", "Sundays at 04:30"),
        ("0 22 * * 5", "Fridays at 22:00"),
        ("*/5 * * * *", "*/5 * * * *"),
        ("90m", "90m"),
        (None, "off"),
    ],
)
def test_a_schedule_is_told_in_words_where_it_is_a_common_one(schedule: str | None, words: str) -> None:
    assert when(schedule) == words


def test_a_run_is_told_by_what_it_did() -> None:
    assert did({"merged": 2, "pruned": 0, "clusters": 1, "patterns": 0}) == "2 merged, 1 topic"
    assert did({"merged": 0, "pruned": 0, "clusters": 0, "patterns": 0, "causes": 0}) == "changed nothing"
