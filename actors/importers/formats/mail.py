"""Mailboxes of Thunderbird, Gmail (Takeout) and other programs: files of the format mbox.

A message is a memory: its subject and the text that its sender wrote. Quoted lines and the signature come only with
`--everything`, since what is quoted is a message of its own. Attachments are named, not read.
"""

import hashlib
import mailbox
import re
from collections.abc import Iterator
from contextlib import closing
from email import policy
from email.message import EmailMessage, MIMEPart
from email.parser import BytesParser
from email.utils import getaddresses, parsedate_to_datetime
from itertools import dropwhile, takewhile
from pathlib import Path

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

_MESSAGE_ID = re.compile(r"<[^<>\s]{1,200}>")
_ESCAPED = re.compile(r"^>(?=>*From )", re.MULTILINE)
"""By which a mailbox marks lines of a text that look like the beginning of a message."""
_TIME_OR_ADDRESS = re.compile(r"\d:\d\d|@|\b(?:19|20)\d\d\b")

_parser = BytesParser(_class=EmailMessage, policy=policy.default)


def matches(file: Path) -> bool:
    """Tell whether a file is a mailbox, by its suffix or its first line."""
    if file.suffix.lower() == SUFFIX:
        return True
    with file.open("rb") as source:
        return source.read(len(FIRST)) == FIRST


def read(file: Path, options: Options) -> Iterator[Record]:
    """Yield the messages of a mailbox, each with the line at which it begins (`FormatError`: there is none)."""
    with file.open("rb") as source:
        starts = [number for number, line in enumerate(source, 1) if line.startswith(FIRST)]
    if not starts:
        raise FormatError(f"{file}, line 1: no message; in a mailbox each follows a line that begins with 'From '")
    with closing(mailbox.mbox(file, create=False)) as box:
        for key, line in zip(box.iterkeys(), starts, strict=True):
            data = box.get_bytes(key)
            try:
                records = [*_message(data, file, line, options)]
            except Exception as error:  # the standard library's parsers of headers fail on some in many ways
                records = [Broken(str(file), line, f"not a message: {type(error).__name__}: {error}")]
            yield from records


def _message(data: bytes, file: Path, line: int, options: Options) -> Iterator[Record]:
    """Yield what is kept of a message, and what is left out."""
    message = _parser.parsebytes(data)
    body = message.get_body(("plain", "html"))
    attached = [part.get_filename() or part.get_content_type() for part in message.iter_attachments()]
    yield from [Skipped("attachments")] * len(attached)
    text, problem = ("", None) if body is None else _text(body)
    if problem:
        yield Ignored(str(file), line, problem)
    own = text if options.everything else _written(text)
    if not own.strip():
        yield Skipped("messages without text of their own")
        return
    created, problem = _created(message)
    if problem:
        yield Ignored(str(file), line, problem)
    subject, sender, recipients = (" ".join(str(message[name] or "").split()) for name in ("subject", "from", "to"))
    ids = [*_ids(message, "references"), *_ids(message, "in-reply-to"), *_ids(message, "message-id")]
    speaker = next((name or address for name, address in getaddresses([sender])), "")
    files = f"Attached: {', '.join(attached)}" if attached else ""
    yield from memory(
        ("mail", *(_ids(message, "message-id")[:1] or [hashlib.sha256(data).hexdigest()])),
        "\n\n".join(part for part in (subject, own.strip(), files) if part),
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
                message_id=next(iter(_ids(message, "message-id")), None),
            ),
        },
    )


def _ids(message: EmailMessage, header: str) -> list[str]:
    """Return the ids of messages in a header."""
    return _MESSAGE_ID.findall(str(message[header] or ""))


def _created(message: EmailMessage) -> tuple[str | None, str | None]:
    """Return when a message was sent, in ISO 8601, or else what is wrong with its date."""
    stated = message["date"]
    if stated is None:
        return None, "it has no date: that of the import is taken"
    try:
        return parsedate_to_datetime(str(stated)).isoformat(), None
    except (ValueError, TypeError, OverflowError):
        return None, f"its date can't be read: that of the import is taken ({stated})"


def _text(body: MIMEPart) -> tuple[str, str | None]:
    """Return the text of a part, and what can't be read of it."""
    data = body.get_payload(decode=True)
    if not isinstance(data, bytes):
        return "", None
    charset = body.get_content_charset()
    problem = None
    try:
        text = decoded(data, charset)
    except (UnicodeDecodeError, LookupError):
        text = data.decode("utf-8", "replace")
        problem = f"its text is neither {charset} nor UTF-8: what can't be read is replaced by \ufffd"
    text = _ESCAPED.sub("", text.replace("\r\n", "\n"))
    return (from_html(text)[1] if body.get_content_subtype() == "html" else text), problem


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
    """Remove from the end of the lines what says whose the quotation below is: a time or an address, and a colon.

    It is a paragraph of its own, or a line.
    """
    above = list(takewhile(str.strip, dropwhile(lambda line: not line.strip(), reversed(lines))))
    last = above if len(above) <= LONGEST_ATTRIBUTION else above[:1]
    said = " ".join(reversed(last)).rstrip()
    if said.endswith(":") and _TIME_OR_ADDRESS.search(said):
        while lines and not lines[-1].strip():
            lines.pop()
        del lines[-len(last) :]
