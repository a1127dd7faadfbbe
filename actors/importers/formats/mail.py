"""Mailboxes of Thunderbird, Gmail (Takeout) and other programs: files of the format mbox.

A message is a memory: its subject and the text that its sender wrote. Quoted lines and the signature come only with
`--everything`, since what is quoted is a message of its own; so do deleted messages, spam and trash. Attachments are
named, not read.
"""

import hashlib
import re
from collections.abc import Iterator
from contextlib import suppress
from email.headerregistry import HeaderRegistry
from email.message import EmailMessage, MIMEPart
from email.parser import BytesParser
from email.policy import EmailPolicy
from email.utils import getaddresses, parsedate_to_datetime
from functools import lru_cache
from itertools import dropwhile, islice, takewhile
from pathlib import Path
from typing import Any

from actors.importers.files import decoded
from actors.importers.hypertext import from_html
from actors.importers.records import Broken, FormatError, Ignored, Options, Record, Skipped, memory, present

NAME = "a mailbox"
SUFFIX = ".mbox"
FIRST = b"From "
"""What the line before each message begins with."""
SIGNATURE = "-- "
"""The line that begins a signature (RFC 3676)."""
LONGEST_ATTRIBUTION = 2
"""Lines that say who wrote what is quoted below them."""
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
"""By which a mailbox marks lines of a text that look like the beginning of a message."""
_HEADERS = ("subject", "from", "to", "date", "message-id", "in-reply-to", "references")
_ONE = frozenset({"multipart/alternative", "multipart/related"})
"""Types whose parts are one text."""
_WROTE = frozenset(
    "wrote writes schrieb écrit escribió scritto escreveu schreef skrev napisał napisał(a) napsal napsal(a)".split()
)
_AUXILIARIES = frozenset("a ha hat".split())
_HAS_DIGIT = re.compile(r"\d")
_TIME_OR_ADDRESS = re.compile(r"\d:\d\d|@|\b(?:19|20)\d\d\b")

_registry = HeaderRegistry()


@lru_cache(maxsize=16)  # the library asks many times for the header that says what a message is made of
def _parsed(name: str, value: str) -> Any:
    """Return a header; one that says how a part is written is read without its parameters if they are malformed."""
    value = value[:LONGEST_PARSED]
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
        try:
            records = [*_message(data, file, line, options)]
        except Exception as error:  # the standard library's parser fails on some messages in many ways
            records = [Broken(str(file), line, f"not a message: {type(error).__name__}: {error}")]
        yield from records


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
    """Return the lines of a message without the blank one that ends it."""
    return b"".join(lines[:-1] if lines[-1:] == [b"\n"] else lines)


def _message(data: bytes, file: Path, line: int, options: Options) -> Iterator[Record]:
    """Yield what is kept of a message, and what is left out."""
    message = _parser.parsebytes(data)
    problems = [
        f"its header {name} is read to {LONGEST_PARSED:,} of its {len(value):,} characters"
        for name, value in message.raw_items()
        if len(value) > LONGEST_PARSED and name.lower() in {*_HEADERS, "content-type"}
    ]
    if not options.everything and (reason := _unwanted(message, problems)):
        yield Skipped(reason)
        return
    texts, attached = _parts(message, problems)
    yield from [Skipped("attachments")] * len(attached)
    own = "\n\n".join(part for text in texts if (part := (text if options.everything else _written(text)).strip()))
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
        ("mail", *(own_ids or [hashlib.sha256(data).hexdigest()])),
        "\n\n".join(part for part in (subject, own, files) if part),
        file,
        line,
        namespace=options.namespace,
        session=ids[0] if ids else None,
        created_at=created,
        tags=["mail"],
        metadata={
            "source": "mail",
            **present(
                speaker=speaker,
                sender=sender[:LONGEST_HEADER],
                recipients=recipients[:LONGEST_HEADER],
                subject=subject[:LONGEST_HEADER],
                message_id=next(iter(own_ids), None),
            ),
        },
    )


def _unwanted(message: EmailMessage, problems: list[str]) -> str | None:
    """Return as what the program that kept a message has put it aside."""
    with suppress(ValueError):
        if int(_header(message, "x-mozilla-status", problems), 16) & DELETED:
            return "deleted messages"
    labels = _header(message, "x-gmail-labels", problems).lower().split(",")
    return None if REFUSED.isdisjoint(map(str.strip, labels)) else "spam and trash"


def _parts(message: EmailMessage, problems: list[str]) -> tuple[list[str], list[str]]:
    """Return the texts that a message shows, and the names or else types of what is attached."""
    texts: list[str] = []
    attached: list[MIMEPart] = []
    parts: list[MIMEPart] = [message]
    while parts:
        part = parts.pop()
        if part.is_multipart() and part.get_content_type() not in _ONE and part.get_content_maintype() == "multipart":
            parts += reversed([*part.iter_parts()])
        elif not (body := part.get_body(("plain", "html"))) or (texts and part.get_filename()):
            attached.append(part)
        else:
            texts.append(_text(body, problems))
            attached += part.iter_attachments()
    return texts, [part.get_filename() or part.get_content_type() for part in attached]


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
    """Return when a message was sent, in ISO 8601, or else add what is wrong with its date to the problems."""
    if not date:
        problems.append("it has no date: that of the import is taken")
        return None
    try:
        return parsedate_to_datetime(date).isoformat()
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
        problems.append(f"its text is neither {charset} nor UTF-8: what can't be read is replaced by \ufffd")
    text = _ESCAPED.sub("", text.replace("\r\n", "\n"))
    return from_html(text)[1] if body.get_content_subtype() == "html" else text


def _written(text: str) -> str:
    """Return a text without quoted lines, without the line above that says whose they are, and without signature."""
    kept: list[str] = []
    is_quoted = False
    for line in text.split("\n"):
        if line == SIGNATURE:
            break
        if line.startswith(">"):
            if not is_quoted:
                _drop_attribution(kept)
            is_quoted = True
        else:
            kept.append(line)
            is_quoted = is_quoted and not line.strip()
    return "\n".join(kept)


def _drop_attribution(lines: list[str]) -> None:
    """Remove from the end of the lines what says whose the quotation below is: a paragraph of its own, or a line."""
    paragraph = takewhile(str.strip, dropwhile(lambda line: not line.strip(), reversed(lines)))
    above = list(islice(paragraph, LONGEST_ATTRIBUTION + 1))
    last = above if len(above) <= LONGEST_ATTRIBUTION else above[:1]
    if _is_attribution(" ".join(reversed(last)).rstrip()):
        while lines and not lines[-1].strip():
            lines.pop()
        del lines[-len(last) :]


def _is_attribution(said: str) -> bool:
    """Tell whether a text ends with a colon and has a time or an address, or says that somebody wrote.

    It then has only names and times beside: "the part that Ana wrote:" is a text of the sender.
    """
    if not said.endswith(":"):
        return False
    if _TIME_OR_ADDRESS.search(said):
        return True
    words = [word.strip("\"',.«»") for word in said[:-1].split()]
    if _WROTE.isdisjoint(map(str.lower, words)):
        return False
    others = (word for word in words if word.lower() not in _WROTE | _AUXILIARIES)
    return all((word[:1].isupper() and word != "I") or _HAS_DIGIT.search(word) for word in others)
