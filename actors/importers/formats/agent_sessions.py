"""Sessions of Codex and Gemini CLI.

Codex writes `~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl` (codex-rs/protocol/src/protocol.rs, `RolloutLine`), Gemini
CLI `~/.gemini/tmp/<project>/chats/session-*.jsonl` (packages/core/src/services/chatRecordingService.ts). Its earlier
versions wrote one JSON document, `session-*.json`, below a hash of the project.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from uuid import UUID

import msgspec

from actors.importers.files import document, lines
from actors.importers.records import Broken, Options, Record, Skipped, first_text, memory, moment, present, said, texts
from actors.runtime.types import JsonObject

CODEX = "Codex sessions"
GEMINI = "Gemini CLI sessions"

TIMED = 7
"""The version of UUIDs that begin with a time, as Codex gives them to sessions and turns."""
PROJECT = ".project_root"
"""The file of Gemini CLI, above its chats, that says which folder they are about."""

_BOILERPLATE = re.compile(
    r"\A\s*(?:<(user_instructions|environment_context|permissions instructions|collaboration_mode|turn_aborted|skill"
    r"|user_shell_command|subagent_notification)\b|# AGENTS\.md instructions)"
)
"""Prefixes of turns that Codex writes itself."""
_THREAD = re.compile(r"_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\Z")
"""The id of a fork behind that of its parent, in the name of its file."""
_REQUEST = re.compile(r"\A\s*# Context from my IDE setup:.*?^## My request for Codex:\s*", re.DOTALL | re.MULTILINE)
"""What an editor writes before a person's turn."""
_SESSION_CONTEXT = "<session_context>"
"""How the turn begins that Gemini CLI writes itself."""


class _CodexLine(msgspec.Struct):
    type: str
    payload: JsonObject = {}
    timestamp: str | None = None


class _CodexMeta(msgspec.Struct):
    """What a session of Codex is about."""

    id: str | None = None
    cwd: str | None = None
    git: JsonObject | None = None
    forked_from_id: str | None = None


class _GeminiMessage(msgspec.Struct, rename="camel"):
    type: str
    content: str | list[object] | JsonObject = ""
    display_content: str | list[object] | JsonObject | None = None
    """What was typed, where the content has the files that it names."""
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
_lines = msgspec.json.Decoder(JsonObject)


def is_codex(first: list[JsonObject]) -> bool:
    """Tell whether the first lines of a file are those of a Codex session."""
    return any(line.get("type") == "session_meta" and "payload" in line for line in first)


def is_gemini(value: object) -> bool:
    """Tell whether a JSON document is a session of Gemini CLI."""
    return isinstance(value, dict) and {"sessionId", "messages"} <= value.keys()


def is_gemini_lines(first: list[JsonObject]) -> bool:
    """Tell whether the first lines of a file are those of a session of Gemini CLI."""
    return any({"sessionId", "projectHash"} <= line.keys() and not is_gemini(line) for line in first)


def read_codex(file: Path, options: Options) -> Iterator[Record]:
    """Yield the turns of a Codex session; one that was forked begins with those of its parent, which are left out."""
    meta: _CodexMeta | None = None
    session, folder, is_replayed = file.stem, None, False
    for parsed in lines(file, _codex):
        if isinstance(parsed, Broken):
            yield parsed
            continue
        number, line = parsed
        if line.type == "session_meta":
            if meta is not None:
                continue  # that of the parent
            try:
                meta = msgspec.convert(line.payload, _CodexMeta)
            except msgspec.ValidationError as error:
                yield Broken(str(file), number, str(error))
                continue
            thread = _THREAD.search(file.stem)
            session = thread[1] if thread else meta.id or session
            folder, is_replayed = meta.cwd, bool(meta.forked_from_id)
        elif line.type == "turn_context":
            is_replayed = is_replayed and _is_before(line.payload.get("turn_id"), session)
            folder = folder if is_replayed else first_text(line.payload.get("cwd")) or folder
        elif line.type != "response_item":
            yield Skipped("other lines of the program")
        elif is_replayed:
            yield Skipped("turns of the session that was forked")
        elif isinstance(turn := _codex_turn(line.payload, everything=options.everything), Skipped):
            yield turn
        else:
            speaker, text = turn
            by_tool = speaker == "tool"
            branch = meta.git.get("branch") if meta and meta.git and not by_tool else None
            yield from memory(
                ("codex", session, number),
                text,
                file,
                number,
                namespace=options.namespace_of(folder),
                session=session,
                created_at=moment(line.timestamp),
                tags=[str(line.payload.get("type")) if by_tool else speaker],
                metadata=present(source="codex", speaker=speaker, cwd=folder, git_branch=branch),
            )


def _codex_turn(payload: JsonObject, *, everything: bool) -> tuple[str, str] | Skipped:
    """Return the speaker and the text of a turn; of a tool's call or result only if everything is wanted."""
    kind = payload.get("type")
    if kind == "message":
        role = str(payload.get("role"))
        text = _REQUEST.sub("", "\n".join(texts(said(payload.get("content")))))
        if role not in {"user", "assistant"} or _BOILERPLATE.match(text) or not text.strip():
            return Skipped("instructions of the program")
        return role, text
    fields = (payload.get(name) for name in ("arguments", "output", "input", "action"))
    used = next((one if isinstance(one, str) else msgspec.json.encode(one).decode() for one in fields if one), None)
    if not everything or kind == "reasoning" or used is None:
        return Skipped("tool calls and results")
    return "tool", " ".join(texts((payload.get("name"), used)))


def read_gemini(file: Path, options: Options) -> Iterator[Record]:
    """Yield the turns of a Gemini session that is one document."""
    session = document(file, _gemini)
    yield from [session] if isinstance(session, Broken) else _gemini_turns(session, file, options)


def read_gemini_lines(file: Path, options: Options) -> Iterator[Record]:
    """Yield the turns of a Gemini session as they were last: a message may be written several times, or taken back."""
    about: JsonObject = {}
    messages: dict[str, _GeminiMessage] = {}
    for parsed in lines(file, _lines):
        if isinstance(parsed, Broken):
            yield parsed
            continue
        number, line = parsed
        changed = line.get("$set")
        if isinstance(start := line.get("$rewindTo"), str):
            last = ""
            while messages and last != start:  # of an unknown one, all are taken back
                last, _ = messages.popitem()
                yield Skipped("turns that were taken back")
            continue
        about |= changed if isinstance(changed, dict) else {} if "id" in line else line
        try:
            written = [line] if "id" in line else about.pop("messages", None) or []
            messages |= {str(one.id): one for one in msgspec.convert(written, list[_GeminiMessage])}
        except msgspec.ValidationError as error:
            yield Broken(str(file), number, str(error))
    try:
        session = msgspec.convert(about | {"messages": []}, _GeminiSession)
    except msgspec.ValidationError as error:
        yield Broken(str(file), 0, str(error))
    else:
        yield from _gemini_turns(msgspec.structs.replace(session, messages=[*messages.values()]), file, options)


def _gemini_turns(session: _GeminiSession, file: Path, options: Options) -> Iterator[Record]:
    """Yield the turns of a session. Without a file that names its project, the first digits of its hash name it."""
    folder = None
    with suppress(OSError, UnicodeDecodeError):
        folder = (file.parent.parent / PROJECT).read_text("utf-8").strip()
    own = f"gemini-{session.project_hash[:8]}" if session.project_hash else None
    about = {"namespace": options.namespace_of(folder) or own, "session": session.session_id}
    for number, message in enumerate(session.messages):
        for _call in message.tool_calls:
            yield Skipped("tool calls and results")
        for _thought in message.thoughts:
            yield Skipped("thinking")
        if message.type not in {"user", "gemini"}:
            yield Skipped("messages of the program")
            continue
        text = "\n".join(texts(said(message.display_content or message.content)))
        if not text or text.startswith(_SESSION_CONTEXT):
            yield Skipped("messages of the program" if text else "turns without text")
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


def _is_before(turn: object, session: str) -> bool:
    """Tell whether a turn began before a session did, by the times in their ids."""
    try:
        ids = [UUID(str(turn)), UUID(session)]
    except ValueError:
        return False
    began, started = (one.int >> 80 for one in ids)  # milliseconds
    return began < started and all(one.version == TIMED for one in ids)
