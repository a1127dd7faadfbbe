"""Sessions of Gemini CLI.

It writes `~/.gemini/tmp/<project>/chats/session-*.jsonl` (packages/core/src/services/chatRecordingService.ts). Its
earlier versions wrote one JSON document, `session-*.json`, below a hash of the project.
"""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from actors.importers.files import document, lines
from actors.importers.records import Broken, Options, Record, Skipped, as_title, memory, moment, present, said, texts
from actors.runtime.types import JsonObject

NAME = "Gemini CLI sessions"

PROJECT = ".project_root"
"""The file above the chats that says which folder they are about."""

_CONTEXT = "<session_context>"
"""How the turn begins that Gemini CLI writes itself."""


class _Message(msgspec.Struct, rename="camel"):
    type: str
    content: str | list[object] | JsonObject = ""
    display_content: str | list[object] | JsonObject | None = None
    """What was typed, where the content has the files that it names."""
    id: str | None = None
    timestamp: str | None = None
    model: str | None = None
    thoughts: list[JsonObject] = []
    tool_calls: list[JsonObject] = []


class _Session(msgspec.Struct, rename="camel"):
    session_id: str
    messages: list[_Message]
    project_hash: str | None = None
    start_time: str | None = None
    summary: str | None = None


_document = msgspec.json.Decoder(_Session)
_line = msgspec.json.Decoder(JsonObject)


def is_document(value: object) -> bool:
    """Tell whether a JSON document is a session of Gemini CLI."""
    return isinstance(value, dict) and {"sessionId", "messages"} <= value.keys()


def has_lines(first: list[JsonObject]) -> bool:
    """Tell whether the first lines of a file are those of a session of Gemini CLI."""
    return any({"sessionId", "projectHash"} <= line.keys() and not is_document(line) for line in first)


def read_document(file: Path, options: Options) -> Iterator[Record]:
    """Yield the turns of a Gemini session that is one document."""
    session = document(file, _document)
    yield from [session] if isinstance(session, Broken) else _turns(session, file, options)


def read_lines(file: Path, options: Options) -> Iterator[Record]:
    """Yield the turns of a Gemini session as they were last: a message may be written several times, or taken back."""
    about: JsonObject = {}
    messages: dict[str, _Message] = {}
    for number, line in lines(file, _line):
        if isinstance(line, Broken):
            yield line
            continue
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
            messages |= {str(one.id): one for one in msgspec.convert(written, list[_Message])}
        except msgspec.ValidationError as error:
            yield Broken(str(file), number, str(error))
    try:
        session = msgspec.convert(about | {"messages": []}, _Session)
    except msgspec.ValidationError as error:
        yield Broken(str(file), 0, str(error))
    else:
        yield from _turns(msgspec.structs.replace(session, messages=[*messages.values()]), file, options)


def _turns(session: _Session, file: Path, options: Options) -> Iterator[Record]:
    """Yield the turns of a session. Without a file that names its project, the first digits of its hash name it."""
    folder = None
    with suppress(OSError, UnicodeDecodeError):
        folder = (file.parent.parent / PROJECT).read_text("utf-8").strip()
    own = f"gemini-{session.project_hash[:8]}" if session.project_hash else None
    about = {"namespace": options.namespace_of(folder) or own, "session": session.session_id}
    for number, message in enumerate(session.messages):
        yield from [Skipped("tool calls and results")] * len(message.tool_calls)
        yield from [Skipped("thinking")] * len(message.thoughts)
        if message.type not in {"user", "gemini"}:
            yield Skipped("messages of the program")
            continue
        text = "\n".join(texts(said(message.display_content or message.content)))
        if not text or text.startswith(_CONTEXT):
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
        place = ("gemini", session.session_id, "summary")
        yield from as_title(place, session.summary, file, **about, created_at=moment(session.start_time))
