"""Pages of Logseq as notes."""

from pathlib import Path
from typing import Any

import pytest

from tests.actors.importers.test_sources import read

BLOCK = "60f57103-7fe8-4b83-b497-f3576672d30b"


def imported(folder: Path) -> tuple[dict[str, dict[str, Any]], list[dict[str, Any]]]:
    """Return the notes of a folder by their titles, and the links."""
    _, items, _, _ = read(folder, namespace="graph")
    links = [one for one in items if "event" in one]
    return {one["metadata"]["title"]: one for one in items if "content" in one}, links


def test_properties_of_a_page_are_those_of_the_note_and_what_the_program_keeps_of_blocks_is_left_out(
    tmp_path: Path,
) -> None:
    (tmp_path / "Harbour.md").write_text(
        "alias:: the port, Quay\ntags:: [[Ships]], #winter\ntype:: [[Place]]\nkeeper:: [[Ilmari]] and [[Aino]]\n\n"
        f"- The pier was mended.\n  id:: {BLOCK}\n  collapsed:: true\n\t- It held:: the storm.\n"
        "- The crane is old.\n  created-at:: 1609459200000\n"
    )
    notes, _ = imported(tmp_path)
    (note,) = notes.values()
    assert note["content"] == (
        "Harbour\n\naliases: the port, Quay\nkeeper: [[Ilmari]] and [[Aino]]\n\n"
        "- The pier was mended.\n\t- It held:: the storm.\n- The crane is old."
    )
    assert note["tags"] == ["Ships", "winter"]
    assert note["memory_type"] == "Place"
    assert note["metadata"]["aliases"] == ["the port", "Quay"]


def test_values_of_a_property_are_divided_outside_brackets_and_one_page_among_words_keeps_its_brackets(
    tmp_path: Path,
) -> None:
    (tmp_path / "Pier.md").write_text(
        "tags:: #wood #pine [[old, grey]]\nalias:: [[Quay, long]], jetty\nseen:: by [[Aino]]\nempty::\n\n- Mended.\n"
    )
    notes, _ = imported(tmp_path)
    assert notes["Pier"]["tags"] == ["wood", "pine", "old, grey"]
    assert notes["Pier"]["content"] == "Pier\n\naliases: Quay, long, jetty\nseen: by [[Aino]]\n\n- Mended."


def test_links_lead_to_pages_by_the_names_that_their_files_encode_and_by_their_properties(tmp_path: Path) -> None:
    (tmp_path / "Boats___Aallotar.md").write_text("type:: [[Boats]]\n- A tug of 1956.\n")
    (tmp_path / "Boats.md").write_text("- What floats.\n")
    (tmp_path / "Log%3A spring.md").write_text("- [[Boats/Aallotar]] was painted.\n")
    notes, links = imported(tmp_path)
    drawn = {(one["event"]["source"], *one["event"]["targets"]) for one in links}
    assert drawn == {
        (notes["Boats/Aallotar"]["id"], notes["Boats"]["id"]),
        (notes["Log: spring"]["id"], notes["Boats/Aallotar"]["id"]),
    }


def test_a_link_in_the_properties_of_another_note_is_a_link_too(tmp_path: Path) -> None:
    (tmp_path / "Ferry.md").write_text('---\ncategories:\n  - "[[Boats]]"\n---\nIt leaves at seven.\n')
    (tmp_path / "Boats.md").write_text("What floats.\n")
    notes, (link,) = imported(tmp_path)
    assert (link["event"]["source"], link["event"]["relation"]) == (notes["Ferry"]["id"], "links_to")
    assert link["event"]["targets"] == [notes["Boats"]["id"]]


@pytest.mark.parametrize("text", ["std::vector is a list.", "Note:: in capitals.", "See:: above", "a b:: c"])
def test_a_line_that_is_no_property_stays(tmp_path: Path, text: str) -> None:
    (tmp_path / "Lists.md").write_text(f"{text}\nIt grows.\n")
    notes, _ = imported(tmp_path)
    assert notes["Lists"]["content"] == f"Lists\n\n{text}\nIt grows."


@pytest.mark.parametrize("text", ["-", "- \n", f"id:: {BLOCK}\n-\n"])
def test_a_page_of_an_empty_block_is_empty(tmp_path: Path, text: str) -> None:
    (tmp_path / "2021_03_26.md").write_text(text)
    assert read(tmp_path)[1:] == ([], [], {"empty files": 1})


def test_what_programs_keep_in_a_text_for_themselves_is_in_none_of_its_sections(tmp_path: Path) -> None:
    said = " ".join(f"Plank {number} is sound." for number in range(100))
    (tmp_path / "Pier.md").write_text("".join(f"## Part {one} {{#part-{one}}}\n\n{said}\n\n" for one in "ab"))
    (tmp_path / "Log.md").write_text("".join(f"- {one}: {said}\n  id:: {BLOCK}\n" for one in "ab"))
    parts = read(tmp_path)[1]
    assert not any(mark in one["content"] for one in parts for mark in ("{#", "id::"))
    assert {one["metadata"]["division"]["heading"] for one in parts} >= {"Part a", "Part b"}
