"""Chats that WhatsApp exports as text (`WhatsApp Chat with Ana.txt`, `_chat.txt`): a message is a memory.

Each begins with its time as the phone writes times, in the order of day and month of its region, and with its sender.
"""

import re
from collections import Counter
from collections.abc import Iterator
from datetime import date, datetime
from itertools import pairwise
from pathlib import Path
from typing import Final

from actors.importers.files import HEAD, text
from actors.importers.records import Broken, Options, Record, Skipped, memory

SUFFIX: Final = ".txt"
PHONES: Final = "_chat"
"""The name of a chat in the archive of an iPhone, whose own name says with whom it was."""
LEFT_OUT: Final = "notices of the program, images and other media"
MARK: Final = "\u200e"
"""What iPhones begin a line and each text with that is of the program, such as `image omitted`."""

_MESSAGE: Final = re.compile(
    rf"""
    {MARK}?(?P<open>\[)?
    (?P<date>\d{{1,4}}(?P<by>[-./])\d{{1,2}}(?P=by)\d{{2,4}})\.?(?P<comma>,)?[ ](?:[^\W\d]{{1,3}}[ ])?
    (?P<hour>[01]?\d|2[0-3])[:.](?P<minute>[0-5]\d)(?:[:.](?P<second>[0-5]\d))?[ ]?(?P<half>[AaPp]\.?[ ]?[Mm]\.?)?
    (?(open)\]|[ ]-)[ ](?:(?P<sender>[^:\n]{{1,100}}):[ ])?(?P<text>.*)
    """,
    re.VERBOSE,
)
_SPACES: Final = str.maketrans("\u00a0\u202f", "  ")
_ATTACHED: Final = (
    r"[^\n]+\.\w{1,5} \((?:file attached|Datei angehängt|archivo adjunto|fichier joint|arquivo anexado|"
    r"ficheiro anexado|file allegato|bestand bijgevoegd)\)"
)
"""The line of a file that was sent, as Androids write it: `Jane.vcf (file attached)`."""
_MEDIA: Final = re.compile(rf"{MARK}.*|<[^<>]+>|{_ATTACHED}|(?:This message was deleted|You deleted this message)\.?")
"""A text that the program puts in the place of an image, a voice message, a call or what was deleted.

With further lines it is a poll, or a text that begins with the mark.
"""
_BEFORE_CAPTION: Final = re.compile(rf"\A(?:{_ATTACHED}|<[^\W\d_a-z][^<>\n]* [^<>\n]+>)\n")
_AFTER_CAPTION: Final = re.compile(rf"(?<=\S)(?: •)? {MARK}.*")
"""What iPhones write behind a text or a file's name: `Bill.pdf • 4 pages document omitted`, with a mark each."""
_EDITED: Final = re.compile(rf"{MARK}<[^<>]+>\Z")
_EDITED_BARE: Final = re.compile(r"\s<(?=[^\W\d_a-z])(?:[^\W\d_]+[ ]){2,}[^\W\d_]+\.?>\Z")
"""The same in words, without the mark, as some phones write it: `<This message was edited>`.

`<your name here>`, which begins with a small letter, was typed.
"""
_AROUND_NUMBER: Final = "\u202a\u202c"
"""What stands around the number of a sender who is no contact, unseen."""


def matches(file: Path) -> bool:
    """Tell whether a file is a chat: its first line is one, and either its name says so or most messages have senders.

    Logs and diaries have lines that begin with a time, too.
    """
    if file.suffix.lower() != SUFFIX:
        return False
    with file.open("rb") as source:
        head = source.read(HEAD).decode("utf-8-sig", "replace").lstrip().replace("\r\n", "\n")
    found = [one for _, one, _ in _lines(head)]
    if not found or not head.translate(_SPACES).startswith(found[0][0]):
        return False
    is_named = file.stem == PHONES or "whatsapp" in file.stem.lower()
    return is_named or (bool(found[0]["comma"]) and 2 * sum(one["sender"] is not None for one in found) > len(found))


def read(file: Path, options: Options) -> Iterator[Record]:
    """Yield the messages of a chat, each with its line."""
    content = text(file)
    yield from [content] if isinstance(content, Broken) else _messages([*_lines(content)], file, options)


def _lines(content: str) -> Iterator[tuple[int, re.Match[str], str]]:
    """Yield the number of the first line of each message, the line, and the whole text."""
    begun: tuple[int, re.Match[str]] | None = None
    said: list[str] = []
    for number, line in enumerate(content.split("\n"), 1):
        if found := _MESSAGE.fullmatch(line.translate(_SPACES)):
            if begun:
                yield *begun, "\n".join(said)
            begun, said = (number, found), [found["text"]]
        else:
            said.append(line)
    if begun:
        yield *begun, "\n".join(said)


def _messages(lines: list[tuple[int, re.Match[str], str]], file: Path, options: Options) -> Iterator[Record]:
    readings = _readings([found["date"] for _, found, _ in lines])
    if len(readings) != 1:
        yield _undated(file, lines, readings)
        return
    (days,) = readings
    chat = file.resolve().parent.name if file.stem == PHONES else file.stem
    known: Counter[tuple[str, ...]] = Counter()
    for index, (number, found, said) in enumerate(lines):
        if found["sender"] is None or _MEDIA.fullmatch(said := said.strip()):
            yield Skipped(LEFT_OUT)
        elif said := _EDITED.sub("", said).strip():
            speaker = found["sender"].strip(f"{MARK}~ ")
            place = ("whatsapp", found["date"], found["hour"], found["minute"], found["second"] or "", speaker, said)
            known[place] += 1  # the same words twice in a minute
            speaker = speaker.strip(_AROUND_NUMBER)
            yield from memory(
                (*place, known[place]),
                _written(said),
                file,
                number,
                namespace=options.namespace,
                session=chat,
                created_at=f"{days[index]}T{_time(found)}",
                tags=["chat"],
                metadata={"source": "whatsapp", "speaker": speaker, "title": chat},
            )


def _written(said: str) -> str:
    """Return what a person wrote, without what the program wrote about a file, and without its marks in a poll."""
    said = _EDITED_BARE.sub("", _BEFORE_CAPTION.sub("", said))
    return _AFTER_CAPTION.sub("", said).replace(MARK, "").strip()


def _undated(file: Path, lines: list[tuple[int, re.Match[str], str]], readings: list[list[date]]) -> Broken:
    if not readings:
        return Broken(str(file), lines[0][0], "its dates exist in no order of day and month, or are in the future")
    index, days = next((index, days) for index, days in enumerate(zip(*readings, strict=True)) if days[0] != days[1])
    number, found, _ = lines[index]
    problem = (
        f"its dates can be read in two ways ({found['date']} is {' or '.join(map(str, days))}): "
        f"import it once it has a day after the 12th, or write its dates as {days[0]}"
    )
    return Broken(str(file), number, problem)


def _readings(dates: list[str]) -> list[list[date]]:
    """Return the days of messages, given as a region writes them, in each order of day and month that may be the right.

    In the right order all days exist, none is in the future, and the fewest are before that of the message above.
    """
    today = datetime.now().astimezone().date()
    possible: dict[int, list[list[date]]] = {}
    for order in _orders(dates[0]):
        try:
            days = [_day(one, order) for one in dates]
        except ValueError:
            continue
        if max(days) <= today:
            possible.setdefault(sum(after < before for before, after in pairwise(days)), []).append(days)
    best = possible[min(possible)] if possible else []
    return best[:1] if best and best[0] == best[-1] else best


def _orders(written: str) -> tuple[str, ...]:
    """Return the orders of day, month and year in which a date may be written."""
    if written[:4].isdecimal():
        return ("ymd",)
    return ("dmy",) if "." in written else ("dmy", "mdy")


def _day(written: str, order: str) -> date:
    """Return a day, of this century where only two digits are written (`ValueError`: there is none)."""
    parts = dict(zip(order, map(int, re.split(r"[-./]", written)), strict=True))
    return date(parts["y"] + (2000 if parts["y"] < 100 else 0), parts["m"], parts["d"])


def _time(message: re.Match[str]) -> str:
    hour = int(message["hour"])
    if message["half"]:
        hour = hour % 12 + 12 * (message["half"][0] in "Pp")
    return f"{hour:02}:{message['minute']}:{message['second'] or '00'}"
