"""Sessions of agents as they were last: titles, turns that were written again or taken back, and what is no turn."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.actors.importers import samples
from tests.actors.importers.test_sources import read


def gemini(folder: Path, *records: Any) -> Path:
    """Write a session of Gemini CLI as JSON lines, below the folder of its project."""
    project = folder / "garden"
    file = project / "chats" / "session-2026-02-01T08-00-gem.jsonl"
    header = {"sessionId": "gem-2", "projectHash": "8876362f5a5f", "startTime": "2026-02-01T08:00:00Z"}
    samples.write_lines(file, [header, *records])
    (project / ".project_root").write_text("/srv/garden\n", "utf-8")
    return file


def said(id_: str, kind: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"id": id_, "timestamp": "2026-02-01T08:01:00Z", "type": kind, "content": content, **more}


def test_a_session_of_gemini_that_is_written_line_by_line_is_read_as_it_was_last(tmp_path: Path) -> None:
    file = gemini(
        tmp_path,
        said("g0", "user", [{"text": "<session_context>\nToday is Sunday.\n</session_context>"}]),
        said(
            "g1",
            "user",
            [{"text": "What of @log?"}, {"text": "a long log"}],
            displayContent=[{"text": "What of @log?"}],
        ),
        said("g2", "gemini", "", toolCalls=[{"id": "c", "name": "read_file", "args": {}}]),
        "{broken",
        said("g2", "gemini", "The gauge listens on 4711.", model="gemini-3-pro"),
        said("g3", "user", "Change the gauge to 80."),
        said("g4", "gemini", "It listens on 80."),
        {"$rewindTo": "g3"},
        {"$set": {"summary": "Port of the gauge", "messages": [said("g5", "user", "And the pump?")]}},
        said("g6", "gemini", "The pump has none."),
    )
    for path in (file, tmp_path):
        name, items, broken, skipped = read(path)
        assert name == "Gemini CLI sessions"
        assert [(item["content"], item["tags"]) for item in items] == [
            ("What of @log?", ["user"]),
            ("The gauge listens on 4711.", ["assistant"]),
            ("And the pump?", ["user"]),
            ("The pump has none.", ["assistant"]),
            ("Port of the gauge", ["title"]),
        ]
        assert {(item["session"], item["namespace"]) for item in items} == {("gem-2", "garden")}
        assert [one.line for one in broken] == [5]
        assert skipped == {"turns that were taken back": 2, "messages of the program": 1}


def test_sessions_of_gemini_in_both_formats_are_read_from_one_folder_and_each_turn_once(tmp_path: Path) -> None:
    old = samples.gemini(tmp_path)
    turns = [item["id"] for item in read(old)[1]]
    resumed = said("g1", "user", "Which port does the proxy use?"), said("g9", "user", "Why not 443?")
    samples.write_lines(old.with_suffix(".jsonl"), [{"sessionId": "gem-1", "projectHash": "8876362f5a5f"}, *resumed])
    _, items, broken, _ = read(tmp_path)
    assert broken == []
    assert {item["content"] for item in items} >= {"It listens on 8443.", "Why not 443?"}
    assert len({item["id"] for item in items}) == len(turns) + 1


def test_what_codex_and_an_editor_write_into_a_turn_is_left_out(tmp_path: Path) -> None:
    texts = (
        "# Context from my IDE setup:\n\n## Open tabs:\n- a.py: a.py\n\n## My request for Codex:\nWhy is it slow?\n",
        "<user_shell_command>\n<command>ls</command>\n</user_shell_command>",
        "<skill>\n<name>deploy</name>\nRun the script.\n</skill>",
        "<subagent_notification>\n{}\n</subagent_notification>",
    )
    file = samples.write_lines(
        tmp_path / "rollout-1.jsonl",
        [
            {"type": "session_meta", "payload": {"id": "codex-2", "cwd": "/srv/shop"}},
            *(
                {
                    "type": "response_item",
                    "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]},
                }
                for text in texts
            ),
        ],
    )
    _, items, _, skipped = read(file)
    assert [item["content"] for item in items] == ["Why is it slow?"]
    assert skipped == {"instructions of the program": 3}


def test_a_title_above_the_turns_has_the_project_and_the_time_of_its_session(tmp_path: Path) -> None:
    lines = [
        {"type": "summary", "summary": "Ports of the gauge", "leafUuid": "x"},
        samples.turn("s", 0, "/srv/garden", "user", "Which port?") | {"timestamp": "2026-01-02T09:00:00+01:00"},
        samples.turn("s", 1, "/srv/garden", "assistant", "4711.") | {"timestamp": "2026-01-02T09:05:00+01:00"},
    ]
    items = read(samples.write_lines(tmp_path / "s.jsonl", lines))[1]
    (title,) = [item for item in items if item["tags"] == ["title"]]
    assert title["content"] == "Ports of the gauge"
    assert (title["namespace"], title["created_at"]) == ("garden", "2026-01-02T09:05:00+01:00")


def test_a_message_of_gemini_that_cannot_be_read_is_named_and_the_others_are_imported(tmp_path: Path) -> None:
    file = gemini(tmp_path, said("g1", "user", None), "[]", {"$set": {"messages": 3}}, said("g2", "gemini", "Done."))
    _, items, broken, _ = read(file)
    assert [item["content"] for item in items] == ["Done."]
    assert [one.line for one in broken] == [2, 3, 4]


def test_a_session_that_begins_with_a_long_text_is_one_like_any_other(tmp_path: Path) -> None:
    start = {"type": "queue-operation", "operation": "enqueue", "sessionId": "s", "content": "hello " * 20_000}
    turn = samples.turn("s", 0, "/srv/garden", "user", "hello " * 20_000)
    samples.write_lines(tmp_path / "garden" / "s.jsonl", [start, turn])
    name, items, _, skipped = read(tmp_path)
    assert name == "Claude Code transcripts"
    assert len(items) == 2
    assert skipped == {"other lines of the program": 1}


PARENT = "01900000-0000-7000-8000-000000000001"
FORK = "01900000-ffff-7000-8000-000000000002"
EARLY, LATE = "01900000-0001-7000-8000-000000000003", "01900001-0000-7000-8000-000000000004"
"""Ids of a turn before the fork and of one after it."""


def rollout(folder: Path, name: str, *lines: dict[str, Any]) -> None:
    samples.write_lines(folder / f"rollout-2026-05-01T10-00-00-{name}.jsonl", [*lines])


def meta(**payload: Any) -> dict[str, Any]:
    return {"type": "session_meta", "payload": payload}


def codex_turn(turn: str, text: str) -> list[dict[str, Any]]:
    message = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
    return [
        {"type": "turn_context", "payload": {"turn_id": turn, "cwd": "/srv/shop"}},
        {"type": "response_item", "payload": message},
    ]


def test_a_forked_session_of_codex_gives_its_own_turns_and_takes_none_from_its_parent(tmp_path: Path) -> None:
    first, second, own = codex_turn(EARLY, "One."), codex_turn(EARLY, "Two."), codex_turn(LATE, "Three.")
    fork = meta(id=FORK, cwd="/srv/fork", forked_from_id=PARENT)
    rollout(tmp_path, "a", meta(id=PARENT, cwd="/srv/shop"), *first, *second)
    event = {"type": "event_msg", "payload": {"type": "task_started"}}
    rollout(tmp_path, "b", fork, meta(id=PARENT, cwd="/srv/shop"), event, *first, *own)
    _, items, _, skipped = read(tmp_path)
    assert [(item["session"], item["content"]) for item in items] == [
        (PARENT, "One."),
        (PARENT, "Two."),
        (FORK, "Three."),
    ]
    assert len({item["id"] for item in items}) == 3
    assert skipped == {"other lines of the program": 1, "turns of the session that was forked": 1}


def test_a_fork_of_codex_that_only_its_file_names_is_no_part_of_its_parent(tmp_path: Path) -> None:
    rollout(tmp_path, PARENT, meta(id=PARENT, cwd="/srv/shop"), *codex_turn(EARLY, "One."))
    rollout(tmp_path, f"{PARENT}_{FORK}", meta(id=PARENT, cwd="/srv/shop"), *codex_turn(LATE, "Two."))
    items = read(tmp_path)[1]
    assert {(item["session"], item["content"]) for item in items} == {(PARENT, "One."), (FORK, "Two.")}
    assert len({item["id"] for item in items}) == 2


def test_of_everything_in_codex_an_action_is_what_a_tool_did_and_a_result_without_text_is_no_memory(
    tmp_path: Path,
) -> None:
    tools = [
        {"type": "local_shell_call", "status": "completed", "action": {"type": "exec", "command": ["ls", "docs"]}},
        {"type": "function_call_output", "call_id": "c", "output": ""},
        {"type": "custom_tool_call", "name": "apply_patch", "input": "*** Begin Patch"},
        {"type": "web_search_call", "status": "completed"},
    ]
    rollout(tmp_path, "s", meta(id="codex-3"), *({"type": "response_item", "payload": one} for one in tools))
    _, items, _, skipped = read(tmp_path, everything=True)
    assert [(item["content"], item["tags"]) for item in items] == [
        ('{"type":"exec","command":["ls","docs"]}', ["local_shell_call"]),
        ("apply_patch *** Begin Patch", ["custom_tool_call"]),
    ]
    assert skipped == {"tool calls and results": 2}


STORY = """<!-- Generated by SpecStory, Markdown v2.0.0 -->

# port-of-the-gauge (2025-12-02 23:39:04Z)

<!-- Gemini CLI Session ea32600f-34e4-4023-a97b-b1c31612dab7 (2025-12-02 23:39:04Z) -->

_**User (2025-12-02 23:39:04Z)**_

Which port has the gauge?

---

_**Agent (gemini-3-pro 2025-12-02 23:40:00Z)**_

<think><details><summary>Thought Process</summary>
# Reading the code
</details></think>

<tool-use data-tool-type="read" data-tool-name="Read"><details>
<summary>Tool use: **Read**</summary>

```
+_**User**_
+</details></tool-use>
_**User**_

Nobody said this.
```
</details></tool-use>
```
The file was read.
```

It listens on 4711.

_**Agent (gemini-3-pro) (sidechain)**_

I look for the pump.

_**User**_

[Request interrupted by user]

_**Agent (gemini-3-pro)**_

<tool-use data-tool-type="shell"><details><summary>Tool use: **Shell**</summary></details></tool-use>

---
"""
CURSOR = """<!-- Generated by SpecStory -->

# Pump (2025-03-20 14:37:36)

_**User**_

Stop it

---

_**Assistant**_

Done
"""


def instant(item: dict[str, Any]) -> str:
    """Return when something was said, in UTC."""
    return datetime.fromisoformat(item["created_at"]).astimezone(UTC).isoformat()


def test_a_session_of_specstory_is_read_by_turns_and_not_as_a_note(tmp_path: Path) -> None:
    folder = tmp_path / "garden" / ".specstory" / "history"
    folder.mkdir(parents=True)
    (file := folder / "2025-12-02_23-39-04Z-port.md").write_text(STORY, "utf-8")
    (folder / "2025-03-20_21-37-pump.md").write_text(CURSOR, "utf-8")
    (folder / "plan.md").write_text("# Plan\n\nMend the gauge.\n", "utf-8")
    about = ("garden", "ea32600f-34e4-4023-a97b-b1c31612dab7")
    turns = [
        ("Which port has the gauge?", "user", *about, "2025-12-02T23:39:04+00:00"),
        ("It listens on 4711.", "assistant", *about, "2025-12-02T23:40:00+00:00"),
        ("port-of-the-gauge", "title", *about, "2025-12-02T23:39:04+00:00"),
    ]
    name, items, broken, skipped = read(file)
    assert (name, broken) == ("SpecStory sessions", [])
    said = [(one["content"], *one["tags"], one["namespace"], one["session"], instant(one)) for one in items]
    assert said == turns
    assert items[1]["metadata"]["model"] == "gemini-3-pro"
    assert skipped == {"thinking": 1, "tool calls and results": 2, "side chains": 1}
    name, items, broken, skipped = read(folder)
    assert name == "a folder of notes, SpecStory sessions"
    assert [item["content"] for item in items][:4] == ["# Plan\n\nMend the gauge.", "Stop it", "Done", "Pump"]
    assert len(items) == 7


def test_a_tag_that_a_person_quotes_hides_no_turn_of_specstory(tmp_path: Path) -> None:
    turns = ["_**User**_", "It prints this line:\n\n<think>\n\nWhy?", "_**Agent**_", "Your template is old."]
    turns += ["_**Agent**_", "<think>\nNothing to do.\n</think>\n\nNoted."]
    (file := tmp_path / "quoted.md").write_text("\n\n".join(["\ufeff<!-- Generated by SpecStory -->", *turns]), "utf-8")
    assert [(one["content"], *one["tags"]) for one in read(file)[1]] == [
        ("It prints this line:\n\n<think>\n\nWhy?", "user"),
        ("Your template is old.", "assistant"),
        ("Noted.", "assistant"),
    ]


def test_everything_of_a_session_of_specstory_holds_its_tool_calls(tmp_path: Path) -> None:
    (file := tmp_path / "port.md").write_text(STORY, "utf-8")
    items = read(file, everything=True)[1]
    assert [item["tags"] for item in items] == [["user"], ["assistant"], ["assistant"], ["assistant"], ["title"]]
    assert "Nobody said this." in items[1]["content"]
