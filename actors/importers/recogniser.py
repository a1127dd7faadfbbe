"""Recognises what a file or a folder is, and reads it."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain, islice
from pathlib import Path

import msgspec

from actors.importers import KNOWN
from actors.importers.files import (
    CONVERSATIONS,
    REMEMBERED,
    SPECIAL,
    document,
    first_lines,
    lines,
    specials,
    unreadable,
    walk,
)
from actors.importers.formats import chats, mail, messengers, tables
from actors.importers.formats.known import DOCUMENTS, FILES, LINES, TEXTS, Format, Reader
from actors.importers.formats.sessions import claude_transcripts
from actors.importers.notes import documents, reader
from actors.importers.records import Broken, FormatError, Item, Options, Record, Skipped

OWN = "memories as JSON lines"
PROBED = 50
"""Files of a folder that are looked at until one is recognised."""
TEMPLATES = {"templates.json": "folder", "plugins/templater-obsidian/data.json": "templates_folder"}
"""Settings of an Obsidian vault, and the key of each that names the folder of its templates."""
EXPORTED = (messengers.RESULT, "claude-mem.db", "memory.jsonl", "memory.json", mail.APPLES)
"""Names of files that are an export by themselves, whatever else the folder holds."""

SUFFIXES = (*documents.SUFFIXES, *mail.MESSAGE, *tables.SUFFIXES, mail.SUFFIX, ".json", ".jsonl", ".zip", ".db")
"""Suffixes of files that may be a source by themselves."""

_json = msgspec.json.Decoder()


class Source(msgspec.Struct, frozen=True):
    """A recognised source."""

    name: str
    files: tuple[Path, ...]
    read: Callable[[], Iterator[Record]]
    """Yields all records; each call reads the files again."""
    unread: tuple[tuple[Path, str], ...] = ()
    """Other files of a folder that are not hidden, relative to it, and why each is not read."""


def recognise_all(paths: Sequence[Path], options: Options) -> Source:
    """Return the sources at several paths as one; errors as of `recognise`, also for a file that two of them hold."""
    found = [recognise(path, options) for path in paths]
    if len(found) == 1:
        return found[0]
    times = Counter(file.resolve() for source in found for file in source.files)
    if twice := next((file for file, count in times.items() if count > 1), None):
        raise FormatError(f"{twice} would be imported twice: name it, or a folder that holds it, once")
    return Source(
        ", ".join(dict.fromkeys(source.name for source in found)),
        tuple(file for source in found for file in source.files),
        lambda: chain.from_iterable(source.read() for source in found),
        tuple((path / file, why) for path, source in zip(paths, found, strict=True) for file, why in source.unread),
    )


def recognise(path: Path, options: Options) -> Source:
    """Return the source at a path.

    Raises:
        FormatError: its format is unknown or has no columns to choose from, or it is a file that can't be read; the
            message names the place.
        OSError: there is no such path, or it can't be opened.
    """
    if path.exists() and not (path.is_dir() or path.is_file()):  # it may never end, and is read twice
        raise FormatError(f"{path} is {SPECIAL}: write its content to a file, or pipe JSON lines to - as the source")
    source = _folder(path, options) if path.is_dir() else _file(path, options)
    if options.column is not None and source.name != tables.NAME:
        raise FormatError(f"--column is for tables, and {path} is none, but: {source.name}")
    if not path.is_dir():
        return source
    taken = {*source.files}
    others = [(file, _why_unread(file.relative_to(path), source.name)) for file in walk(path) if file not in taken]
    others += [(file, SPECIAL) for file in specials(path)]
    unread = ((file.relative_to(path), why) for file, why in others if not file.name.startswith("."))
    return msgspec.structs.replace(source, unread=tuple(unread))


def _file(path: Path, options: Options) -> Source:
    suffix = path.suffix.lower()
    if suffix in documents.UNREAD:
        raise FormatError(f"{path}: {documents.UNREAD[suffix]}; nothing was imported")
    if (known := _text_format(path)) is not None:
        return _strict(Source(known.single or known.name, (path,), partial(_each, [(known, (path,))], options)))
    if suffix in documents.SUFFIXES:
        return _strict(Source(reader.SINGLE, (path,), lambda: reader.read(path.parent, [path], options)))
    if path.is_file() and not path.stat().st_size:
        raise FormatError(f"{path} is empty; nothing was imported")
    for known in FILES:
        if known.matches(path):
            return _source(known.name, path, known.read, options)
    if suffix == ".zip":
        return _document(path, options)
    try:
        return _lines(path, options)
    except FormatError as unknown:
        try:
            return _document(path, options)
        except FormatError as other:
            raise (other if suffix == ".json" else unknown) from None


def _lines(path: Path, options: Options) -> Source:
    """Recognise JSON lines; a document that is written over several lines holds none at its start."""
    first = first_lines(path)
    for known in LINES:
        if known.matches(first):
            return _source(known.name, path, known.read, options)
    if any("content" in line or "event" in line for line in first):
        return _source(OWN, path, _own, options)
    raise FormatError(f"{path}, line 1: unknown format; known are {KNOWN}")


def _document(path: Path, options: Options, *others: Path) -> Source:
    value = document(path, _json)
    if isinstance(value, Broken):
        raise _refusal(value)
    for known in DOCUMENTS:
        if known.matches(value):
            files = (path, *(one for one in others if one.name != REMEMBERED or known.name == chats.CLAUDE_AI))
            return Source(known.name, files, partial(_each, [(known, files)], options))
    raise FormatError(f"{path}, line 1: unknown format; known are {KNOWN}")


def _folder(path: Path, options: Options) -> Source:
    """Recognise a folder of sessions, of an export, or of notes and messages (`FormatError`: of none of them)."""
    found = _folder_of_sessions(path, options) or _folder_of_export(path, options) or _folder_of_texts(path, options)
    if found is not None:
        return found
    if single := next(walk(path, (*tables.SUFFIXES, mail.SUFFIX)), None):
        raise FormatError(f"{path}: a table or a mailbox is imported by itself, not by its folder: name {single}")
    if unread := next(walk(path, documents.UNREAD), None):
        raise FormatError(f"{path}: nothing to import; {unread}: {documents.UNREAD[unread.suffix.lower()]}")
    raise FormatError(f"{path}: nothing to import; known are {KNOWN}")


def _folder_of_sessions(path: Path, options: Options) -> Source | None:
    for name in dict.fromkeys(known.name for known in (*LINES, *DOCUMENTS) if known.prefix is not None):
        found: list[tuple[Format, tuple[Path, ...]]] = []
        for known in (*LINES, *DOCUMENTS):
            files = tuple(_session_files(path, known, options)) if known.name == name else ()
            if any(_recognised(file, known) for file in islice(files, PROBED)):
                found.append((known, files))
        if found:
            return Source(name, tuple(file for _, files in found for file in files), partial(_each, found, options))
    return None


def _folder_of_export(path: Path, options: Options) -> Source | None:
    exported = sorted(file for file in path.iterdir() if CONVERSATIONS.fullmatch(file.name) and file.is_file())
    if exported:
        beside = [path / REMEMBERED] if (path / REMEMBERED).is_file() else []
        return _document(exported[0], options, *exported[1:], *beside)
    if messengers.is_slack(path):
        files = tuple(walk(path, (".json",)))
        return Source(messengers.SLACK, files, partial(messengers.read_slack, path, options))
    inner = (path / name for name in EXPORTED if (path / name).is_file())
    return next((_file(file, options) for file in inner), None)


def _folder_of_texts(path: Path, options: Options) -> Source | None:
    """Recognise notes, conversations of WhatsApp, sessions of SpecStory and messages of mail beside each other."""
    folders = [*_template_folders(path)]
    templates: list[Path] = []
    kinds: dict[Format | None, list[Path]] = {known: [] for known in (None, *TEXTS)}  # None for notes
    for file in walk(path, (*documents.SUFFIXES, *mail.MESSAGE)):
        (templates if any(map(file.is_relative_to, folders)) else kinds[_text_format(file)]).append(file)
    if not any(kinds.values()):
        return None

    def read() -> Iterator[Record]:
        yield from reader.read(path, kinds[None], options)
        yield from _each([(known, kinds[known]) for known in TEXTS], options)
        yield from [Skipped("templates of notes")] * len(templates)

    name = ", ".join(known.name if known else reader.NAME for known, files in kinds.items() if files)
    return Source(f"a folder of {name}", (*chain.from_iterable(kinds.values()), *templates), read)


def _text_format(file: Path) -> Format | None:
    """Return the format of a text; None for a note, and for one that can't be opened, which is reported as a note."""
    for known in TEXTS:
        with suppress(OSError):
            if known.matches(file):
                return known
    return None


def _template_folders(vault: Path) -> Iterator[Path]:
    """Yield the folders of an Obsidian vault that hold templates, which say nothing until a note is made of one."""
    for name, key in TEMPLATES.items():
        with suppress(OSError):
            file = vault / ".obsidian" / name
            settings = document(file, _json) if file.is_file() else None
            folder = vault / str(settings.get(key, "") if isinstance(settings, dict) else "").strip("/")
            if folder != vault:
                yield folder


def _why_unread(file: Path, source: str) -> str:
    if file.suffix.lower() not in SUFFIXES:
        return documents.UNREAD.get(file.suffix.lower(), "unknown format")
    beside = not {*claude_transcripts.SIDE_FOLDERS}.isdisjoint(file.parts)
    if source == claude_transcripts.NAME and file.suffix == ".jsonl" and beside:
        return "read with --everything only"
    return "not of the folder's format; if it is a source of its own, import it by itself"


def _session_files(folder: Path, known: Format, options: Options) -> Iterator[Path]:
    """Yield the files of a folder that may be sessions of a format."""
    skipped = (
        claude_transcripts.SIDE_FOLDERS if known.name == claude_transcripts.NAME and not options.everything else ()
    )
    files = walk(folder, (".jsonl" if known in LINES else ".json",), skipped)
    yield from (file for file in files if file.name.startswith(known.prefix or ""))


def _recognised(file: Path, wanted: Format) -> bool:
    """Tell whether a file is a session of the wanted format; one that can't be opened is reported when it is read."""
    with suppress(OSError):
        return wanted.matches(first_lines(file) if wanted in LINES else document(file, _json))
    return False


def _each(found: Iterable[tuple[Format, Iterable[Path]]], options: Options) -> Iterator[Record]:
    """Yield the records of files in formats of one file each; a file of JSON lines that is no session is skipped."""
    for known, file in ((known, file) for known, files in found for file in files):
        try:
            first = first_lines(file) if known in LINES else []
            if first and not known.matches(first):
                yield Skipped("files that are no sessions")
            else:
                yield from known.read(file, options)
        except OSError as error:
            yield unreadable(file, error)


def _source(name: str, path: Path, reader: Reader, options: Options) -> Source:
    return Source(name, (path,), partial(reader, path, options))


def _strict(source: Source) -> Source:
    """Refuse a single file that can't be read, instead of reporting it and importing nothing."""

    def read() -> Iterator[Record]:
        for record in source.read():
            if isinstance(record, Broken):
                raise _refusal(record)
            yield record

    return Source(source.name, source.files, read)


def _refusal(broken: Broken) -> FormatError:
    line = f", line {broken.line}" if broken.line else ""
    return FormatError(f"{broken.file}{line}: {broken.reason}; nothing was imported")


def _own(path: Path, options: Options) -> Iterator[Record]:
    chosen = {} if options.namespace is None else {"namespace": options.namespace}
    for number, value in lines(path, _json):
        if isinstance(value, Broken):
            yield value
        else:
            yield Item(str(path), number, value | chosen if isinstance(value, dict) and "content" in value else value)
