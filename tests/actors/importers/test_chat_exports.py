"""Exports of ChatGPT in several files, and what stands in its messages beside the words that were said."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.actors.importers import samples
from tests.actors.importers.test_sources import read

Turn = tuple[str, dict[str, Any], str]
"""Who speaks, the content, and to whom."""


def conversation(name: str, *turns: Turn) -> dict[str, Any]:
    """Return a conversation of ChatGPT without branches."""
    nodes = {
        f"{name}-{number}": {
            "parent": f"{name}-{number - 1}" if number else None,
            "children": [f"{name}-{number + 1}"] if number + 1 < len(turns) else [],
            "message": {"author": {"role": role}, "content": content, "recipient": recipient, "metadata": {}},
        }
        for number, (role, content, recipient) in enumerate(turns)
    }
    return {"id": name, "title": None, "create_time": 1767225600.0, "mapping": nodes, "current_node": [*nodes][-1]}


def text(*parts: Any) -> dict[str, Any]:
    return {"content_type": "text", "parts": [*parts]}


def export(folder: Path, *parts: str) -> Path:
    """Write an export of ChatGPT with the given conversation files, and the pages and accounts beside them."""
    folder.mkdir()
    for name, content in zip(("conversations-000.json", "conversations-001.json"), parts, strict=True):
        (folder / name).write_text(content, "utf-8")
    (folder / "chat.html").write_text("<html><body><script>var jsonData = [];</script></body></html>", "utf-8")
    (folder / "user.json").write_text('{"id": "user-1"}', "utf-8")
    return folder


@pytest.mark.parametrize("packed", [False, True])
def test_an_export_in_several_files_is_imported_as_a_whole(tmp_path: Path, *, packed: bool) -> None:
    first = conversation("a", ("user", text("The goat is called Snorre."), "all"))
    second = conversation("b", ("user", text("The key hangs behind the door."), "all"))
    path = export(tmp_path / "export", json.dumps([first]), json.dumps([second, {"mapping": 3}]))
    name, items, broken, _ = read(samples.zipped(path) if packed else path)
    assert name == "a ChatGPT export"
    assert [(item["session"], item["content"]) for item in items] == [
        ("a", "The goat is called Snorre."),
        ("b", "The key hangs behind the door."),
    ]
    assert len(broken) == 1
    assert "conversation" in broken[0].reason


def test_a_torn_file_of_an_export_is_named_and_the_others_are_imported(tmp_path: Path) -> None:
    first = conversation("a", ("user", text("The goat is called Snorre."), "all"))
    folder = export(tmp_path / "export", json.dumps([first]), '[\n{"mapping": {')
    _, items, broken, _ = read(folder)
    assert [item["content"] for item in items] == ["The goat is called Snorre."]
    assert [(one.file, one.line) for one in broken] == [(str(folder / "conversations-001.json"), 2)]


def test_what_chatgpt_says_to_its_tools_is_no_turn_and_what_was_said_aloud_is_one(tmp_path: Path) -> None:
    aloud = {"content_type": "audio_transcription", "text": "Runa is vegetarian.", "direction": "in"}
    sound = {"content_type": "audio_asset_pointer", "asset_pointer": "file-service://x"}
    turns: tuple[Turn, ...] = (
        ("user", {"content_type": "multimodal_text", "parts": [aloud, sound]}, "all"),
        ("assistant", {"content_type": "code", "text": '{"search_query": []}'}, "web.run"),
        ("assistant", text('{"prompt": "a puffin"}'), "t2uay3k.sj1i4kz"),
        ("tool", text("A picture."), "all"),
        ("assistant", text("Runa eats no meat."), "bio"),
        ("assistant", text("Noted."), "all"),
    )
    file = tmp_path / "conversations.json"
    file.write_text(json.dumps([conversation("a", *turns)]), "utf-8")
    _, items, _, skipped = read(file)
    assert [item["content"] for item in items] == ["Runa is vegetarian.", "Runa eats no meat.", "Noted."]
    assert skipped == {"images and recordings": 1, "tool calls and results": 3}
    assert len(read(file, everything=True)[1]) == 6


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("It has a sauna. \ue200cite\ue202turn0search0\ue202turn0search3\ue201", "It has a sauna."),
        ('\ue200entity\ue202["hotel","Reine Rorbuer","Lofoten"]\ue201 has one.', "Reine Rorbuer has one."),
        ("See \ue200url\ue202their page\ue202https://reine.example\ue201.", "See their page."),
        ("It opens at nine【4:0†hours.pdf】.", "It opens at nine."),
        ('Look:\ue200image_group\ue202{"query": ["Reine"]}\ue201 nice', "Look: nice"),
    ],
)
def test_the_marks_of_sources_are_no_part_of_what_chatgpt_said(tmp_path: Path, written: str, shown: str) -> None:
    file = tmp_path / "conversations.json"
    turns: tuple[Turn, ...] = (("user", text(written), "all"), ("assistant", text(written), "all"))
    file.write_text(json.dumps([conversation("a", *turns)]), "utf-8")
    assert [item["content"] for item in read(file)[1]] == [written, shown]


@pytest.mark.parametrize("packed", [None, "", "data-2026/"], ids=["folder", "archive", "archive of a folder"])
def test_what_claude_ai_remembers_is_imported_beside_its_conversations(tmp_path: Path, packed: str | None) -> None:
    folder = samples.claude_ai(tmp_path / "conversations.json").parent
    known = {
        "conversations_memory": "**Work**\n\nAna restores boats.",
        "project_memories": {"p1": "It is called Terna."},
    }
    (folder / "memories.json").write_text(json.dumps([known | {"account_uuid": "a"}]), "utf-8")
    (folder / "users.json").write_text('[{"uuid": "a"}]', "utf-8")
    _, items, broken, _ = read(folder if packed is None else samples.zipped(folder, packed))
    assert broken == []
    remembered = [(item["content"], item["metadata"]) for item in items if item["tags"] == ["memory"]]
    assert remembered == [
        ("**Work**\n\nAna restores boats.", {"source": "claude.ai"}),
        ("It is called Terna.", {"source": "claude.ai", "project": "p1"}),
    ]
    assert len(items) == 5
    assert [item["content"] for item in read(folder / "memories.json")[1]] == [text for text, _ in remembered]
