"""Reading of source files: lines and documents of JSON, and text, each with the place of what is broken."""

import os
import re
import zlib
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE, lookup
from collections.abc import Iterable, Iterator
from contextlib import suppress
from lzma import LZMAError
from pathlib import Path
from typing import Final, TypeVar
from zipfile import BadZipFile, ZipFile

import msgspec

from actors.importers.records import Broken
from actors.runtime.types import JsonObject

T = TypeVar("T")

CONVERSATIONS = re.compile(r"conversations(?:-\d+)?\.json")
"""The names of the files of an export that hold the conversations; ChatGPT divides many into numbered ones."""
REMEMBERED = "memories.json"
"""The file beside them that holds what claude.ai remembers."""
MAX_TEXT = 128 << 20
"""Bytes of a text, which is read as a whole and takes several times as much memory."""
MAX_UNPACKED = 1 << 30
"""Bytes of a document in an archive, since a small archive may hold one that fills the memory."""
DAMAGED: Final = (BadZipFile, RuntimeError, ValueError, EOFError, LZMAError, zlib.error)
"""Errors on reading an archive that is damaged, or has a password or an unknown method."""
HEAD = 65_536
"""Bytes by which a format is recognised."""

SPECIAL = "a pipe, a socket or a device, and no file"

BESIDE = ("~$", "._")
"""Prefixes of files that a program keeps beside the file whose name follows."""
INSTALLED = ("node_modules", "site-packages")
"""Folders in which programs keep what others wrote."""
HYPERTEXT = (".html", ".htm")
DECLARING = 1_024
"""Bytes in which HTML declares its encoding."""
_DECLARED = re.compile(rb"<meta[^<>]{1,200}charset\s*=\s*[\"']?([\w.:-]{1,40})", re.IGNORECASE)

NOT_UTF8 = "not UTF-8: save the file as UTF-8, such as by iconv -f cp1252 -t utf-8 FILE"
ZERO = "a zero byte: no text, or UTF-16 without the mark that says so; save the file as UTF-8"

HEAD_LINES = 20
"""Lines of JSON by which a format is recognised; the first turn of a session may be a long text or an image."""
LONGEST_HEAD = 32 << 20
"""Bytes of these lines, since a document may be one line."""


def lines(file: Path, decoder: msgspec.json.Decoder[T]) -> Iterator[tuple[int, T | Broken]]:
    """Yield the numbers and values of JSON lines, however many; a line that can't be read is `Broken`."""
    with file.open("rb") as source:
        for number, raw in enumerate(source, start=1):
            data = raw.removeprefix(BOM_UTF8).strip() if number == 1 else raw.strip()
            if not data:
                continue
            try:
                data.decode()
                yield number, decoder.decode(data)
            except UnicodeDecodeError as error:
                yield number, Broken(str(file), number, f"not UTF-8: byte {error.start + 1}")
            except (msgspec.DecodeError, RecursionError) as error:
                yield number, Broken(str(file), number, _problem(error))


def document(file: Path, decoder: msgspec.json.Decoder[T]) -> T | Broken:
    """Return the value of a file that is one JSON document, or of the first conversations in a ZIP archive."""
    return next(documents(file, decoder))


def documents(file: Path, decoder: msgspec.json.Decoder[T], beside: str | None = None) -> Iterator[T | Broken]:
    """Yield the value of a file that is one JSON document, or those of all conversations in a ZIP archive.

    That of the file `beside` them in the archive follows, if there is one.
    """
    if not is_packed(file):
        yield _decoded(str(file), file.read_bytes(), decoder)
        return
    try:
        with ZipFile(file) as archive:
            names = [name for name in archive.namelist() if CONVERSATIONS.fullmatch(name.rpartition("/")[2])]
            if not names:
                raise BadZipFile("no conversations.json in the archive: unpack it and import its folder")
            others = [name for name in archive.namelist() if name.rpartition("/")[2] == beside]
            for name in (*sorted(names), *others):
                yield unpacked(archive, name, decoder)
    except DAMAGED as error:
        yield Broken(str(file), 0, f"not an export: {str(error) or type(error).__name__}")


def unpacked(archive: ZipFile, name: str, decoder: msgspec.json.Decoder[T]) -> T | Broken:
    """Return the value of a JSON document in an archive, up to `MAX_UNPACKED`."""
    place = f"{archive.filename}/{name}"
    try:
        with archive.open(name) as source:
            data = source.read(MAX_UNPACKED + 1)
    except DAMAGED as error:
        return Broken(place, 0, f"it can't be unpacked: {str(error) or type(error).__name__}")
    if len(data) > MAX_UNPACKED:
        size = f"more than {MAX_UNPACKED >> 20:,} MB"
        return Broken(place, 0, f"it has {size}: unpack the archive and import that file")
    return _decoded(place, data, decoder)


def _decoded(place: str, data: bytes, decoder: msgspec.json.Decoder[T]) -> T | Broken:
    data = data.removeprefix(BOM_UTF8)
    try:
        data.decode()
        return decoder.decode(data)
    except UnicodeDecodeError as error:
        return Broken(place, data.count(b"\n", 0, error.start) + 1, NOT_UTF8)
    except (msgspec.DecodeError, RecursionError) as error:
        return Broken(place, _line(data, str(error)), _problem(error))


def text(file: Path) -> str | Broken:
    """Return the text of a file; `Broken` with the line if it is too large, or neither UTF-8 nor what it says.

    A mark at the beginning says UTF-16, a `meta` element of HTML any encoding.
    """
    if file.stat().st_size > MAX_TEXT:
        return Broken(str(file), 1, f"the file has more than {MAX_TEXT >> 20} MB: split it into several")
    data = file.read_bytes()
    is_hypertext = file.suffix.lower() in HYPERTEXT
    declared = _DECLARED.search(data[:DECLARING]) if is_hypertext else None
    encoding = declared[1].decode() if declared else None
    try:
        is_marked = data.startswith((BOM_UTF16_LE, BOM_UTF16_BE))
        content = data.decode("utf-16") if is_marked else decoded(data, encoding)
    except UnicodeDecodeError as error:
        return Broken(str(file), data.count(b"\n", 0, error.start) + 1, f"not {encoding}" if encoding else NOT_UTF8)
    except LookupError:
        return Broken(str(file), 1, f"unknown encoding {encoding}")
    if (place := content.find("\0")) >= 0:
        return Broken(str(file), content.count("\n", 0, place) + 1, ZERO)
    return content.replace("\r\n", "\n")


def unreadable(file: Path, error: OSError) -> Broken:
    """Return the report on a file of a folder that can't be read, such as one of another user; the rest is imported."""
    return Broken(str(file), 0, f"it can't be read: {error.strerror or error}")


def missing(name: str) -> str:
    """Return what a link leads to that leads to no note, by its name: an image, code or another file, or nothing.

    What looks like a suffix is one: a list of those that are known differs from machine to machine.
    """
    return "files that are no notes" if re.search(r"\.[a-z]\w{0,9}\Z", name) else "notes that don't exist"


def path_text(path: Path) -> str:
    """Return a path as text; bytes of a name that are not UTF-8, which no memory can hold, are replaced."""
    return os.fsencode(path.as_posix()).decode(errors="replace")


def decoded(data: bytes, encoding: str | None) -> str:
    """Decode what is declared to be of an encoding, and may be UTF-8 all the same.

    Latin 1 and ASCII are read as Windows 1252, as browsers do (`UnicodeDecodeError`; `LookupError`: unknown encoding,
    or one that isn't of text).
    """
    with suppress(UnicodeDecodeError):
        if encoding is None or not data.isascii():  # Japanese in seven bits looks like ASCII
            return data.decode("utf-8-sig")
    try:
        name = lookup(encoding or "utf-8-sig").name
        content = data.decode("cp1252" if name in {"iso8859-1", "ascii"} else name)
        content.encode()
    except UnicodeDecodeError:
        raise
    except UnicodeEncodeError as error:  # UTF-7 and escapes may state a lone surrogate, which no store takes
        raise UnicodeDecodeError(error.encoding, data, 0, len(data), error.reason) from None
    except ValueError as error:  # of the encoding `undefined`, or of a name with a zero byte
        raise LookupError(str(error)) from None
    return content


def is_packed(file: Path) -> bool:
    """Tell whether a file is a ZIP archive, by its name."""
    return file.suffix.lower() == ".zip"


def first_lines(file: Path) -> list[JsonObject]:
    """Return the values of the first lines that are JSON objects, however long one is; [] if there are none."""
    found: list[JsonObject] = []
    left = LONGEST_HEAD
    with file.open("rb") as source:
        for number in range(HEAD_LINES):
            raw = source.readline(left)
            left -= len(raw)
            try:
                value: object = msgspec.json.decode(raw if number else raw.removeprefix(BOM_UTF8))
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                continue
            if isinstance(value, dict):
                found.append(value)
    return found


def walk(folder: Path, suffixes: Iterable[str] | None = None, skipped: Iterable[str] = ()) -> Iterator[Path]:
    """Yield the files under a folder by name, not those in hidden folders, of `INSTALLED`, or with `skipped` names.

    A symbolic link to one of these files is left out, and what Word and macOS keep beside a file (`~$name`, `._name`).
    `suffixes` of the files are in lower case; None for any.
    """
    wanted = None if suffixes is None else {*suffixes}
    found = _named(folder, skipped)
    files = sorted(path for path in found if (wanted is None or path.suffix.lower() in wanted) and path.is_file())
    links = {path for path in files if path.is_symlink()}
    own = {path.resolve() for path in files if path not in links} if links else set()
    yield from (path for path in files if path not in links or path.resolve() not in own)


def specials(folder: Path) -> list[Path]:
    """Return the pipes, sockets and devices under a folder, found as by `walk`."""
    return sorted(path for path in _named(folder) if path.exists() and not path.is_file())


def _named(folder: Path, skipped: Iterable[str] = ()) -> Iterator[Path]:
    unwanted = {*skipped, *INSTALLED}
    for parent, folders, names in os.walk(folder):
        folders[:] = (name for name in folders if not name.startswith(".") and name not in unwanted)
        yield from (Path(parent, name) for name in names if not name.startswith(BESIDE))


def _problem(error: Exception) -> str:
    """Return what is wrong with a text: it is no JSON, or its values are of other types."""
    return str(error) if isinstance(error, msgspec.ValidationError) else f"not JSON: {error}"


def _line(data: bytes, problem: str) -> int:
    """Return the line of a syntax error: the last of a truncated document, else by the place in bytes, or 1."""
    if "truncated" in problem:
        return data.rstrip().count(b"\n") + 1
    place = problem.rpartition("(byte ")[2].rstrip(")")
    return data.count(b"\n", 0, int(place)) + 1 if place.isdecimal() else 1
