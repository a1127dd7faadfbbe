"""A note is from the day that its path or a heading states, not from when its file was written."""

from datetime import datetime
from pathlib import Path

import pytest

from actors.importers.dates import date_in_heading, date_in_path
from actors.importers.recogniser import recognise
from actors.importers.records import Ignored, Item, Options, Skipped
from tests.actors.conftest import Place

LONG = "The committee talked about the budget of the archive, and nobody objected. " * 16


def created(path: Path) -> list[str]:
    """Return when each memory of a note was made."""
    return [one.value["created_at"] for one in recognise(path, Options()).read() if isinstance(one, Item)]


def note(folder: Path, name: str, text: str) -> Path:
    """Write a note; its file is from now."""
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")
    return file


@pytest.mark.parametrize(
    ("path", "date"),
    [
        ("2019-01-30", "2019-01-30"),
        ("2020_11_02 minutes", "2020-11-02"),
        ("journal/2024/03/05", "2024-03-05"),
        ("2019 plans/2021-06-01", "2021-06-01"),
        ("20240305", "2024-03-05"),
        ("202403051230 A thought", "2024-03-05"),
        ("scan_20230405_101112", "2023-04-05"),
        ("Call 2021-02-01T12-33", "2021-02-01"),
        ("2024-W10", "2024-03-04"),
        ("updates/2024-04,05,06-council-update", "2024-04-01"),
        ("5-March-2024", "2024-03-05"),
        ("Minutes Mar 2024", "2024-03-01"),
        ("minutes/of_October_9,_2023", "2023-10-09"),
        ("2024", None),
        ("20191345", None),
        ("2023-02-30", None),
        ("05.03.2024", "2024-03-05"),
        ("Meeting 5.3.2024 09.30", "2024-03-05"),
        ("05-03-2024 10-30", None),
        ("14-03-2019_10-30", None),
        ("2010-11", "2010-11-01"),
        ("diary/2010-11", "2010-11-01"),
        ("Season 2010-11", None),
        ("budget/2009-10 draft", None),
        ("export-2024-05-01/journal/2019-W10", "2019-03-04"),
        ("2023-01-15 backup/2024-03", "2024-03-01"),
        ("ISO-9001-2015", None),
        ("call 1850-1234", None),
        ("release-1.2.3", None),
        ("1912-04-15 shipwreck", None),
        ("2190-01-01 plan", None),
        ("Monday", None),
        ("meeting of 5 March", None),
    ],
)
def test_the_path_of_a_note_states_a_date(path: str, date: str | None) -> None:
    assert date_in_path(path) == date


@pytest.mark.parametrize(
    ("heading", "date"),
    [
        ("2023-10-23", "2023-10-23"),
        ("Monday, 23 October 2023", "2023-10-23"),
        ("[1.2.0] - 2023-05-04", "2023-05-04"),
        ("Version 3.1 (May 2023)", "2023-05-01"),
        ("2018 Week 06", "2018-02-05"),
        ("Week 17: 17-11-2017", "2017-11-17"),
        ("05.03.2024", "2024-03-05"),
        ("05-03-2024", None),
        ("Ordinary meeting of the committee for technical questions, 2016-06-16", "2016-06-16"),
        ("Why the outage of 3 March 2021 still matters to us", None),
        ("The flood of 23 June 1894", None),
        ("Season 2010-11", None),
        ("Budget 2024", None),
        ("Monday", None),
        ("Since May 2023", None),
    ],
)
def test_a_heading_dates_what_is_under_it(heading: str, date: str | None) -> None:
    assert date_in_heading(heading) == date


def test_properties_count_before_the_path_and_headings_before_both(tmp_path: Path) -> None:
    front = "---\ncreated: 2022-02-02\n---\n"
    assert created(note(tmp_path, "2019-01-30.md", "Bo barked.")) == ["2019-01-30"]
    assert created(note(tmp_path, "2019-01-31.md", f"{front}Bo barked.")) == ["2022-02-02"]
    assert created(note(tmp_path, "2019-02-01.md", f"{front}# 2 February 2019\n\nBo barked.")) == ["2019-02-02"]
    assert created(note(tmp_path, "2019-02-02.txt", "# 1 May 2018\n\nBo barked.")) == ["2019-02-02"]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("2022-02-02 10:30", "2022-02-02T10:30:00"),
        ("20220202", "2022-02-02T00:00:00"),
        ('"[[2022-02-02]]"', "2022-02-02"),
        ("2022-02-02T10:30:00+02:00", "2022-02-02T10:30:00+02:00"),
        ("February 2nd, 2022", "2022-02-02"),
        ("2022/02/02", "2022-02-02"),
        ("02.02.2022", "2022-02-02"),
        ("2022-02", "2022-02-01"),
    ],
)
def test_a_property_states_a_time_in_iso_8601_or_a_day_in_words(tmp_path: Path, said: str, expected: str) -> None:
    assert created(note(tmp_path, "2019-01-31.md", f"---\ndate: {said}\n---\nBo barked.")) == [expected]


@pytest.mark.parametrize(
    ("name", "body", "expected"),
    [
        ("0007-queue.md", "# Queue\n\nDate: 2022-02-02\n\n## Status\n\nAccepted", "2022-02-02"),
        ("0007-queue.md", "# Queue\n\n* Status: accepted\n* **Date:** February 2nd, 2022", "2022-02-02"),
        ("pep-0007.md", "Title: Queue\nCreated: 02-Feb-2022\n\nMail waits.", "2022-02-02"),
        ("2019-01-31.md", "Date: 2022-02-02\n\nBo barked.", "2019-01-31"),
        ("queue.md", "# Queue\n\n```\nDate: 2022-02-02\n```\n\nBo barked.", None),
        ("queue.md", "# Queue\n\nBo barked.\n\n## Next\n\nDate: 2022-02-02", None),
        ("queue.md", "# Queue\n\nDate: 2099-02-02\n\nBo barked.", None),
        ("queue.md", "# Queue\n\nDate: 0001-01-01\n\nBo barked.", None),
        ("queue.md", "# Queue\n\nDate: soon\n\nBo barked.", None),
    ],
)
def test_a_line_above_the_first_heading_dates_a_note_unless_its_path_does(
    tmp_path: Path, name: str, body: str, expected: str | None
) -> None:
    written = datetime.fromtimestamp(note(tmp_path, name, body).stat().st_mtime).astimezone().date().isoformat()
    assert created(note(tmp_path, name, body))[0][:10] == (expected or written)


@pytest.mark.parametrize("said", ["1643790000000", "1643790000"])
def test_a_property_states_a_time_in_seconds_or_milliseconds_as_dendron_does(
    tmp_path: Path, place: Place, said: str
) -> None:
    place("Asia/Tokyo")
    assert created(note(tmp_path, "Day.md", f"---\ncreated: {said}\n---\nBo barked.")) == ["2022-02-02T17:20:00+09:00"]


@pytest.mark.parametrize("said", ["05/02/2022", "yesterday", "16437900000", "[some, day]"])
def test_a_property_that_names_no_day_stays_in_the_text_and_the_next_or_the_path_dates_the_note(
    tmp_path: Path, said: str
) -> None:
    for other, expected in (("", "2019-01-31"), ("date: 2020-03-04\n", "2020-03-04")):
        file = note(tmp_path, "2019-01-31.md", f"---\ncreated: {said}\n{other}---\nBo barked.")
        told, item = recognise(file, Options()).read()
        assert isinstance(told, Ignored)
        assert "names no day: it stays among the properties" in told.reason
        assert isinstance(item, Item)
        assert item.value["created_at"] == expected
        assert item.value["content"] == f"2019-01-31\n\ncreated: {said.strip('[]')}\n\nBo barked."


def test_a_template_without_text_is_no_memory(tmp_path: Path) -> None:
    file = note(tmp_path, "Day.md", "---\ncreated: <% tp.date.now() %>\n---\n")
    assert [type(one) for one in recognise(file, Options()).read()] == [Ignored, Skipped]


def test_each_day_of_a_long_diary_is_a_memory_of_that_day(tmp_path: Path) -> None:
    days = "".join(f"## {day} June 2021\n\nWe planted row {day} of the beans. {LONG[:300]}\n\n" for day in range(1, 9))
    diary = note(tmp_path, "Garden.md", f"# Garden\n\nBegun in spring.\n\n{days}")
    _, *dates = created(diary)
    assert dates == [f"2021-06-0{day}" for day in range(1, 9)]


def test_a_section_without_a_date_has_that_of_the_headings_above_it(tmp_path: Path) -> None:
    text = f"# Minutes\n\n## 2021-06-02\n\n### Budget\n\n{LONG}\n\n## 2021-07-07\n\n### Budget\n\n{LONG}"
    assert created(note(tmp_path, "2020-12-31.md", text))[-2:] == ["2021-06-02", "2021-07-07"]
