"""Small files of each source, written to its documented format."""

import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any
from uuid import UUID, uuid5
from zipfile import ZipFile

SESSIONS = UUID("9d1fd0b3-0f1a-5b62-8b0b-0d0c1f5f2a11")

SUBJECTS = "billing search login export import cache queue mailer report upload".split()
OUTCOMES = (
    "The {0} worker of {1} lost its connection, so I raised the pool to {2}.",
    "We keep {0} of {1} behind a flag until release {2}.",
    "{1} now retries {0} {2} times before it gives up.",
    "The slow part of {0} in {1} was the index; it takes {2} ms now.",
)


def write_files(folder: Path, files: Mapping[str, Any]) -> None:
    """Write files by their paths below a folder: texts as they are, other values as JSON."""
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")


def write_lines(file: Path, lines: list[Any]) -> Path:
    """Write values as JSON lines; texts as they are."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in lines), "utf-8")
    return file


def zipped(folder: Path, prefix: str = "") -> Path:
    """Pack the files of a folder into an archive beside it, each with a prefix before its path."""
    with ZipFile(folder.with_suffix(".zip"), "w") as archive:
        for file in sorted(folder.rglob("*.*")):
            archive.write(file, prefix + file.relative_to(folder).as_posix())
    return folder.with_suffix(".zip")


def turn(session: str, number: int, cwd: str, role: str, content: Any, **more: Any) -> dict[str, Any]:
    """Return a line of a Claude Code transcript."""
    return {
        "type": role,
        "uuid": str(uuid5(SESSIONS, f"{session} {number}")),
        "parentUuid": str(uuid5(SESSIONS, f"{session} {number - 1}")) if number else None,
        "timestamp": f"2026-0{1 + number % 9}-1{len(cwd) % 10}T09:{number % 60:02}:00.000Z",
        "sessionId": session,
        "cwd": cwd,
        "gitBranch": "main",
        "version": "2.1.230",
        "isSidechain": False,
        "message": {"role": role, "content": content},
        **more,
    }


def transcripts(folder: Path, projects: int, sessions: int) -> int:
    """Write sessions of Claude Code for several projects, a tenth of them with a broken line.

    Returns:
        The number of broken lines. Each session has three turns to be stored: a question, an answer and a title.
    """
    broken = 0
    for number in range(sessions):
        name = f"{SUBJECTS[number % 10]}-{number % projects}"
        cwd = f"/srv/{name}"
        session = str(uuid5(SESSIONS, str(number)))
        outcome = OUTCOMES[number % 4].format(SUBJECTS[number % 7], name, number)
        tool = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}
        result = {"type": "tool_result", "tool_use_id": "t1", "content": "a.py"}
        lines: list[Any] = [
            {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}},
            turn(session, 0, cwd, "user", f"What about {SUBJECTS[number % 10]} number {number}?"),
            turn(session, 1, cwd, "assistant", [{"type": "thinking", "thinking": "Hm."}, tool]),
            turn(session, 2, cwd, "user", [result]),
            turn(session, 3, cwd, "assistant", [{"type": "text", "text": outcome}]),
            turn(session, 4, cwd, "user", "Look into the folder.", isSidechain=True),
            {"type": "custom-title", "customTitle": f"Title of {number}", "sessionId": session},
        ]
        if number % 10 == 3:
            lines.insert(3, '{"type": "user", "message": {"role"')
            broken += 1
        write_lines(folder / cwd.replace("/", "-") / f"{session}.jsonl", lines)
        if number % 5 == 0:
            side = turn(session, 9, cwd, "user", "A task of a helper.", isSidechain=True)
            write_lines(folder / cwd.replace("/", "-") / session / "subagents" / "agent-1.jsonl", [side])
    return broken


def codex(folder: Path) -> Path:
    """Write a session of Codex."""
    context = {"type": "input_text", "text": "<environment_context>\n  <cwd>/srv/shop</cwd>\n</environment_context>"}

    def line(kind: str, payload: dict[str, Any], minute: int) -> dict[str, Any]:
        return {"timestamp": f"2026-03-01T10:{minute:02}:00.000Z", "type": kind, "payload": payload}

    def message(role: str, part: dict[str, Any], minute: int) -> dict[str, Any]:
        return line("response_item", {"type": "message", "role": role, "content": [part]}, minute)

    return write_lines(
        folder / "2026" / "03" / "01" / "rollout-2026-03-01T10-00-00-abc.jsonl",
        [
            line("session_meta", {"id": "codex-1", "cwd": "/srv/shop", "git": {"branch": "fix"}}, 0),
            message("user", context, 1),
            message("user", {"type": "input_text", "text": "Why is the basket empty?"}, 2),
            line("response_item", {"type": "function_call", "name": "shell", "arguments": "{}"}, 3),
            line("event_msg", {"type": "token_count"}, 4),
            message("assistant", {"type": "output_text", "text": "The cookie expired too early."}, 5),
            "{broken",
        ],
    )


def gemini(folder: Path) -> Path:
    """Write a session of Gemini CLI."""
    messages = [
        {"id": "g1", "timestamp": "2026-02-01T08:00:00Z", "type": "user", "content": "Which port does the proxy use?"},
        {
            "id": "g2",
            "timestamp": "2026-02-01T08:01:00Z",
            "type": "gemini",
            "content": "It listens on 8443.",
            "model": "gemini-2.5-pro",
            "thoughts": [{"subject": "Ports", "description": "Looking."}],
            "toolCalls": [{"id": "c", "name": "read_file", "args": {}}],
        },
        {"id": "g3", "timestamp": "2026-02-01T08:02:00Z", "type": "info", "content": "Request cancelled."},
    ]
    session = {"sessionId": "gem-1", "projectHash": "8876362f5a5f", "startTime": "2026-02-01T08:00:00Z"}
    file = folder / "8876362f5a5f" / "chats" / "session-2026-02-01T08-00-gem.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({**session, "lastUpdated": "2026-02-01T08:02:00Z", "messages": messages}), "utf-8")
    return file


def memory_server(file: Path) -> Path:
    """Write the memory file of the official server; a relation comes before one of its entities."""
    return write_lines(
        file,
        [
            {
                "type": "entity",
                "name": "Mara",
                "entityType": "person",
                "observations": ["Plays the oboe", "Lives in Kiel"],
            },
            {"type": "relation", "from": "Mara", "to": "Harbour Orchestra", "relationType": "plays_in"},
            {"type": "entity", "entityName": "Harbour Orchestra", "entityType": "group", "observations": []},
            {"type": "relation", "from_id": "Mara", "to_id": "Nobody", "relationType": "knows"},
        ],
    )


def mem0(file: Path) -> Path:
    """Write an export of mem0."""
    memory = {
        "id": "m-1",
        "memory": "Prefers window seats on trains.",
        "hash": "ab12",
        "created_at": "2026-01-05T10:00:00-08:00",
        "updated_at": "2026-01-06T10:00:00-08:00",
        "user_id": "tilda",
        "agent_id": "planner",
        "run_id": "trip-7",
        "actor_id": "Tilda",
        "role": "user",
        "expiration_date": "2027-01-01",
        "categories": ["travel"],
        "metadata": {"confidence": 0.9},
    }
    file.write_text(json.dumps({"results": [memory, {"id": "m-2", "memory": ""}]}), "utf-8")
    return file


def claude_mem(file: Path) -> Path:
    """Write a database of claude-mem."""
    with closing(sqlite3.connect(file)) as database:
        database.executescript("""
            CREATE TABLE sdk_sessions (id INTEGER PRIMARY KEY, content_session_id TEXT, memory_session_id TEXT,
                project TEXT, user_prompt TEXT, started_at TEXT, started_at_epoch INTEGER);
            CREATE TABLE observations (id INTEGER PRIMARY KEY, memory_session_id TEXT, project TEXT, text TEXT,
                type TEXT, title TEXT, subtitle TEXT, facts TEXT, narrative TEXT, concepts TEXT, files_read TEXT,
                files_modified TEXT, prompt_number INTEGER, created_at_epoch INTEGER, content_hash TEXT);
            CREATE TABLE session_summaries (id INTEGER PRIMARY KEY, memory_session_id TEXT, project TEXT, request TEXT,
                investigated TEXT, learned TEXT, completed TEXT, next_steps TEXT, notes TEXT,
                created_at_epoch INTEGER);
            CREATE TABLE user_prompts (id INTEGER PRIMARY KEY, content_session_id TEXT, prompt_number INTEGER,
                prompt_text TEXT, created_at_epoch INTEGER);
            INSERT INTO sdk_sessions VALUES (1, 'c1', 's1', 'garden', 'Water the beds', '', 1767225600000);
            INSERT INTO sdk_sessions VALUES (2, 'c2', 's2', 'garden', 'Only here', '', 1767225600000);
            INSERT INTO user_prompts VALUES (1, 'c1', 1, 'Water the beds', 1767225600000);
            INSERT INTO observations VALUES (1, 's1', 'garden', NULL, 'bugfix', 'Valve stuck', 'Bed four',
                '["The valve leaks", "It was closed"]', 'The timer never opened the valve.', '["irrigation"]',
                '["timer.py"]', '["valve.py"]', 1, 1767225700000, 'h1');
            INSERT INTO observations (id, memory_session_id, project) VALUES (2, 's1', 'garden');
            INSERT INTO session_summaries VALUES (1, 's1', 'garden', 'Water', 'Timer', 'Valves age', 'Replaced it',
                'Order a spare', NULL, 1767225800000);
        """)
    return file


def vault(folder: Path) -> Path:
    """Write a folder of notes, by Obsidian and by basic-memory."""
    (folder / "people").mkdir(parents=True)
    (folder / ".obsidian").mkdir()
    (folder / ".obsidian" / "workspace.md").write_text("not a note", "utf-8")
    (folder / "Coffee.md").write_text(
        "---\ntitle: Coffee Brewing\ntype: note\ntags: [coffee, brewing]\npermalink: kitchen/coffee\n"
        "created: 2026-02-03T08:00:00\nmodified: 2026-02-04\n---\n"
        "# Coffee Brewing\n\nPour over tastes cleaner. #morning\n\n"
        "## Observations\n- [method] Bloom for thirty seconds #timing (learned from Ilse)\n- [ ] buy filters\n\n"
        "## Relations\n- taught_by [[Ilse]] (last spring)\n- see also [[Nowhere]]\n",
        "utf-8",
    )
    (folder / "people" / "Ilse.md").write_text("Ilse roasts her own beans. See [[kitchen/coffee|brewing]].\n", "utf-8")
    (folder / "plain.txt").write_text("The kettle takes four minutes.\n", "utf-8")
    (folder / "latin.md").write_bytes("Zeile\nK\xfcche".encode("latin-1"))
    return folder


def chatgpt(file: Path) -> Path:
    """Write an export of ChatGPT: a conversation with a regenerated answer, a hidden message and an image."""

    def node(parent: str | None, children: list[str], role: str, parts: list[Any], **metadata: Any) -> dict[str, Any]:
        content = {"content_type": "text", "parts": parts}
        message = {"author": {"role": role}, "create_time": 1767225600.5, "content": content, "metadata": metadata}
        return {"parent": parent, "children": children, "message": message}

    mapping = {
        "root": {"parent": None, "children": ["sys"], "message": None},
        "sys": node("root", ["q"], "system", [""], is_visually_hidden_from_conversation=True),
        "q": node("sys", ["a1", "a2"], "user", ["Name a hardy herb.", {"asset_pointer": "file://x"}]),
        "a1": node("q", [], "assistant", ["Basil."]),
        "a2": node("q", [], "assistant", ["Thyme survives frost."], model_slug="gpt-5"),
    }
    conversation = {
        "title": "Herbs",
        "create_time": 1767225600.0,
        "mapping": mapping,
        "current_node": "a2",
        "conversation_id": "chat-1",
    }
    file.write_text(json.dumps([conversation, {"mapping": 3}]), "utf-8")
    return file


def claude_ai(file: Path) -> Path:
    """Write an export of claude.ai."""
    messages = [
        {
            "uuid": "u1",
            "sender": "human",
            "text": "Summarise the lease.",
            "content": [{"type": "text", "text": "Summarise the lease."}],
            "created_at": "2026-04-01T12:00:00Z",
            "attachments": [{"file_name": "lease.txt", "extracted_content": "The rent is due on the third."}],
            "files": [{"file_name": "photo.jpg"}],
        },
        {
            "uuid": "u2",
            "sender": "assistant",
            "text": "Rent is due on the third.",
            "created_at": "2026-04-01T12:01:00Z",
        },
    ]
    chat = {"uuid": "claude-1", "name": "Lease", "created_at": "2026-04-01T12:00:00Z", "chat_messages": messages}
    file.write_text(json.dumps([chat]), "utf-8")
    return file
