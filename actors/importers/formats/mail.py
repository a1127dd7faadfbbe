"""Mailboxes of Thunderbird, Gmail (Takeout) and other programs: files of the format mbox; files of single messages.

A message is a memory: its subject and the text that its sender wrote. Quoted lines and the signature come only with
`--everything`, since what is quoted is a message of its own; so do deleted messages, spam and trash. Attachments are
named, not read, but for messages.
"""

import hashlib
import re
from codecs import BOM_UTF8
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC
from email.headerregistry import HeaderRegistry
from email.message import EmailMessage, MIMEPart
from email.parser import BytesParser
from email.policy import EmailPolicy
from email.utils import getaddresses, parsedate_to_datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from actors.importers.files import decoded
from actors.importers.markup.hypertext import from_html
from actors.importers.quotations import written
from actors.importers.records import Broken, FormatError, Ignored, Options, Record, Skipped, memory, present

SUFFIX = ".mbox"
APPLES = "mbox"
"""The file of a mailbox that Apple Mail exports as a folder."""
APPLE = ".emlx"
"""A message of Apple Mail: its length in bytes stands before it, and what the program keeps of it behind."""
MESSAGE = (".eml", APPLE)
"""Suffixes of files of a single message."""
FIRST = b"From "
"""What the line before each message begins with."""
LONGEST_HEADER = 1_000
"""Characters of a header that are kept as metadata."""
LONGEST_PARSED = 4_000
"""Characters of a header that are read: the standard library's parser takes the square of their number."""
DELETED = 8
"""The bit of Thunderbird's status of a message by which it waits for removal."""
REFUSED = frozenset({"spam", "trash"})
"""Labels of Gmail whose messages aren't memories."""

_DATED = re.compile(rb"From .*(?:\d:\d\d(?: [A-Z+-][A-Z\d]{2,4})? \d{4}|\d{4} \d\d:\d\d(?::\d\d)?)(?: [+-]\d{4})?\s*")
"""The line before a message: it ends with a time, and so is told from a sentence that begins with `From`."""
_MESSAGE_ID = re.compile(r"<[^<>\s]{1,200}>")
_ESCAPED = re.compile(r"^>(?=>*From )", re.MULTILINE)
"""How a mailbox marks lines of a text that look like the beginning of a message."""
_HEADERS = ("subject", "from", "to", "date", "message-id", "in-reply-to", "references")
_ONE = frozenset({"multipart/alternative", "multipart/related"})
"""Types whose parts are one text."""

_registry = HeaderRegistry()


@lru_cache(maxsize=16)  # the library asks many times for the header that says what a message is made of
def _parsed(name: str, value: str) -> Any:
    """Return a header; one that says how a part is written is read without its parameters if they are malformed.

    Bytes beyond ASCII, which no header may have, are UTF-8 or else Windows 1252.
    """
    value = value[:LONGEST_PARSED]
    if not value.isascii():
        with suppress(UnicodeError):
            value = decoded(value.encode("ascii", "surrogateescape"), "cp1252")
    try:
        return _registry(name, value)
    except Exception:  # the standard library's parser fails on some in many ways
        if not name.lower().startswith("content-"):
            raise
        return _registry(name, value.partition(";")[0])


_parser = BytesParser(_class=EmailMessage, policy=EmailPolicy(header_factory=_parsed))


def matches(file: Path) -> bool:
    """Tell whether a file is a mailbox, by its suffix or its first line."""
    if file.suffix.lower() == SUFFIX:
        return True
    with file.open("rb") as source:
        return source.read(len(FIRST)) == FIRST


def read(file: Path, options: Options) -> Iterator[Record]:
    """Yield the messages of a mailbox, each with the line at which it begins (`FormatError`: there is none)."""
    for line, data in _messages(file):
        yield from _records(data, file, line, options)


def is_message(file: Path) -> bool:
    """Tell whether a file is a single message, by its suffix."""
    return file.suffix.lower() in MESSAGE


def read_message(file: Path, options: Options) -> Iterator[Record]:
    """Yield the message of a file, and those attached to it."""
    data = file.read_bytes().removeprefix(BOM_UTF8).lstrip(b"\r\n")
    if file.suffix.lower() == APPLE:
        length, _, rest = data.partition(b"\n")
        if length.strip().isdigit():
            with suppress(ValueError):  # of thousands of digits
                data = rest[: int(length)]
    yield from _records(data, file, 1, options) if data.strip() else [Skipped("empty files")]


def _records(data: bytes, file: Path, line: int, options: Options) -> list[Record]:
    """Return what is kept of a message and what is left out, or that it is none."""
    try:
        message = _parser.parsebytes(data)
        if not any(name in message for name in _HEADERS):
            return [Broken(str(file), line, "not a message: it has no header such as From, Date or Subject")]
        return [*_message(message, hashlib.sha256(data).hexdigest(), file, line, options)]
    except Exception as error:  # the standard library's parser fails on some messages in many ways
        return [Broken(str(file), line, f"not a message: {type(error).__name__}: {error}")]


def _messages(file: Path) -> Iterator[tuple[int, bytes]]:
    """Yield each message, without the line before it, whose number comes with it."""
    start = 0
    lines: list[bytes] = []
    with file.open("rb") as source:
        for number, line in enumerate(source, 1):
            if line.startswith(FIRST) and (not start or _DATED.fullmatch(line)):
                if start:
                    yield start, _joined(lines)
                start, lines = number, []
            elif start:
                lines.append(line)
    if not start:
        raise FormatError(f"{file}, line 1: no message; in a mailbox each follows a line that begins with 'From '")
    yield start, _joined(lines)


def _joined(lines: list[bytes]) -> bytes:
    return b"".join(lines[:-1] if lines[-1:] == [b"\n"] else lines)


def _message(message: EmailMessage, digest: str, file: Path, line: int, options: Options) -> Iterator[Record]:
    """Yield what is kept of a message and of those attached to it, and what is left out.

    `digest` identifies one that doesn't name itself.
    """
    problems = [
        f"its header {name} is read to {LONGEST_PARSED:,} of its {len(value):,} characters"
        for name, value in message.raw_items()
        if len(value) > LONGEST_PARSED and name.lower() in {*_HEADERS, "content-type"}
    ]
    if not options.everything and (reason := _unwanted(message, problems)):
        yield Skipped(reason)
        return
    texts, attached, messages = _parts(message, problems)
    yield from [Skipped("attachments")] * len(attached)
    for number, one in enumerate(messages):
        yield from _message(one, f"{digest} {number}", file, line, options)
    own = "\n\n".join(part for text in texts if (part := (text if options.everything else written(text)).strip()))
    if not own:
        yield from [Ignored(str(file), line, problem) for problem in problems]
        yield Skipped("messages without text of their own")
        return
    subject, sender, recipients, date, own_id, answered, references = (
        _header(message, name, problems) for name in _HEADERS
    )
    created = _created(date, problems)
    yield from [Ignored(str(file), line, problem) for problem in problems]
    own_ids = _MESSAGE_ID.findall(own_id)[:1]
    ids = [*_MESSAGE_ID.findall(references), *_MESSAGE_ID.findall(answered), *own_ids]
    speaker = ""
    with suppress(RecursionError):  # of brackets within brackets
        speaker = next((name or address for name, address in getaddresses([sender])), "")
    files = f"Attached: {', '.join(attached)}" if attached else ""
    yield from memory(
        ("mail", *(own_ids or [digest])),
        "\n\n".join(part for part in (subject, own, files) if part),
        file,
        line,
        namespace=options.namespace,
        session=ids[0] if ids else None,
        created_at=created,
        tags=["mail"],
        metadata=present(
            source="mail",
            speaker=speaker,
            sender=sender[:LONGEST_HEADER],
            recipients=recipients[:LONGEST_HEADER],
            subject=subject[:LONGEST_HEADER],
            message_id=next(iter(own_ids), None),
        ),
    )


def _unwanted(message: EmailMessage, problems: list[str]) -> str | None:
    """Return why the program that kept a message has put it aside; None if it hasn't."""
    with suppress(ValueError):
        if int(_header(message, "x-mozilla-status", problems), 16) & DELETED:
            return "deleted messages"
    labels = _header(message, "x-gmail-labels", problems).lower().split(",")
    return None if REFUSED.isdisjoint(map(str.strip, labels)) else "spam and trash"


def _parts(message: EmailMessage, problems: list[str]) -> tuple[list[str], list[str], list[EmailMessage]]:
    """Return the texts that a message shows, the names or else types of what is attached, and attached messages."""
    texts: list[str] = []
    attached: list[MIMEPart] = []
    messages: list[EmailMessage] = []
    parts: list[MIMEPart] = [message]
    while parts:
        part = parts.pop()
        if part.is_multipart() and part.get_content_type() not in _ONE and part.get_content_maintype() == "multipart":
            parts += reversed([*part.iter_parts()])
        elif part.get_content_type() == "message/rfc822" and part.is_multipart():
            messages += [one for one in part.iter_parts() if isinstance(one, EmailMessage)]
        elif not (body := part.get_body(("plain", "html"))) or (texts and part.get_filename()):
            attached.append(part)
        else:
            texts.append(_text(body, problems))
            attached += part.iter_attachments()
    return texts, [part.get_filename() or part.get_content_type() for part in attached], messages


def _header(message: EmailMessage, name: str, problems: list[str]) -> str:
    """Return a header, as it is written if it is malformed, and add what is wrong with it to the problems."""
    try:
        header = str(message[name] or "")
    except Exception:  # the standard library's parser fails on some in many ways
        problems.append(f"its header {name} is malformed: it is taken as it is written")
        written = next(str(value) for header, value in message.raw_items() if header.lower() == name)
        header = written[:LONGEST_PARSED].encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return " ".join(header.split())


def _created(date: str, problems: list[str]) -> str | None:
    if not date:
        problems.append("it has no date: that of the import is taken")
        return None
    try:
        created = parsedate_to_datetime(date)
        # RFC 5322: a time in UTC, of a sender whose zone isn't told.
        return (created.replace(tzinfo=UTC) if date.rstrip().endswith("-0000") else created).isoformat()
    except (ValueError, TypeError, OverflowError):
        problems.append(f"its date can't be read: that of the import is taken ({date})")
        return None


def _text(body: MIMEPart, problems: list[str]) -> str:
    """Return the text of a part, and add to the problems what can't be read of it."""
    data = body.get_payload(decode=True)
    if not isinstance(data, bytes):
        return ""
    charset = body.get_content_charset()
    try:
        text = decoded(data, charset)
    except (UnicodeDecodeError, LookupError):
        text = data.decode("utf-8", "replace")
        found = f"is neither {charset} nor" if charset else "names no encoding and isn't"
        problems.append(f"its text {found} UTF-8: what can't be read is replaced by \ufffd")
    text = _ESCAPED.sub("", text.replace("\r\n", "\n"))
    return from_html(text)[1] if body.get_content_subtype() == "html" else text
