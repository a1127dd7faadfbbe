"""Long notes become several memories, divided at their headings."""

from pathlib import Path
from typing import Any

import pytest

from actors.importers.notes.sections import MOST_JOINED, MOST_WHOLE
from actors.importers.recogniser import recognise
from actors.importers.records import Item, Options

ROOT = Path(__file__).parents[3]
PARAGRAPH = "The valve sticks when the boiler has been cold for a week, so open it by hand first. " * 12
"""Some 1,000 characters."""


def memories(path: Path) -> list[dict[str, Any]]:
    """Return the memories of a note or a folder of notes."""
    return [one.value for one in recognise(path, Options()).read() if isinstance(one, Item) and "content" in one.value]


def note(folder: Path, text: str) -> Path:
    """Write a note."""
    file = folder / "Boiler.md"
    file.write_text(text, "utf-8")
    return file


def test_every_section_of_a_long_document_is_in_one_memory_below_its_headings() -> None:
    file = ROOT / "CONTRIBUTING.md"
    found = memories(file)
    assert len(found) > 2
    text = file.read_text("utf-8")
    for one in found:
        own = one["content"] if one is found[0] else one["content"].partition("\n\n")[2]
        assert " ".join(own.split()) in " ".join(text.split())
    assert sum(len(one["content"]) for one in found) >= len(text.strip())
    assert [one["metadata"]["division"]["section"] for one in found] == [*range(1, len(found) + 1)]
    assert {one["metadata"]["division"]["sections"] for one in found} == {len(found)}
    assert len({one["id"] for one in found}) == len(found)


def test_a_section_begins_at_a_heading_that_is_none_of_code_or_of_a_quotation(tmp_path: Path) -> None:
    quoted = f"```sh\n# a comment\n{PARAGRAPH[:600]}\n```\n\n> # Said by Ilse\n> {PARAGRAPH}"
    winter, summer = f"In winter\n---------\n\n{quoted}\n\n### Frost\n\n{PARAGRAPH}", f"## In summer\n\n{PARAGRAPH}"
    text = f"# Boiler\n\nBought in 2019.\n\n{winter}\n\n{summer}"
    found = memories(note(tmp_path, text))
    assert [one["metadata"]["division"]["heading"] for one in found] == [
        "Boiler",
        "Boiler › In winter",
        "Boiler › In winter › Frost",
        "Boiler › In summer",
    ]
    assert [one["content"].splitlines()[0] for one in found] == [
        "# Boiler",
        "Boiler",
        "Boiler › In winter",
        "Boiler",
    ]
    assert "# a comment" in found[1]["content"]
    assert "# Said by Ilse" in found[1]["content"]


@pytest.mark.parametrize("text", ["# Boiler\n\n## A\n\nShort.\n\n## B\n\nShort too.", "Boiler\n\n" + PARAGRAPH * 4])
def test_a_short_note_and_one_without_headings_stay_whole(tmp_path: Path, text: str) -> None:
    (found,) = memories(note(tmp_path, text))
    assert found["content"] == text.strip()
    assert "division" not in found["metadata"]


def test_a_short_journal_is_divided_at_the_days_that_its_headings_name(tmp_path: Path) -> None:
    days = "## 2026-04-12\n\nOpened both hives.\n\n### Weather\n\nMild.\n\n## 3 May 2026\n\nPut the supers on."
    found = memories(note(tmp_path, f"---\ncreated: 2026-06-30\n---\n# Bees\n\n{days}\n\n## Varroa\n\nFormic acid."))
    assert [(one["created_at"], one["content"]) for one in found] == [
        ("2026-04-12", "# Bees\n\n## 2026-04-12\n\nOpened both hives.\n\n### Weather\n\nMild."),
        ("2026-05-03", "Boiler › Bees\n\n## 3 May 2026\n\nPut the supers on."),
        ("2026-06-30", "Boiler › Bees\n\n## Varroa\n\nFormic acid."),
    ]


@pytest.mark.parametrize(
    ("above", "first"),
    [
        ("", "Boiler\n\n### 2026-04-12\n\nOpened."),
        ("# Diary\n\n## April 2026\n\n", "# Diary\n\n## April 2026\n\n### 2026-04-12\n\nOpened."),
        ("Bees\n====\n\n", "Boiler\n\nBees\n====\n\n### 2026-04-12\n\nOpened."),
    ],
)
def test_headings_without_text_and_the_name_of_a_note_are_no_memories(tmp_path: Path, above: str, first: str) -> None:
    found = memories(note(tmp_path, f"{above}### 2026-04-12\n\nOpened.\n\n### 2026-04-13\n\nClosed."))
    assert [one["created_at"] for one in found] == ["2026-04-12", "2026-04-13"]
    assert found[0]["content"] == first


@pytest.mark.parametrize(
    ("name", "headings", "days"),
    [
        ("2021-05-update.md", ("# May 3", "# Monday, May 10th"), ["2021-05-03", "2021-05-10"]),
        ("2021-01.md", ("# December", "# January", "## 18 January"), ["2020-12-01", "2021-01-01", "2021-01-18"]),
        (
            "diary.md",
            ("# 2021", "## 3 May", "## Dec. 31 (eve)", "# 2022", "## May 5-7"),
            "2021-05-03 2021-12-31 2022-05-05".split(),
        ),
        ("2021/log.md", ("# May 3: the roof", "# May 4"), ["2021-05-03", "2021-05-04"]),
    ],
)
def test_a_day_without_its_year_is_the_nearest_to_what_is_above_it(
    tmp_path: Path, name: str, headings: tuple[str, ...], days: list[str]
) -> None:
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(
        "\n\n".join(one if one[2:].isdigit() else f"{one}\n\nOpened hive {one}." for one in headings), "utf-8"
    )
    assert [one["created_at"] for one in memories(tmp_path)] == days


@pytest.mark.parametrize("headings", [("Step 1 may fail", "March on"), ("May", "Rule 3.1 May"), ("Chapter 3", "5/3")])
def test_a_heading_that_names_no_day_of_a_year_dates_nothing(tmp_path: Path, headings: tuple[str, str]) -> None:
    file = tmp_path / "2021-05-11.md"
    file.write_text("\n\n".join(f"# {one}\n\nOpened both hives." for one in headings), "utf-8")
    assert {one["created_at"] for one in memories(file)} <= {"2021-05-11", "2021-05-01"}


def test_a_short_note_of_one_day_stays_whole(tmp_path: Path) -> None:
    text = "# Boiler\n\n## 2026-04-12\n\nOpened the valve.\n\n## Parts\n\nA gasket."
    assert [one["content"] for one in memories(note(tmp_path, text))] == [text]


def test_short_sections_are_joined_up_to_two_windows(tmp_path: Path) -> None:
    text = "# Boiler\n\n" + "".join(f"## Part {number}\n\n{PARAGRAPH[:400]}\n\n" for number in range(9))
    assert len(text) > MOST_WHOLE
    found = memories(note(tmp_path, text))
    assert 2 < len(found) < 9
    assert all(len(one["content"]) < MOST_JOINED + 100 for one in found)


def test_tags_of_a_section_are_its_own_and_those_of_the_note(tmp_path: Path) -> None:
    text = f"---\ntags: [house]\n---\n# Boiler\n\n{PARAGRAPH}\n\n## Frost\n\n{PARAGRAPH} #winter\n"
    first, second = memories(note(tmp_path, text))
    assert (first["tags"], second["tags"]) == (["house"], ["house", "winter"])


def test_a_line_of_dashes_below_a_paragraph_makes_no_heading_of_it(tmp_path: Path) -> None:
    minutes = "\n".join(f"[00:{number:02}] Ilse: {PARAGRAPH[:60]}" for number in range(40))
    found = memories(note(tmp_path, f"# Boiler\n\n{minutes}\n---\n\n## Frost\n\n{PARAGRAPH}"))
    assert [one["metadata"]["division"]["heading"] for one in found] == ["Boiler", "Boiler › Frost"]
    assert "[00:39] Ilse" in found[0]["content"]


def test_a_property_of_a_note_is_kept_beside_what_its_sections_are(tmp_path: Path) -> None:
    text = f"---\nsection: Cellar\n---\n# Boiler\n\n{PARAGRAPH}\n\n## Frost\n\n{PARAGRAPH}"
    assert [one["metadata"]["section"] for one in memories(note(tmp_path, text))] == ["Cellar", "Cellar"]


def test_what_is_long_below_a_heading_is_divided_at_its_least_nested_items(tmp_path: Path) -> None:
    talk = "".join(f"    - Ilse: {number}. {PARAGRAPH[:150]}\n" for number in range(12))
    minutes = f"- Roll call\n    - All are here\n- Frost in the cellar (*Bruno*)\n{talk}- Keys\n    - Noor has them\n"
    found = memories(
        note(tmp_path, f"# Boiler\n\n## 2023-06-02\n\n- Founded 1999-05-02\n{minutes}\n## Holidays\n\nNone.")
    )
    frost = "Boiler › 2023-06-02 › Frost in the cellar (*Bruno*)"
    first, *middle, keys, holidays = found
    assert [one["metadata"]["division"]["heading"] for one in middle] == [frost] * len(middle)
    assert all(one["content"].startswith(f"{frost}\n\n- Ilse: ") for one in middle)
    assert all(line.startswith("- Ilse: ") for one in middle for line in one["content"].splitlines()[2:])
    assert (first["content"] + "".join(one["content"] for one in middle)).count("Ilse: ") == 12
    assert keys["content"] == "Boiler › 2023-06-02\n\n- Keys\n    - Noor has them"
    assert holidays["content"] == "Boiler\n\n## Holidays\n\nNone."
    assert {one["created_at"] for one in [*middle, keys]} == {"2023-06-02"}, "an item is no heading"


@pytest.mark.parametrize("name", ["Boiler.md", "Boiler.txt"])
def test_a_long_text_without_headings_is_divided_at_its_paragraphs(tmp_path: Path, name: str) -> None:
    paragraphs = [f"{number}. {PARAGRAPH[:700]}" for number in range(6)]
    file = tmp_path / name
    file.write_text("\n\n".join(paragraphs))
    found = memories(file)
    assert len(found) == 3
    assert all(one["content"].startswith("Boiler\n\n") for one in found[1:])
    assert all(sum(paragraph in one["content"] for one in found) == 1 for paragraph in paragraphs)


def test_lines_of_a_long_paragraph_are_parted_after_sentences_only_and_code_and_tables_never(tmp_path: Path) -> None:
    lines = "\n".join(f"[00:{number:02}] Ilse: {PARAGRAPH[:85]}" for number in range(40))
    code = "\n".join(f"valve_{number} = open(); close()." for number in range(120))
    found = memories(note(tmp_path, f"# Boiler\n\n{lines}\n\n```py\n{code}\n```\n"))
    assert [one["content"].count("```") for one in found] == [0] * (len(found) - 1) + [2]
    assert sum(one["content"].count("Ilse") for one in found) == 40
    assert all(one["content"].count("[00:") == one["content"].count("by hand first.") for one in found)
    indented = "\n".join(f"    valve_{number} = open(); close()." for number in range(120))
    table = "\n".join(["Valve | State", "--- | ---", *(f"{number} | It sticks." for number in range(200))])
    for block in (indented, table):
        found = memories(note(tmp_path, f"# Boiler\n\n{PARAGRAPH}\n\n{block}\n\n{PARAGRAPH}"))
        assert any(block in one["content"] for one in found)
