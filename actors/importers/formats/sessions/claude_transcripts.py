"""Transcripts of Claude Code: `~/.claude/projects/<folder>/<session>.jsonl`, or under `$CLAUDE_CONFIG_DIR`.

Anthropic documents the place and calls the format internal (https://code.claude.com/docs/en/sessions); the fields read
here are those that https://github.com/skillsynchq/txcript describes in docs/formats/claude-code.md. The project is the
`cwd` of a line, never the name of the folder, which can't be decoded.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from actors.importers.files import lines
from actors.importers.records import Broken, Options, Record, Skipped, as_title, memory, moment, present, said
from actors.runtime.types import JsonObject

NAME = "Claude Code transcripts"
SIDE_FOLDERS = ("subagents", "tool-results")
"""Folders beside a session that hold no session."""
TURNS = {"user", "assistant"}
TITLES = {"summary", "custom-title", "ai-title"}
"""Types of lines that name the session."""

MARKUP = re.compile(
    r"<(system-reminder|command-name|command-message|command-args|local-command-stdout|local-command-stderr|"
    r"local-command-caveat|bash-input|bash-stdout|bash-stderr|task-notification|user-prompt-submit-hook|"
    r"ide_opened_file|ide_selection|ide_diagnostics)>.{0,20000}?</\1>|"
    r"^\[Request interrupted by user(?: for tool use)?\]$",
    re.DOTALL | re.MULTILINE,
)
"""Texts that the program writes into a person's turns."""
_FOREIGN = re.compile(r"(?:Another Claude session sent a message:)?\s*<(?:teammate|cross-session)-message\b")
"""Begins a person's turn that another session wrote."""
_SYNTHETIC = "<synthetic>"
"""The model of what the program writes as the assistant, such as errors of the API."""


class _Message(msgspec.Struct):
    role: str = ""
    content: str | list[object] = ""
    model: str | None = None


class _Line(msgspec.Struct, rename="camel"):
    type: str
    uuid: str | None = None
    timestamp: str | None = None
    session_id: str | None = None
    cwd: str | None = None
    git_branch: str | None = None
    is_sidechain: bool = False
    is_meta: bool = False
    is_compact_summary: bool = False
    """Whether a model wrote it in the person's place, to go on from there."""
    message: _Message | None = None
    summary: str | None = None
    leaf_uuid: str | None = None
    custom_title: str | None = None
    ai_title: str | None = None


_decoder = msgspec.json.Decoder(_Line)


def matches(first: list[JsonObject]) -> bool:
    """Tell whether the first lines of a file are those of a session."""
    return any("sessionId" in line and "message" in line and "type" in line for line in first) or any(
        str(line.get("type")) in TITLES and ("leafUuid" in line or "sessionId" in line) for line in first
    )


def read(file: Path, options: Options) -> Iterator[Record]:
    """Yield the turns of a session, each text block as a memory, then its titles.

    A title has neither folder nor time, and stands before or after the turns: it gets those of the session.
    """
    namespace, last = options.namespace, None
    titles: list[tuple[int, _Line]] = []
    for number, line in lines(file, _decoder):
        if isinstance(line, Broken):
            yield line
            continue
        if namespace is None:
            namespace = options.namespace_of(line.cwd)
        if line.type in TURNS:
            last = line.timestamp or last
        if line.type in TITLES:
            titles.append((number, line))
        elif line.type not in TURNS or line.message is None:
            yield Skipped("other lines of the program")
        elif line.is_sidechain and not options.everything:
            yield Skipped("side chains")
        elif line.is_meta or line.message.model == _SYNTHETIC:
            yield Skipped("notes of the program")
        elif line.is_compact_summary:
            yield Skipped("summaries of turns before them")
        else:
            yield from _turn(line, line.message, file, number, options)
    for number, line in titles:
        yield from _title(line, file, number, namespace, line.timestamp or last)


def _turn(line: _Line, message: _Message, file: Path, number: int, options: Options) -> Iterator[Record]:
    content, everything = message.content, options.everything
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    for index, block in enumerate(blocks):
        kind = block.get("type") if isinstance(block, dict) else None
        text = _text(block, everything=everything)
        if text is None:
            yield Skipped({"image": "images", "thinking": "thinking"}.get(str(kind), "tool calls and results"))
            continue
        if line.type == "user" and kind == "text" and _FOREIGN.match(text) and not everything:
            yield Skipped("messages of other sessions")
            continue
        text = MARKUP.sub("", text).strip()
        if not text:
            yield Skipped("commands and reminders of the program")
            continue
        speaker = line.type if kind == "text" else str(kind)
        yield from memory(
            ("claude-code", line.uuid or (line.session_id, file.name, number), index),
            text,
            file,
            number,
            namespace=options.namespace_of(line.cwd),
            session=line.session_id or file.stem,
            created_at=moment(line.timestamp),
            tags=[speaker],
            metadata=present(
                source="claude-code", speaker=line.type, model=message.model, cwd=line.cwd, git_branch=line.git_branch
            ),
        )


def _text(block: object, *, everything: bool) -> str | None:
    match block:
        case {"type": "text", "text": str(text)}:
            return text
        case {"type": "thinking", "thinking": str(text)} if everything:
            return text
        case {"type": "tool_use", "name": str(name), **rest} if everything:
            return f"{name} {msgspec.json.encode(rest.get('input')).decode()}"
        case {"type": "tool_result", "content": str() | list() as content} if everything:
            return "\n".join(said(content))
        case _:
            return None


def _title(line: _Line, file: Path, number: int, namespace: str | None, time: str | None) -> Iterator[Record]:
    title = line.summary or line.custom_title or line.ai_title
    if not title or not title.strip():
        yield Skipped("other lines of the program")
        return
    yield from as_title(
        ("claude-code", "title", line.session_id or line.leaf_uuid or file.stem, title),
        title,
        file,
        number,
        namespace=namespace,
        session=line.session_id or file.stem,
        created_at=moment(time),
    )
