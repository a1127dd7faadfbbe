"""What pages compute before they show it, and what they ship."""

import hashlib
import re
from collections import defaultdict
from datetime import date, timedelta
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import pytest

import actors.dashboard
from actors.api.parts import reasons, run_summary
from actors.dashboard.charts import bars_of_days
from actors.dashboard.comparisons import mark_differences, why_above
from actors.dashboard.graph_layout import LABEL_HEIGHT, LETTER_WIDTH, place_neighbours
from actors.dashboard.jobs import Job
from actors.dashboard.templating import MODES, TEMPLATES, when

FOLDER = Path(actors.dashboard.__file__).parent


def test_the_reason_for_a_place_is_the_difference_of_each_part_of_the_score() -> None:
    found = why_above({"meaning": 0.5, "words": 0.1, "names": 0.2}, {"meaning": 0.2, "words": 0.3, "names": 0.2})
    assert [part for part, _ in found["ahead"]] == ["meaning"]
    assert [part for part, _ in found["behind"]] == ["words"]
    assert round(found["total"], 6) == 0.1


def test_a_space_is_a_reason_only_for_results_that_stand_out_in_it() -> None:
    found = reasons(
        [
            {"e5_causal": 2.4, "e12_late_interaction": 1.1, "scope": 0.4},
            {"e5_causal": 2.0, "e1_semantic": -0.1, "scope": 0.4},
            {"e5_causal": 0.8, "e12_late_interaction": 0.6, "scope": 0.0},
            {"e5_causal": -0.3, "e12_late_interaction": -0.2, "scope": 0.0},
        ]
    )
    assert found == [
        ["e5_causal", "e12_late_interaction", "scope"],
        ["e5_causal", "scope"],
        ["e12_late_interaction"],
        [],
    ], "the third is a memory like any other to a question that asks why"


def test_a_single_result_has_all_its_largest_parts_as_reasons() -> None:
    assert reasons([{"e1_semantic": 1.0, "e6_sparse": 0.3, "e5_causal": 0.05}]) == [["e1_semantic", "e6_sparse"]]
    assert reasons([{"e1_semantic": 0.0}]) == [[]]
    assert reasons([]) == []


def test_two_texts_are_shown_whole_with_what_differs_marked() -> None:
    first, second = "Warnings are sent at 18:00, never later.", "Warnings are sent at 17:00!"
    left, right = mark_differences(first, second)
    assert ("".join(text for text, _ in left), "".join(text for text, _ in right)) == (first, second)
    assert next(text for text, marked in left if marked) == "18"
    assert next(text for text, marked in right if marked) == "17"


TODAY = date(2026, 3, 9)


def bars(*counts: tuple[str, int], most: int = 60) -> list[dict[str, Any]]:
    return bars_of_days([{"day": day, "count": count} for day, count in counts], most, TODAY)["bars"]


def filled(shown: list[dict[str, Any]]) -> list[str]:
    return [one["day"] for one in shown if one["count"]]


def test_days_without_a_memory_are_shown_too() -> None:
    shown = bars(("2026-02-10", 2), ("2026-03-02", 4))
    assert [one["day"] for one in shown][:2] == ["2026-02-10", "2026-02-11"]
    assert [one["share"] for one in shown] == [0.5, *[0] * 19, 1]
    assert bars() == []


def test_a_single_day_is_the_last_of_two_weeks() -> None:
    shown = bars(("2026-03-09", 3))
    assert [one["count"] for one in shown] == [*[0] * 13, 3]
    assert [shown[0]["day"], shown[-1]["last"]] == ["2026-02-24", "2026-03-09"]
    assert [one["day"] for one in bars(("0001-01-02", 1))] == ["0001-01-01", "0001-01-02"]


@pytest.mark.parametrize(
    ("first", "unit", "number"),
    [("2026-01-01", "a week", 9), ("2025-01-01", "30 days", 15), ("2000-01-01", "a year", 27)],
)
def test_bars_show_the_whole_time_in_days_weeks_or_years(first: str, unit: str, number: int) -> None:
    found = bars_of_days([{"day": first, "count": 3}, {"day": "2026-03-02", "count": 5}], 30, TODAY)
    assert (found["unit"], len(found["bars"]), found["earlier"]) == (unit, number, 0)
    assert [one["count"] for one in found["bars"]][:: number - 1] == [3, 5]
    for one, following in pairwise(found["bars"]):
        assert date.fromisoformat(following["day"]) - date.fromisoformat(one["last"]) == timedelta(days=1)
    assert found["bars"][-1]["last"] == "2026-03-02"


def test_a_memory_of_a_mistaken_year_hides_no_other_day() -> None:
    assert filled(bars(("2026-03-02", 4), ("2222-01-01", 1))) == ["2026-03-02"]
    assert filled(bars(("2222-01-01", 1))) == ["2222-01-01"]
    found = bars_of_days([{"day": "1970-01-01", "count": 1}, {"day": "2026-03-02", "count": 400}], 60, TODAY)
    assert (filled(found["bars"]), found["earlier"]) == (["2026-03-02"], 1)


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
    picture = place_neighbours({"id": "a", "content": "A text that is much longer than a label"}, neighbours)
    assert len({(one["x"], one["y"]) for one in picture["nodes"]}) == 11
    assert len(picture["edges"]) == 10
    assert all(0 <= one["x"] <= picture["width"] and 0 <= one["y"] <= picture["height"] for one in picture["nodes"])


def test_no_label_of_the_graph_covers_another() -> None:
    neighbours = [
        {"id": str(one), "from": "a", "hops": 1, "content": f"{one}: a text of some length", "edge_type": "n"}
        for one in range(30)
    ]
    nodes = place_neighbours({"id": "a", "content": "In the middle"}, neighbours)["nodes"]
    labelled = [one for one in nodes if one["label"]]
    assert labelled[0]["label"] == "In the middle"
    assert 5 < len(labelled) < 31
    for one, other in combinations(labelled, 2):
        wide = (len(one["label"]) + len(other["label"])) * LETTER_WIDTH / 2
        assert (
            abs(one["label_x"] - other["label_x"]) >= wide - 1
            or abs(one["label_y"] - other["label_y"]) >= LABEL_HEIGHT - 1
        )


def test_the_library_from_elsewhere_is_the_published_one() -> None:
    (stated,) = re.findall(r"`([0-9a-f]{64})`", (FOLDER / "README.md").read_text(encoding="utf-8"))
    assert hashlib.sha256((FOLDER / "static" / "htmx.min.js").read_bytes()).hexdigest() == stated
    assert "Zero-Clause BSD" in (FOLDER / "static" / "htmx.LICENSE").read_text(encoding="utf-8")


def luminance(colour: str) -> float:
    parts = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_what_is_written_and_drawn_stands_out_in_both_schemes() -> None:
    """WCAG 2.2: 4.5 for texts, also of banners that are seldom shown, 3 for points and lines."""
    sheet = (FOLDER / "static" / "style.css").read_text(encoding="utf-8")
    schemes = re.findall(r":root \{(.*?)\}", sheet, re.DOTALL)
    light, dark = (dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block)) for block in schemes)
    least = {(text, "mark"): 4.5 for text in ("ink", "warn")}
    least |= {(one, "raised"): 3.0 for one in light if one.startswith(("hue-", "ramp-"))}
    for colours in (light, dark):
        for pair, wanted in least.items():
            darker, lighter = sorted(luminance(colours[one]) for one in pair)
            assert (lighter + 0.05) / (darker + 0.05) >= wanted, pair


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
    assert run_summary({"merged": 2, "pruned": 0, "clusters": 1, "patterns": 0}) == "2 merged, 1 group"
    assert run_summary({"merged": 0, "pruned": 0, "moved": 3, "clusters": 0}) == "3 moved"
    assert run_summary({"merged": 0, "strengthened": 36, "shortcuts": 1}) == "36 stronger links, 1 shortcut"
    assert run_summary({"merged": 0, "pruned": 0, "clusters": 0, "patterns": 0, "causes": 0}) == "changed nothing"


def rendered(template: str, **values: Any) -> str:
    """Return a page of a caller who may only read, for a template that needs no request."""
    base = {"path": "/", "as_of": None, "csrf": "", "read_only": None, "may_write": False, "sees_all": True}
    return TEMPLATES.get_template(template).render(base, link=lambda path, **_: path, command=str, **values)


def test_the_page_of_what_changed_names_each_kind_and_how_many_more_there_are() -> None:
    freed = {"total": 2, "shown": [{"id": "a", "text": "The ferry leaves at nine."}]}
    found = {
        "a": {"seq": 7, "at": None},
        "b": {"seq": 9, "at": None},
        "memories": {"freed": freed},
        "goals": {"total": 4, "shown": [{"description": "ferries"}]},
        "links": {"total": 0},
        "events": {"total": 2, "by_kind": {"memory_superseded": 2}},
    }
    page = rendered("job.html", job=Job("changes", "reader", result=found))
    assert "2 memories brought back, since what stood for them was erased" in page
    assert "3 more goals" in page
    assert "memory superseded 2" in page


def test_home_names_no_agreement_as_enough_that_is_not_and_tells_of_further_projects() -> None:
    page = rendered(
        "home.html",
        calendar={"total": 14, "namespaces": {f"project-{one}": 1 for one in range(14)}},
        chart={"bars": []},
        status={"memories": defaultdict(int), "read_only": None, "log": {"position": 14}, "folder": "store"},
        workspace={"ignited": [], "candidates": [{"content": "The mast was painted.", "r": 0.7967}]},
        last_run=None,
        latest=[],
    )
    assert "agree by 0.79, and 0.80 is needed" in page
    assert "2 more projects" in page


def test_a_list_of_sessions_that_is_cut_says_so() -> None:
    session = {"session": "standup", "namespace": "shop", "count": 2, "last": "2026-03-09T09:12:00+00:00"}
    nothing = dict.fromkeys(("namespace", "session", "tag", "day", "last"))
    listed = {"memories": [], "total": 0, "offset": 0, "page_size": 40, "namespaces": {"shop": 2}, "state": "live"}
    for most, words in ((1, True), (2, False)):
        page = rendered(
            "timeline.html",
            **nothing,
            **listed,
            chart={"bars": []},
            sessions=[session],
            most_sessions=most,
            more_sessions=None,
        )
        assert ("No more than the latest 1 are shown" in page) is words


def test_a_mode_says_what_it_does_beyond_the_lighter_ones() -> None:
    assert [mode for mode, does in MODES.items() if "causes" in does] == ["deep"], "REM includes what deep does"
