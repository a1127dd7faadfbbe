"""Each source is recognised and read with all its fields; what is left out, and what is broken, is reported."""

import os
import random
import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from time import process_time
from typing import Any
from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZIP_LZMA, ZIP_STORED, ZipFile

import pytest

from actors.api.operations.ingest.import_items import parse_item
from actors.exporters.forms import write_markdown
from actors.importers.files import MAX_TEXT, SPECIAL
from actors.importers.recogniser import recognise
from actors.importers.records import (
    MAX_CHARACTERS,
    Broken,
    FormatError,
    Ignored,
    Item,
    Options,
    Skipped,
    moment,
    pieces,
)
from actors.importers.screening import screened
from tests.actors.conftest import Place
from tests.actors.importers import samples


def read(path: Path, **options: Any) -> tuple[str, list[dict[str, Any]], list[Broken], Counter[str]]:
    """Return the name of a source, its items, its broken lines, and why how much was left out."""
    source = recognise(path, Options(**options))
    records = list(source.read())
    items = [one.value for one in records if isinstance(one, Item)]
    for item in items:
        parse_item(item)  # a store takes it
    broken = [one for one in records if isinstance(one, Broken)]
    return source.name, items, broken, Counter(one.reason for one in records if isinstance(one, Skipped))


def by_content(items: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {item["content"]: item for item in items if "content" in item}


def links(items: list[dict[str, Any]]) -> set[tuple[str, str, str]]:
    """Return the links as the contents of their ends and the relation."""
    names = {item["id"]: item["content"] for item in items if "content" in item}
    events = [item["event"] for item in items if "event" in item]
    return {(names[one["source"]], one["relation"], names[target]) for one in events for target in one["targets"]}


def links_of_notes(
    folder: Path, notes: dict[str, str]
) -> tuple[set[tuple[str, str]], tuple[list[Broken], Counter[str]]]:
    """Write notes by their paths; return the titles of the ends of their links, and what was broken or left out."""
    samples.write_files(folder, notes)
    _, items, broken, skipped = read(folder)
    titles = {item["content"]: item["metadata"]["title"] for item in items if "content" in item}
    return {(titles[source], titles[target]) for source, _, target in links(items)}, (broken, skipped)


def test_claude_code_turns_keep_time_project_session_and_speaker(tmp_path: Path) -> None:
    broken_lines = samples.transcripts(tmp_path, projects=20, sessions=40)
    name, items, broken, skipped = read(tmp_path)
    assert name == "Claude Code transcripts"
    assert len(items) == 3 * 40
    assert len({item["session"] for item in items}) == 40
    assert len({item["namespace"] for item in items}) == 20
    question = by_content(items)["What about upload number 9?"]
    assert (question["namespace"], question["tags"]) == ("upload-9", ["user"])
    assert question["created_at"] == "2026-01-13T09:00:00.000Z"
    assert question["metadata"]["git_branch"] == "main"
    assert [(one.line, one.reason.startswith("not JSON")) for one in broken] == [(4, True)] * broken_lines
    assert skipped["tool calls and results"] == 80
    assert skipped["side chains"] == skipped["thinking"] == 40


def test_what_programs_write_in_utc_is_of_the_machines_calendar_and_has_the_same_id_everywhere(
    tmp_path: Path, place: Place
) -> None:
    samples.transcripts(tmp_path, projects=1, sessions=1)
    ids = set[str]()
    for zone, written in (("UTC", "2026-01-14T09:00:00.000Z"), ("Asia/Tokyo", "2026-01-14T18:00:00+09:00")):
        place(zone)
        _, items, _, _ = read(tmp_path)
        assert [item["created_at"] for item in items if "user" in item["tags"]] == [written]
        ids |= {item["id"] for item in items}
    assert len(ids) == len(items)


@pytest.mark.parametrize(
    ("given", "local"),
    [
        ("2026-05-02T23:30:00Z", "2026-05-03T08:30:00+09:00"),
        (1777764600, "2026-05-03T08:30:00+09:00"),
        (1777764600000, "2026-05-03T08:30:00+09:00"),
        *((text, text) for text in ("2026-05-02", "2026-05-02T23:30", "2026-05-02T23:30:00-07:00", "soon")),
        *((nothing, None) for nothing in ("", None, 0, -1, 1e300)),
    ],
)
def test_only_a_time_in_utc_is_converted(place: Place, given: Any, local: str | None) -> None:
    place("Asia/Tokyo")
    assert moment(given) == local


def test_tool_calls_and_side_chains_come_only_if_asked_for(tmp_path: Path) -> None:
    samples.transcripts(tmp_path, projects=5, sessions=5)
    _, items, _, skipped = read(tmp_path, everything=True, namespace="all")
    contents = by_content(items)
    assert 'Bash {"command":"ls"}' in contents
    assert {"A task of a helper.", "Look into the folder.", "a.py", "Hm."} <= contents.keys()
    assert {item["namespace"] for item in items} == {"all"}
    assert "side chains" not in skipped


def test_files_that_are_not_read_are_named_relative_to_the_folder_and_only_claude_codes_want_everything(
    tmp_path: Path,
) -> None:
    claude, codex = tmp_path / "subagents" / "claude", tmp_path / "subagents" / "codex"
    samples.transcripts(claude, projects=1, sessions=1)
    (claude / "notes").mkdir()
    (claude / "notes" / "other.json").write_text("[]")
    samples.codex(codex)
    (codex / "subagents").mkdir()
    (codex / "subagents" / "agent.jsonl").write_text("{}\n")
    unread = {str(file): reason for file, reason in recognise(claude, Options()).unread}
    assert unread.pop("notes/other.json").startswith("not of the folder's format")
    ((side, reason),) = unread.items()
    assert (Path(side).name, reason) == ("agent-1.jsonl", "read with --everything only")
    reasons = [reason for _, reason in recognise(codex, Options()).unread]
    assert not any("--everything" in reason for reason in reasons)


OTHER_SESSION = """Another Claude session sent a message:
<cross-session-message from="uds:/tmp/cc-socks/1.sock" from-name="planning">
We agreed to drop E.
</cross-session-message>

IMPORTANT: This is NOT from your user."""


def test_what_a_program_writes_into_turns_is_left_out(tmp_path: Path) -> None:
    lines = [
        samples.turn("s", 0, "/srv/a", "user", "<command-name>/clear</command-name>"),
        samples.turn("s", 1, "/srv/a", "user", "Caveat: generated", isMeta=True),
        samples.turn("s", 2, "C:\\work\\shop", "user", "Ship it.<system-reminder>be brief</system-reminder>"),
        samples.turn("s", 3, "/srv/a", "assistant", [{"type": "image", "source": {}}]),
        samples.turn("s", 4, "/srv/a", "user", "This session is being continued.", isCompactSummary=True),
        samples.turn("s", 5, "/srv/a", "user", "<task-notification>\n<result>We chose C.</result></task-notification>"),
        samples.turn("s", 6, "/srv/a", "user", "<ide_opened_file>The user opened a.py</ide_opened_file>"),
        samples.turn(
            "s", 7, "/srv/a", "user", [{"type": "text", "text": "[Request interrupted by user for tool use]"}]
        ),
        samples.turn("s", 9, "/srv/a", "user", '<teammate-message teammate_id="lead">We chose D.</teammate-message>'),
        samples.turn("s", 10, "/srv/a", "user", OTHER_SESSION),
        samples.turn("s", 8, "/srv/a", "assistant", "API Error: 529"),
    ]
    lines[-1]["message"]["model"] = "<synthetic>"
    _, (item,), _, skipped = read(samples.write_lines(tmp_path / "one.jsonl", lines))
    assert (item["content"], item["namespace"]) == ("Ship it.", "shop")
    assert (skipped["images"], skipped["summaries of turns before them"], skipped["notes of the program"]) == (1, 1, 2)
    assert skipped["messages of other sessions"] == 2


def test_codex_and_gemini_turns_keep_time_project_session_and_speaker(tmp_path: Path) -> None:
    samples.codex(tmp_path / "codex")
    _, items, broken, skipped = read(tmp_path / "codex")
    assert [(one["content"], one["tags"]) for one in items] == [
        ("Why is the basket empty?", ["user"]),
        ("The cookie expired too early.", ["assistant"]),
    ]
    assert {(one["namespace"], one["session"]) for one in items} == {("shop", "codex-1")}
    assert items[0]["created_at"] == "2026-03-01T10:02:00.000Z"
    assert [one.line for one in broken] == [7]
    assert skipped["tool calls and results"] == 1

    samples.gemini(tmp_path / "gemini")
    name, items, _, skipped = read(tmp_path / "gemini")
    assert name == "Gemini CLI sessions"
    assert [(one["content"], one["metadata"]["speaker"]) for one in items] == [
        ("Which port does the proxy use?", "user"),
        ("It listens on 8443.", "assistant"),
    ]
    assert items[1]["metadata"]["model"] == "gemini-2.5-pro"
    assert skipped == {"tool calls and results": 1, "thinking": 1, "messages of the program": 1}


def test_entities_observations_and_relations_become_linked_memories(tmp_path: Path) -> None:
    _, items, broken, _ = read(samples.memory_server(tmp_path / "memory.jsonl"))
    assert by_content(items).keys() == {
        "Mara (person)",
        "Mara: Plays the oboe",
        "Mara: Lives in Kiel",
        "Harbour Orchestra (group)",
        "Mara plays in Harbour Orchestra",
    }
    assert ("Mara (person)", "plays_in", "Harbour Orchestra (group)") in links(items)
    assert ("Mara: Plays the oboe", "observation_of", "Mara (person)") in links(items)
    assert [(one.line, "Nobody" in one.reason) for one in broken] == [(4, True)]


def test_a_memory_of_mem0_keeps_all_its_fields(tmp_path: Path) -> None:
    _, (item,), broken, _ = read(samples.mem0(tmp_path / "mem0.json"))
    assert (item["content"], item["namespace"], item["session"]) == (
        "Prefers window seats on trains.",
        "tilda",
        "trip-7",
    )
    assert (item["created_at"], item["tags"]) == ("2026-01-05T10:00:00-08:00", ["travel"])
    assert item["metadata"] == {
        "source": "mem0",
        "user_id": "tilda",
        "agent_id": "planner",
        "speaker": "Tilda",
        "hash": "ab12",
        "updated_at": "2026-01-06T10:00:00-08:00",
        "expiration_date": "2027-01-01",
        "confidence": 0.9,
    }
    assert "memory 2" in broken[0].reason


def test_claude_mems_database_gives_prompts_observations_and_summaries(tmp_path: Path) -> None:
    _, items, _, skipped = read(samples.claude_mem(tmp_path / "claude-mem.db"))
    kinds = {item["memory_type"]: item for item in items}
    assert [item["content"] for item in items if item["memory_type"] == "prompt"] == ["Only here", "Water the beds"]
    fix = kinds["bugfix"]
    assert fix["content"] == (
        "Valve stuck: Bed four\n\nThe timer never opened the valve.\n\n- The valve leaks\n- It was closed"
    )
    assert (fix["tags"], fix["session"], fix["namespace"]) == (["irrigation"], "s1", "garden")
    assert fix["created_at"] == "2026-01-01T00:01:40+00:00"
    assert fix["metadata"]["files_read"] == ["timer.py"]
    assert fix["metadata"]["files_modified"] == ["valve.py"]
    assert "Next steps: Order a spare" in kinds["session_summary"]["content"]
    assert skipped == {"observations without text": 1}


def test_an_observation_keeps_the_code_that_it_holds(tmp_path: Path) -> None:
    (tmp_path / "Build.md").write_text(
        "# Build\n\n- [step] Run `make test #1` first #ci (see `README`)\n- [tool] `ruff`\n\n"
        "- [`--fix`] mends it\n\n```\n- [step] in a block\n```\n",
        "utf-8",
    )
    observed = {item["content"]: item for item in read(tmp_path)[1] if item.get("memory_type") == "observation"}
    assert observed.keys() == {"Build: Run `make test #1` first #ci", "Build: `ruff`"}
    assert observed["Build: Run `make test #1` first #ci"]["tags"] == ["step", "ci"]
    assert observed["Build: Run `make test #1` first #ci"]["metadata"]["context"] == "see `README`"


def test_tasks_stay_in_their_note_whatever_their_state_and_any_word_is_a_category(tmp_path: Path) -> None:
    tasks = "- [ ] call Ann\n- [x] pay Bo\n- [-] sell the boat\n- [/] mend the roof\n- [x ] call Cy"
    (tmp_path / "Plans.md").write_text(f"# Plans\n\n{tasks}\n- [xss] the title is escaped\n", "utf-8")
    assert [item["content"] for item in read(tmp_path)[1] if "content" in item] == [
        f"# Plans\n\n{tasks}",
        "Plans: the title is escaped",
    ]


def test_notes_keep_properties_tags_observations_and_links(tmp_path: Path) -> None:
    name, items, broken, skipped = read(samples.vault(tmp_path / "vault"))
    assert name == "a folder of notes"
    contents = by_content(items)
    (note,) = (item for item in contents.values() if item["content"].startswith("# Coffee Brewing"))
    assert note["tags"] == ["coffee", "brewing", "morning"]
    assert (note["created_at"], note["memory_type"]) == ("2026-02-03T08:00:00", "note")
    assert note["metadata"]["permalink"] == "kitchen/coffee"
    assert note["metadata"]["modified"] == "2026-02-04"
    assert "Bloom" not in note["content"]
    assert "- [ ] buy filters" in note["content"]
    observation = contents["Coffee Brewing: Bloom for thirty seconds #timing"]
    assert observation["tags"] == ["method", "timing"]
    assert observation["metadata"]["context"] == "learned from Ilse"
    drawn = {(source.split("\n")[0], relation, target.split("\n")[0]) for source, relation, target in links(items)}
    assert drawn == {
        (observation["content"], "observation_of", "# Coffee Brewing"),
        ("# Coffee Brewing", "taught_by", "Ilse"),
        ("Ilse", "links_to", "# Coffee Brewing"),
    }
    assert "The kettle takes four minutes." in contents
    assert [(Path(one.file).name, one.line, one.reason) for one in broken] == [
        ("latin.md", 2, "not UTF-8: save the file as UTF-8, such as by iconv -f cp1252 -t utf-8 FILE")
    ]
    assert skipped == {"links to notes that don't exist": 1}
    assert not any("workspace" in item["content"] for item in contents.values())


def test_a_source_that_a_note_or_a_memory_of_mem0_states_stands_beside_what_the_importer_says(tmp_path: Path) -> None:
    (tmp_path / "clip.md").write_text("---\nsource: https://example.org/bees\n---\n# Bees\nThey dance.\n", "utf-8")
    mem0 = tmp_path / "mem0.json"
    mem0.write_text(
        '[{"id": "1", "memory": "Ole dives.", "user_id": "ole", "metadata": {"source": "chat", "stated_source": "I"}}]',
        "utf-8",
    )
    (note,), (memory,) = (read(path)[1] for path in (tmp_path / "clip.md", mem0))
    assert note["metadata"]["source"] == "note"
    assert note["metadata"]["stated_source"] == "https://example.org/bees"
    assert note["content"] == "# Bees\n\nsource: https://example.org/bees\n\nThey dance."
    stated = {"stated_source": "I", "stated_stated_source": "chat"}
    assert memory["metadata"] == {"source": "mem0", "user_id": "ole"} | stated


OWN = {
    "id": "00000000-0000-0000-0000-000000000001",
    "content": "  - Hive two, as it was:\n\n![](data:image/png;base64,iVBORw0KGgo=)  \n",
    "created_at": "2026-03-02T10:11:12+01:00",
    "namespace": "bees",
    "importance": 0.9,
    "modality": "text",
    "tags": ["hive"],
    "metadata": {"frames": [2**63, None, {"full": 8}]},
}


@pytest.mark.parametrize("linked", [(), ((OWN["id"], OWN["id"], "about"),)], ids=["alone", "linked"])
def test_a_note_of_our_own_export_is_the_memory_that_it_was(tmp_path: Path, linked: Any) -> None:
    write_markdown(tmp_path, [OWN], linked)
    _, (item,), broken, skipped = read(tmp_path)
    assert (broken, skipped) == ([], {})
    assert {name: item.get(name) for name in OWN if name != "id"} == {
        name: value for name, value in OWN.items() if name != "id"
    }


@pytest.mark.parametrize(
    "line",
    [
        "metadata: hello",
        "metadata: [hello]",
        "metadata: !!binary aGVsbG8=",
        "metadata: {a: {? [b] : c}}",
        "tags: [2024]",
        "tags: work",
        "namespace: [1]",
        "session: {a: 1}",
        "importance: high",
        "importance: 2",
        "modality: smell",
        "id: 5",
    ],
)
def test_a_note_that_states_what_no_memory_has_is_one_like_any_other(tmp_path: Path, line: str) -> None:
    write_markdown(tmp_path, [{name: OWN[name] for name in OWN if name not in {"tags", "metadata"}}], ())
    (own,) = tmp_path.rglob("*.md")
    front = [one for one in own.read_text("utf-8").splitlines() if one.partition(":")[0] != line.partition(":")[0]]
    (tmp_path / "edited.md").write_text("\n".join([front[0], line, *front[1:]]), "utf-8")
    name, items, _, skipped = read(tmp_path)
    assert name == "a folder of notes"
    assert sorted(item.get("namespace", "") for item in items) == ["", "bees"]
    assert skipped["images"] == 1


def test_a_note_that_says_its_title_alone_is_empty(tmp_path: Path) -> None:
    (tmp_path / f"Log {'a' * 32}.md").write_text("# Log\n\n", "utf-8")
    assert read(tmp_path)[1:] == ([], [], {"empty files": 1})


def test_an_empty_note_is_no_memory_and_links_to_it_are_left_out(tmp_path: Path) -> None:
    notes = {
        "nothing.md": "",
        "blank.txt": " \n\n",
        "template.md": "---\ntags: [daily]\ncreated: 2026-02-03\naliases: []\n---\n\n",
        "Ilse.md": "---\nphone: 555 0199\n---\n",
        "todo.md": "See [[nothing]] and [[Ilse]].\n",
        "trip.md": "![[ferry.png]] and [[timetable.pdf|the times]] of [[Hven]] and [[v1.2]].\n",
        "work.md": "See [[main.py]], [[cmd/main.go]] and [[Ask Dr. Lund]].\n",
    }
    samples.write_files(tmp_path, notes)
    _, items, broken, skipped = read(tmp_path)
    assert [(item["content"], item["metadata"].get("phone")) for item in items if "content" in item] == [
        ("Ilse\n\nphone: 555 0199", "555 0199"),
        ("todo\n\nSee [[nothing]] and [[Ilse]].", None),
        ("trip\n\n![[ferry.png]] and [[timetable.pdf|the times]] of [[Hven]] and [[v1.2]].", None),
        ("work\n\nSee [[main.py]], [[cmd/main.go]] and [[Ask Dr. Lund]].", None),
    ]
    assert {target for _, _, target in links(items)} == {"Ilse\n\nphone: 555 0199"}
    assert broken == []
    assert skipped == {
        "empty files": 3,
        "links to empty files": 1,
        "links to files that are no notes": 4,
        "links to notes that don't exist": 3,
    }


def test_what_the_properties_of_a_note_say_is_in_its_text_and_how_it_is_shown_is_not(tmp_path: Path) -> None:
    front = "tags: [person]\nbirthday: 1991-03-14\naliases: [Ine, Nes]\ncssclasses: [wide]\nweight: {kg: 60}\n"
    (tmp_path / "Ines.md").write_text(f"---\n{front}---\n# Ines\nShe dives.\n", "utf-8")
    (tmp_path / "Oslo.md").write_text("---\nmoved: 2024\n---\nFour rooms.\n", "utf-8")
    _, items, broken, _ = read(tmp_path)
    assert [item["content"] for item in items] == [
        "# Ines\n\nbirthday: 1991-03-14\naliases: Ine, Nes\n\nShe dives.",
        "Oslo\n\nmoved: 2024\n\nFour rooms.",
    ]
    assert items[0]["metadata"]["weight"] == {"kg": 60}
    assert broken == []


def test_a_link_by_an_alias_leads_to_the_note_that_has_it_unless_another_has_it_as_its_name(tmp_path: Path) -> None:
    notes = {
        "Beds.md": "---\naliases: [Glass house, Watering]\n---\nBeds of cedar.\n",
        "Plan.md": "See [[the Beds]], [[glass house|there]], [[Watering]] and [[shed]].\n",
        "Shade.md": "---\naliases: Awning, The beds\n---\nA green cloth.\n",
        "Watering.md": "At six.\n",
    }
    drawn, left_out = links_of_notes(tmp_path, notes)
    assert drawn == {("Plan", "Shade"), ("Plan", "Beds"), ("Plan", "Watering")}
    assert left_out == ([], {"links to notes that don't exist": 1})


def test_markdowns_links_to_files_lead_to_the_notes_and_notions_ids_are_no_part_of_a_title(tmp_path: Path) -> None:
    page, inner = f"Projects {'1f' * 16}", f"Garden {'ab' * 16}"
    (tmp_path / page).mkdir()
    (tmp_path / f"{page}.md").write_text(
        f"# Projects\n\n[Garden]({page.replace(' ', '%20')}/{inner.replace(' ', '%20')}.md#Beds) [web](https://x.org/a.md)\n"
    )
    (tmp_path / page / f"{inner}.md").write_text(
        'Dug. [Up](<../README.md> "all") [gone](gone.md) `[no](../README.md)`\n'
    )
    (tmp_path / page / "README.md").write_text("Not this.\n")
    (tmp_path / "README.md").write_text("All pages.\n")
    _, items, _, skipped = read(tmp_path)
    titles = {item["metadata"]["title"] for item in items if "content" in item}
    assert titles == {"Projects", "Garden", "README"}
    assert {(source.partition("\n")[0], target.splitlines()[-1]) for source, _, target in links(items)} == {
        ("# Projects", 'Dug. [Up](<../README.md> "all") [gone](gone.md) `[no](../README.md)`'),
        ("Garden", "All pages."),
    }
    assert skipped == {"links to notes that don't exist": 1}


def test_a_link_by_a_path_without_folder_leads_to_the_only_file_of_that_name(tmp_path: Path) -> None:
    notes = {
        "people/Ilmari.md": "He mends [the boats](Old%20Boats.md); see [all](README.md).\n",
        "harbour/Old Boats.md": "---\nkeeper: '[[Aino]]'\nseen: [Ilmari](../people/Ilmari.md)\n---\nFive of them.\n",
        "harbour/Aino K.md": "---\nalias: Aino\n---\nHers is the key, [[The list|harbour.list]].\n",
        "harbour.list.md": "Ropes, [[oars|dendron://quay/store.oars]].\n",
        "store.oars.md": "Six.\n",
        "harbour/README.md": "Of the harbour.\n",
        "store/README.md": "Of the store.\n",
    }
    drawn, left_out = links_of_notes(tmp_path, notes)
    assert drawn == {
        ("Ilmari", "Old Boats"),
        ("Old Boats", "Ilmari"),
        ("Old Boats", "Aino K"),
        ("Aino K", "harbour.list"),
        ("harbour.list", "store.oars"),
    }
    assert left_out == ([], {"links to notes that don't exist": 1}), "two files are called README"


def test_a_link_to_a_heading_or_out_of_the_folder_leads_to_no_note_of_another_name_and_one_in_a_table_to_its_own(
    tmp_path: Path,
) -> None:
    notes = {
        "harbour/Pier.md": "See [[#Wood|Boats]], [all](../../README.md) and [these](../store/README.md).\n",
        "harbour/Crane.md": "| what |\n|---|\n| [[Pier\\|the pier]] |\n\nAnd [[../Boats]], [[#Steel]].\n",
        "Boats.md": "Five of them.\n",
        "quay/README.md": "Of the quay.\n",
    }
    drawn, left_out = links_of_notes(tmp_path, notes)
    assert drawn == {("Crane", "Pier"), ("Crane", "Boats")}
    assert left_out == ([], {"links to notes that don't exist": 2})


def test_long_lines_of_spaces_take_no_longer_than_others(tmp_path: Path) -> None:
    spaces = " " * 20_000
    (tmp_path / "Pier.md").write_text(
        f"# The pier{spaces}.\n\n- [wood] Oak{spaces}and{spaces}(pine) too\n- [[Boats]]{spaces}.\n"
    )
    start = process_time()
    read(tmp_path)
    assert process_time() - start < 2


def test_a_post_of_hugo_has_its_properties_in_toml_and_no_names_of_headings(tmp_path: Path) -> None:
    (tmp_path / "kelp.md").write_text(
        '+++\ntitle = "Of kelp"\ndate = 2021-06-02\ntags = ["sea", "dull green"]\ndraft = true\nplace = "Hanko"\n'
        "lastmod = 2021-07-01\n+++\n"
        "\n"
        "## How it grows {#how-it-grows}\n\nSlowly, [as told](#how-it-grows), see [[#Tides|there]]. Seen on #walks.\n"
    )
    (tmp_path / "bad.md").write_text('+++\ntitle = "Of\n+++\nSalt, as in [kelp]({{<relref "kelp.md#how" >}}).\n')
    _, items, broken, skipped = read(tmp_path)
    bad, kelp, link = items
    assert (link["event"]["source"], link["event"]["targets"]) == (bad["id"], [kelp["id"]])
    assert kelp["content"] == (
        "Of kelp\n\nplace: Hanko\n\n## How it grows\n\nSlowly, [as told](#how-it-grows), see [[#Tides|there]]. "
        "Seen on #walks."
    )
    assert (kelp["created_at"], kelp["tags"]) == ("2021-06-02", ["sea", "dull green", "walks"])
    assert bad["content"] == 'bad\n\nSalt, as in [kelp]({{<relref "kelp.md#how" >}}).'
    assert (broken, skipped) == ([], {})


def test_a_page_of_notion_has_the_day_and_the_tags_that_stand_below_its_title(tmp_path: Path) -> None:
    above = "# Keel\n\nCreated time: March 25, 2024 9:00 AM\nTags: deep sea, wood\nStatus: Done\n\n"
    (tmp_path / f"Keel {'0123456789abcdef' * 2}.md").write_text(f"{above}The bolts are new.\n", "utf-8")
    (tmp_path / "Keel.md").write_text(f"{above}The bolts are old.\n", "utf-8")
    notion, other = read(tmp_path)[1]
    assert (notion["created_at"], notion["tags"]) == ("2024-03-25", ["deep sea", "wood"])
    assert notion["content"] == f"{above}The bolts are new."
    assert "March" not in str(notion["metadata"])
    assert not other["created_at"].startswith("2024-03-25")
    assert other.get("tags") is None


@pytest.mark.parametrize("start", ["compressed-json\nN4KAkARA", 'json\n{\n\t"type": "excalidraw",'])
def test_the_data_of_a_drawing_is_left_out_and_its_texts_stay(tmp_path: Path, start: str) -> None:
    note = f"## Text Elements\nHull ^a1\n\n%%\n## Drawing\n```{start}{'aB3+/' * 2_000}\n```\n%%\n"
    (tmp_path / "hull.excalidraw.md").write_text(note, "utf-8")
    _, items, _, skipped = read(tmp_path)
    assert [len(item["content"]) < 200 and "Hull ^a1" in item["content"] for item in items] == [True]
    assert skipped == {"images": 1}


def test_a_link_to_a_file_is_looked_up_as_it_is_and_drawn_once_beside_a_wikilink(tmp_path: Path) -> None:
    notes = {
        "C.md": "A language.\n",
        "C#.md": "Another one.\n",
        "a.md": "[c](<C%23.md>) [[sub/b]] [[b|that]] [[B#Top]] [b](sub/b.md)\n",
        "sub/b.md": "- uses [[C]]\n- [[C|it]]\n- follows [[c#old]]\n- uses [[c]]\n\nSee [c](../C.md).\n",
    }
    samples.write_files(tmp_path, notes)
    items = read(tmp_path)[1]
    drawn = Counter((source[0], relation, target.split("\n")[0]) for source, relation, target in links(items))
    assert drawn == {
        ("a", "links_to", "C#"): 1,
        ("a", "links_to", "b"): 1,
        ("b", "uses", "C"): 1,
        ("b", "follows", "C"): 1,
    }
    assert sum("event" in item for item in items) == 4


def test_a_note_whose_name_is_not_utf_8_is_read(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path)
    try:
        Path(os.fsdecode(folder + b"/K\xfcche.md")).write_text("The oven is gas. See [[Bad]].", "utf-8")
    except OSError:
        pytest.skip("this file system takes names in UTF-8 only")
    (tmp_path / "Bad.md").write_text("Tiles.", "utf-8")
    _, items, broken, skipped = read(tmp_path)
    assert [item["content"] for item in items if "content" in item] == [
        "Bad\n\nTiles.",
        "K\ufffdche\n\nThe oven is gas. See [[Bad]].",
    ]
    assert len(links(items)) == 1
    assert (broken, skipped) == ([], {})


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="only Linux has a file that nobody can read")
@pytest.mark.parametrize("kind", ["notes", "sessions"])
def test_a_file_of_a_folder_that_cannot_be_read_is_named_and_the_others_are_imported(tmp_path: Path, kind: str) -> None:
    if kind == "notes":
        folder, unreadable = tmp_path, tmp_path / "a locked note.md"
        (tmp_path / "rake.md").write_text("The rake is in the shed.", "utf-8")
    else:
        folder = tmp_path / "projects"
        samples.transcripts(folder, 1, 2)
        unreadable = next(folder.rglob("*.jsonl")).with_name("0.jsonl")
    expected = read(folder)[1]
    unreadable.symlink_to("/proc/self/mem")
    _, items, broken, _ = read(folder)
    assert items == expected
    assert items
    assert [(one.file, one.line, one.reason) for one in broken] == [
        (str(unreadable), 0, "it can't be read: Input/output error")
    ]
    if kind == "notes":
        with pytest.raises(FormatError, match=r"locked note.md: it can't be read: Input/output error; nothing was"):
            read(unreadable)


def test_text_with_zero_bytes_is_refused_with_its_line_and_the_rest_is_read(tmp_path: Path) -> None:
    (tmp_path / "unmarked.txt").write_bytes("The ladder\nis in the loft.".encode("utf-16-le"))
    (tmp_path / "table.csv").write_bytes(b"date,text\n2026-01-01,Snow\0\n")
    (tmp_path / "whole.txt").write_text("The hoe is in the shed.", "utf-8")
    _, items, broken, _ = read(tmp_path)
    assert [item["content"] for item in items] == ["The hoe is in the shed."]
    assert [(Path(one.file).name, one.line, one.reason[:11]) for one in broken] == [("unmarked.txt", 1, "a zero byte")]
    with pytest.raises(FormatError, match=r"table.csv, line 2: a zero byte: .* save the file as UTF-8; nothing was"):
        read(tmp_path / "table.csv")


def test_a_note_with_long_properties_is_imported_and_what_only_metadata_could_hold_is_named(tmp_path: Path) -> None:
    nested = "".join(f"  key{number}: {'n' * 90}\n" for number in range(100))
    front = f"summary: {'word ' * 8_000}\nlanguage: de\nlayout:\n{nested}"
    (tmp_path / "clip.md").write_text(f"---\n{front}---\nThe end.\n", "utf-8")
    _, items, _, _ = read(tmp_path)
    text = " ".join(" ".join(item["content"] for item in items).split())
    assert text.count("word") == 8_000
    assert text.endswith("The end.")
    own = {"source": "note", "path": "clip", "title": "clip", "language": "de"}
    assert all(item["metadata"].items() >= own.items() and "summary" not in item["metadata"] for item in items)
    told = [one.reason for one in recognise(tmp_path, Options()).read() if isinstance(one, Ignored)]
    assert told == ["its property layout is too long for metadata and is left out"]


REPEATED = "a0: &a0 [x, x]\n" + "\n".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12))


@pytest.mark.parametrize(
    "line", ['seen: "\\ud800"', "seen: &a [*a]", REPEATED], ids=["half a character", "a circle", "billions of words"]
)
def test_properties_that_no_store_takes_are_left_out_and_the_notes_are_imported(tmp_path: Path, line: str) -> None:
    (tmp_path / "a.md").write_text(f"---\n{line}\n---\nFed the bees.\n", "utf-8")
    (tmp_path / "b.md").write_text("Sold the honey.\n", "utf-8")
    _, items, broken, _ = read(tmp_path)
    assert [item["content"] for item in items] == ["a\n\nFed the bees.", "b\n\nSold the honey."]
    assert broken == []


def test_text_marked_as_utf_16_is_read(tmp_path: Path) -> None:
    (tmp_path / "key.txt").write_text("Der Schlüssel liegt unter dem Topf.", "utf-16")
    (tmp_path / "odd.txt").write_bytes("Küche".encode("utf-16")[:-1])
    _, items, broken, _ = read(tmp_path)
    assert [item["content"] for item in items] == ["Der Schlüssel liegt unter dem Topf."]
    assert [Path(one.file).name for one in broken] == ["odd.txt"]


def test_the_front_page_of_a_folder_is_called_by_its_first_heading_or_its_folder(tmp_path: Path) -> None:
    texts = {"06/index.md": "## Week 06\n\nThe dam held.", "07/_index.md": "The dam broke.", "index.md": "All weeks."}
    texts["08/index.md"] = "## Dam\n\nIt held.\n\n## Mill\n\nIt broke."
    samples.write_files(tmp_path, texts)
    assert {one["content"]: one["metadata"]["title"] for one in read(tmp_path)[1]} == {
        "## Week 06\n\nThe dam held.": "Week 06",
        "07\n\nThe dam broke.": "07",
        "08\n\n## Dam\n\nIt held.\n\n## Mill\n\nIt broke.": "08",
        "index\n\nAll weeks.": "index",
    }


def test_notes_of_installed_packages_are_none_of_a_project(tmp_path: Path) -> None:
    for folder in ("docs", "node_modules/left-pad", "venv/lib/python3.13/site-packages/duckdb"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "README.md").write_text(f"Kept in {folder}.", "utf-8")
    _, items, broken, _ = read(tmp_path)
    assert [item["content"] for item in items] == ["README\n\nKept in docs."]
    assert broken == []
    assert len(read(tmp_path / "node_modules" / "left-pad")[1]) == 1, "unless it is named"


@pytest.mark.parametrize(
    ("settings", "key", "folder", "left_out"),
    [
        ("templates.json", "folder", "Extras/Templates/", 2),
        ("plugins/templater-obsidian/data.json", "templates_folder", "/Extras/Templates", 2),
        *(("templates.json", "folder", folder, 0) for folder in ("", "/", ".", "Templates", None, 7)),
        ("templates.json", "other", "Extras", 0),
    ],
)
def test_templates_of_a_vault_are_no_notes(tmp_path: Path, settings: str, key: str, folder: Any, left_out: int) -> None:
    names = ("Ferry", "Extras/Tides", "Extras/Templates/Day", "Extras/Templates/deeper/Person")
    notes = {f"{name}.md": f"What {name} holds on {{{{date}}}}.\n" for name in names}
    samples.write_files(tmp_path, notes | {f".obsidian/{settings}": {key: folder}})
    _, items, broken, skipped = read(tmp_path)
    assert len(items) == 4 - left_out
    assert skipped["templates of notes"] == left_out
    assert not broken
    assert not recognise(tmp_path, Options()).unread
    assert not any("Templates" in item["metadata"]["path"] for item in items if left_out)


def test_pipes_and_devices_are_refused_and_left_out_of_folders(tmp_path: Path) -> None:
    (tmp_path / "note.md").write_text("The ferry leaves at seven.")
    (tmp_path / "none.md").symlink_to("/dev/null")
    (tmp_path / "nowhere.md").symlink_to(tmp_path / "gone.md")
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / ".obsidian").mkdir()
    _, items, broken, _ = read(tmp_path)
    assert (len(items), broken) == (1, [])
    unread = recognise(tmp_path, Options()).unread
    assert unread == ((Path("none.md"), SPECIAL), (Path("pipe.json"), SPECIAL))
    for path in (Path("/dev/null"), tmp_path / "none.md", tmp_path / "pipe.json"):
        with pytest.raises(FormatError, match=f"{path} is a pipe, a socket or a device"):
            recognise(path, Options())
    os.mkfifo(tmp_path / ".obsidian" / "templates.json")
    assert len(read(tmp_path)[1]) == 1


def test_templates_that_two_settings_name_are_counted_once(tmp_path: Path) -> None:
    vault = {
        "Ferry.md": "It leaves at seven.",
        "Templates/Day.md": "{{date}}",
        ".obsidian/templates.json": {"folder": "Templates"},
        ".obsidian/plugins/templater-obsidian/data.json": {"templates_folder": "Templates"},
    }
    samples.write_files(tmp_path, vault)
    assert read(tmp_path)[3] == {"templates of notes": 1}


def test_a_link_to_a_note_of_the_same_folder_is_no_second_note(tmp_path: Path) -> None:
    vault, hidden = tmp_path / "vault", tmp_path / "vault" / ".store"
    hidden.mkdir(parents=True)
    (tmp_path / "outside.md").write_text("Kept elsewhere.", "utf-8")
    (hidden / "object").write_text("Kept in a hidden folder.", "utf-8")
    (vault / "own.md").write_text("Kept here.", "utf-8")
    for name, target in {"a.md": "own.md", "b.md": "../outside.md", "c.md": ".store/object", "d.md": "nowhere"}.items():
        (vault / name).symlink_to(target)
    (vault / "loop").symlink_to(vault)
    _, items, broken, _ = read(vault)
    assert [item["content"] for item in items] == [
        "b\n\nKept elsewhere.",
        "c\n\nKept in a hidden folder.",
        "own\n\nKept here.",
    ]
    assert broken == []


@pytest.mark.parametrize("packed", [False, True])
def test_chatgpts_shown_branch_is_imported_from_a_file_or_its_archive(tmp_path: Path, *, packed: bool) -> None:
    file = samples.chatgpt(tmp_path / "conversations.json")
    _, items, broken, skipped = read(samples.zipped(tmp_path) if packed else file)
    assert [(one["content"], one["metadata"]["speaker"]) for one in items] == [
        ("Name a hardy herb.", "user"),
        ("Thyme survives frost.", "assistant"),
    ]
    assert items[1]["metadata"] | {"title": "Herbs", "model": "gpt-5"} == items[1]["metadata"]
    assert (items[0]["session"], items[0]["created_at"]) == ("chat-1", "2026-01-01T00:00:00.500000+00:00")
    assert "conversation 2" in broken[0].reason
    assert skipped == {"hidden messages": 1, "images and recordings": 1, "other branches of conversations": 1}


def test_claude_ais_turns_and_attached_texts_are_imported(tmp_path: Path) -> None:
    _, items, _, skipped = read(samples.claude_ai(tmp_path / "conversations.json"))
    assert [(one["content"], one["tags"]) for one in items] == [
        ("Summarise the lease.", ["user"]),
        ("lease.txt\n\nThe rent is due on the third.", ["attachment"]),
        ("Rent is due on the third.", ["assistant"]),
    ]
    assert {(one["session"], one["metadata"]["title"]) for one in items} == {("claude-1", "Lease")}
    assert skipped == {"files without text": 1}


def other_database(file: Path) -> None:
    with closing(sqlite3.connect(file)) as database:
        database.execute("CREATE TABLE t (a)")
        database.commit()


def other_archive(file: Path) -> None:
    with ZipFile(file, "w") as archive:
        archive.writestr("Pages/Garden.md", "The beds are dug.")


def huge(file: Path) -> None:
    with file.open("wb") as sparse:
        sparse.truncate(MAX_TEXT + 1)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("x.jsonl", b'{"neither": 1}\n', "line 1: unknown format"),
        ("chat.json", b'[\n{"mapping": {}},\n', "line 2: not JSON"),
        ("other.db", other_database, "without the tables of claude-mem"),
        ("scan.PDF", b"%PDF-1.7\n", "PDF isn't read: pdftotext FILE.pdf writes a text that is; nothing was imported"),
        ("pages.zip", other_archive, "not an export: no conversations.json in the archive: unpack it and import its"),
        ("note.md", huge, "more than 128 MB: split it into several"),
        ("table.csv", huge, "more than 128 MB: split it into several"),
        ("note.md", b"one\ntwo\nK\xfcche", "line 3: not UTF-8"),
    ],
)
def test_a_source_that_cant_be_read_is_refused_by_file_and_line(
    tmp_path: Path, name: str, content: bytes | Callable[[Path], None], words: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content) if isinstance(content, bytes) else content(path)
    check_refused(path, words)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (None, "nothing to import"),
        ("books.csv", "imported by itself, not by its folder: name"),
        ("inbox.mbox", "imported by itself, not by its folder: name"),
        ("scan.PDF", "scan.PDF: PDF isn't read: pdftotext FILE.pdf writes a text that is"),
    ],
)
def test_a_folder_in_which_nothing_is_read_is_refused_by_what_it_holds(
    tmp_path: Path, name: str | None, words: str
) -> None:
    if name:
        (tmp_path / name).touch()
    check_refused(tmp_path, words)


def check_refused(path: Path, words: str) -> None:
    """Check that a source is refused in a sentence with these words and its path."""
    with pytest.raises(FormatError) as refused:
        list(recognise(path, Options()).read())
    assert words in str(refused.value)
    assert str(path) in str(refused.value)


def test_an_export_is_read_whatever_its_size_and_from_an_archive_up_to_a_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = samples.chatgpt(tmp_path / "conversations.json")
    _, items, _, _ = read(own)
    with own.open("ab") as source:
        source.write(b" " * MAX_TEXT)
    packed = tmp_path / "export.zip"
    with ZipFile(packed, "w", ZIP_DEFLATED, compresslevel=1) as archive:
        archive.write(own, own.name)
    assert read(own)[1] == items != []
    assert [item["content"] for item in read(packed)[1]] == [item["content"] for item in items]
    monkeypatch.setattr("actors.importers.files.MAX_UNPACKED", MAX_TEXT)
    with pytest.raises(FormatError, match="more than 128 MB: unpack the archive and import that file"):
        read(packed)
    assert read(own)[1] == items


@pytest.mark.parametrize("method", [ZIP_STORED, ZIP_DEFLATED, ZIP_BZIP2, ZIP_LZMA])
def test_a_damaged_archive_is_refused_or_read(tmp_path: Path, method: int) -> None:
    file = tmp_path / "chats.zip"
    with ZipFile(file, "w", method) as archive:
        archive.write(samples.chatgpt(tmp_path / "conversations.json"), "conversations.json")
    sound, rng, refused = file.read_bytes(), random.Random(method), 0
    for _ in range(200):
        data = bytearray(sound)
        place = rng.randrange(len(data))
        data[place : place + rng.choice((0, 1, 9))] = rng.choice((b"", b"\xff\xff"))
        file.write_bytes(data)
        try:
            read(file)
        except (FormatError, OSError):  # both become a sentence
            refused += 1
    assert refused > 20


@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"], ids=["plain", "with a BOM"])
def test_lines_that_cant_be_read_are_named_and_all_others_arrive(tmp_path: Path, bom: bytes) -> None:
    wrong = {
        2: b'{"content": "K\xfcche"}',
        3: b'{"content": "x", "arousal": NaN}',
        4: b'{"content": "\\ud800"}',
        5: b"{",
    }
    right = {number: f'{{"content": "line {number}"}}'.encode() for number in (1, 6, 7)}
    file = tmp_path / "memories.jsonl"
    file.write_bytes(bom + b"\n".join(line for _, line in sorted((wrong | right).items())))
    _, items, broken, _ = read(file)
    assert [item["content"] for item in items] == ["line 1", "line 6", "line 7"]
    assert [(one.file, one.line) for one in broken] == [(str(file), number) for number in wrong]
    assert broken[0].reason == "not UTF-8: byte 15"


def test_ids_are_the_same_whenever_a_source_is_read(tmp_path: Path) -> None:
    samples.transcripts(tmp_path, projects=3, sessions=6)
    ids = [[item["id"] for item in read(tmp_path)[1]] for _ in range(2)]
    assert ids[0] == ids[1]
    assert len(set(ids[0])) == len(ids[0])


@pytest.mark.parametrize("title", ["On the ferry and the island " * 700, "x" * 20_000])
def test_a_title_or_a_heading_as_long_as_a_page_keeps_no_note_and_no_turn_from_being_stored(
    tmp_path: Path, title: str
) -> None:
    front = f"---\ntitle: {title}\nabstract: {'tide ' * 1_500}\n---\n"
    (tmp_path / "titled.md").write_text(f"{front}The ferry leaves at nine.\n")
    headings = "".join(f"# {number} {title}\n{'The tide is out. ' * 200}\n" for number in range(3))
    (tmp_path / "headed.md").write_text(headings)
    _, items, broken, _ = read(tmp_path)
    assert broken == []
    text = "\n".join(item["content"] for item in items)
    assert "The ferry leaves at nine." in text
    assert {item["metadata"]["path"] for item in items} == {"titled", "headed"}
    chat = samples.chatgpt(tmp_path / "chat.json")
    chat.write_text(chat.read_text().replace('"title": "', f'"title": "{title}'))
    assert read(chat)[1]


def test_a_text_that_is_too_long_becomes_several_memories(tmp_path: Path) -> None:
    text = " ".join(f"Sentence {number} " + "word " * 300 for number in range(80))
    (tmp_path / "long.txt").write_text(text, "utf-8")
    _, items, _, _ = read(tmp_path / "long.txt")
    assert len(items) == 3
    assert len({item["id"] for item in items}) == 3
    assert [item["metadata"]["part"] for item in items] == [1, 2, 3]
    assert all(len(item["content"]) <= MAX_CHARACTERS for item in items)
    assert "".join(" ".join(item["content"].split()) for item in items).replace(" ", "") == text.replace(
        "\n", ""
    ).replace(" ", "")
    assert pieces("   ") == []


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("bank.csv", "name,username,password,api_key,note\nbank,ann,Tr0ub4dor&3xyz!,q8Zt5-Wk2Lp9xV,my bank\n"),
        (
            "bank.md",
            "---\npassword: Tr0ub4dor&3xyz!\nlogin:\n  api_key: [q8Zt5-Wk2Lp9xV]\n  user: ann\n---\n# My bank\n",
        ),
    ],
)
def test_a_secret_that_only_its_name_tells_is_left_out_of_text_and_metadata(
    tmp_path: Path, file: str, content: str
) -> None:
    (tmp_path / file).write_text(content, "utf-8")
    (item,) = (one for one in screened(recognise(tmp_path / file, Options()).read()) if isinstance(one, Item))
    assert "my bank" in item.value["content"].lower()
    assert "ann" in str(item.value["metadata"])
    assert "[redacted password]" in item.value["metadata"].values()
    assert "Tr0ub4dor" not in str(item.value)
    assert "q8Zt5" not in str(item.value)
    assert item.taken.secrets["password"] >= 3


def test_secrets_and_private_passages_are_left_out_and_counted(tmp_path: Path) -> None:
    token = "ghp_" + "k3J9xQ2mV7pL5sD8wR4tY6uB1nC0zA3eF5hG"
    lines = [
        {"content": f"Deploy with {token} today.", "metadata": {"note": f"again {token}"}},
        {"content": "The <private>Rosewood clinic called</private> meeting moved to Monday."},
        {"content": "<private>all of it</private>"},
        {"content": "\u200b\u2060 "},
        {"content": "Nothing to hide."},
    ]
    source = recognise(samples.write_lines(tmp_path / "own.jsonl", lines), Options())
    records = list(screened(source.read()))
    values = [one.value for one in records if isinstance(one, Item)]
    assert [one["content"] for one in values] == [
        "Deploy with [redacted github-token] today.",
        "The  meeting moved to Monday.",
        "Nothing to hide.",
    ]
    assert token not in str(values)
    assert "Rosewood" not in str(values)
    taken = [one.taken for one in records if isinstance(one, Item)]
    assert [dict(one.secrets) for one in taken] == [{"github-token": 2}, {}, {}]
    assert [one.private for one in taken] == [0, 1, 0]
    assert [one.reason for one in records if isinstance(one, Skipped)] == [
        "memories that are private as a whole",
        "texts of invisible characters",
    ]
