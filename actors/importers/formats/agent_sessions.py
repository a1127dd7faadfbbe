"""Sessions of Codex and Gemini CLI.

Codex writes `~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl` (codex-rs/protocol/src/protocol.rs, `RolloutLine`), Gemini
CLI `~/.gemini/tmp/<hash of the project>/chats/session-*.json` (packages/core/src/services/chatRecordingService.ts).
"""

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from actors.importers.files import document, lines
from actors.importers.records import Broken, Options, Record, Skipped, memory, moment, present, texts
from actors.runtime.types import JsonObject

CODEX = "Codex sessions"
GEMINI = "Gemini CLI sessions"

_BOILERPLATE = re.compile(
    r"\A\s*(?:<(user_instructions|environment_context|permissions instructions|collaboration_mode|turn_aborted)\b"
    r"|# AGENTS\.md instructions)"
)
"""Prefixes of turns that Codex writes itself."""


class _CodexLine(msgspec.Struct):
    type: str
    payload: JsonObject = {}
    timestamp: str | None = None


class _GeminiMessage(msgspec.Struct, rename="camel"):
    type: str
    content: str | list[object] | JsonObject = ""
    id: str | None = None
    timestamp: str | None = None
    model: str | None = None
    thoughts: list[JsonObject] = []
    tool_calls: list[JsonObject] = []


class _GeminiSession(msgspec.Struct, rename="camel"):
    session_id: str
    messages: list[_GeminiMessage]
    project_hash: str | None = None
    start_time: str | None = None
    summary: str | None = None


_codex = msgspec.json.Decoder(_CodexLine)
_gemini = msgspec.json.Decoder(_GeminiSession)


def is_codex(first: list[JsonObject]) -> bool:
    """Tell whether the first lines of a file are those of a Codex session."""
    return any(line.get("type") == "session_meta" and "payload" in line for line in first)


def is_gemini(value: object) -> bool:
    """Tell whether a JSON document is a session of Gemini CLI."""
    return isinstance(value, dict) and {"sessionId", "messages"} <= value.keys()


def read_codex(file: Path, options: Options) -> Iterator[Record]:
    """Yield the turns of a Codex session."""
    session, folder, branch = file.stem, None, None
    for parsed in lines(file, _codex):
        if isinstance(parsed, Broken):
            yield parsed
            continue
        number, line = parsed
        payload = line.payload
        kind = payload.get("type")
        place = ("codex", session, number)
        about = {"namespace": options.namespace_of(folder), "session": session, "created_at": moment(line.timestamp)}
        if line.type == "session_meta":
            session, folder = str(payload.get("id") or session), payload.get("cwd")
            branch = (payload.get("git") or {}).get("branch")
        elif line.type == "turn_context":
            folder = payload.get("cwd") or folder
        elif line.type != "response_item":
            yield Skipped("other lines of the program")
        elif kind == "message":
            role = str(payload.get("role"))
            text = _codex_text(payload.get("content"))
            if role not in {"user", "assistant"} or _BOILERPLATE.match(text) or not text.strip():
                yield Skipped("instructions of the program")
                continue
            metadata = present(source="codex", speaker=role, cwd=folder, git_branch=branch)
            yield from memory(place, text, file, number, **about, tags=[role], metadata=metadata)
        elif options.everything and kind != "reasoning":
            text = payload.get("arguments") or payload.get("output") or payload.get("input")
            used = texts((payload.get("name"), text if isinstance(text, str) else msgspec.json.encode(text).decode()))
            metadata = present(source="codex", speaker="tool", cwd=folder)
            yield from memory(place, " ".join(used), file, number, **about, tags=[str(kind)], metadata=metadata)
        else:
            yield Skipped("tool calls and results")


def read_gemini(file: Path, options: Options) -> Iterator[Record]:
    """Yield the turns of a Gemini session. Its project is known by a hash only, whose first digits name it."""
    session = document(file, _gemini)
    if isinstance(session, Broken):
        yield session
        return
    own = f"gemini-{session.project_hash[:8]}" if session.project_hash else None
    about = {"namespace": options.namespace or own, "session": session.session_id}
    for number, message in enumerate(session.messages):
        for _call in message.tool_calls:
            yield Skipped("tool calls and results")
        for _thought in message.thoughts:
            yield Skipped("thinking")
        if message.type not in {"user", "gemini"}:
            yield Skipped("messages of the program")
            continue
        parts = message.content if isinstance(message.content, list) else [message.content]
        text = "\n".join(texts(part.get("text") if isinstance(part, dict) else part for part in parts))
        if not text:
            yield Skipped("turns without text")
            continue
        speaker = "user" if message.type == "user" else "assistant"
        yield from memory(
            ("gemini", session.session_id, message.id or number),
            text,
            file,
            **about,
            created_at=moment(message.timestamp or session.start_time),
            tags=[speaker],
            metadata=present(source="gemini", speaker=speaker, model=message.model, project_hash=session.project_hash),
        )
    if session.summary:
        yield from memory(
            ("gemini", session.session_id, "summary"),
            session.summary,
            file,
            **about,
            created_at=moment(session.start_time),
            tags=["title"],
            memory_type="title",
            metadata={"source": "gemini"},
        )


def _codex_text(content: object) -> str:
    parts = content if isinstance(content, list) else [{"text": content}]
    return "\n".join(texts(part.get("text") for part in parts if isinstance(part, dict)))
