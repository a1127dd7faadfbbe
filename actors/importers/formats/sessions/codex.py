"""Sessions of Codex: `~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl`.

Their lines are those of `RolloutLine` in codex-rs/protocol/src/protocol.rs.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import msgspec

from actors.importers.files import lines
from actors.importers.records import Broken, Options, Record, Skipped, first_text, memory, moment, present, said, texts
from actors.runtime.types import JsonObject

TIMED = 7
"""The version of UUIDs that begin with a time, as Codex gives them to sessions and turns."""

BOILERPLATE = re.compile(
    r"\A\s*(?:<(user_instructions|environment_context|permissions instructions|collaboration_mode|turn_aborted|skill"
    r"|user_shell_command|subagent_notification)\b|# AGENTS\.md instructions)"
)
"""Prefixes of turns that Codex writes itself."""
_THREAD = re.compile(r"_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\Z")
"""The id of a fork behind that of its parent, in the name of its file."""
_REQUEST = re.compile(r"\A\s*# Context from my IDE setup:.*?^## My request for Codex:\s*", re.DOTALL | re.MULTILINE)
"""What an editor writes before a person's turn."""


class _Line(msgspec.Struct):
    type: str
    payload: JsonObject = {}
    timestamp: str | None = None


class _Meta(msgspec.Struct):
    """What a session of Codex is about."""

    id: str | None = None
    cwd: str | None = None
    git: JsonObject | None = None
    forked_from_id: str | None = None


_line = msgspec.json.Decoder(_Line)


def matches(first: list[JsonObject]) -> bool:
    """Tell whether the first lines of a file are those of a Codex session."""
    return any(line.get("type") == "session_meta" and "payload" in line for line in first)


def read(file: Path, options: Options) -> Iterator[Record]:
    """Yield the turns of a Codex session; one that was forked begins with those of its parent, which are left out."""
    meta: _Meta | None = None
    session, folder, is_replayed = file.stem, None, False
    for number, line in lines(file, _line):
        if isinstance(line, Broken):
            yield line
        elif line.type == "session_meta":
            if meta is not None:
                continue  # that of the parent
            try:
                meta = msgspec.convert(line.payload, _Meta)
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
        elif isinstance(turn := _turn(line.payload, everything=options.everything), Skipped):
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


def _turn(payload: JsonObject, *, everything: bool) -> tuple[str, str] | Skipped:
    """Return the speaker and the text of a turn; of a tool's call or result only if everything is wanted."""
    kind = payload.get("type")
    if kind == "message":
        role = str(payload.get("role"))
        text = _REQUEST.sub("", "\n".join(texts(said(payload.get("content")))))
        if role not in {"user", "assistant"} or BOILERPLATE.match(text) or not text.strip():
            return Skipped("instructions of the program")
        return role, text
    fields = (payload.get(name) for name in ("arguments", "output", "input", "action"))
    used = next((one if isinstance(one, str) else msgspec.json.encode(one).decode() for one in fields if one), None)
    if not everything or kind == "reasoning" or used is None:
        return Skipped("tool calls and results")
    return "tool", " ".join(texts((payload.get("name"), used)))


def _is_before(turn: object, session: str) -> bool:
    try:
        ids = [UUID(str(turn)), UUID(session)]
    except ValueError:
        return False
    began, started = (one.int >> 80 for one in ids)  # milliseconds
    return began < started and all(one.version == TIMED for one in ids)
