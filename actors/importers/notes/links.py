"""Links between notes: what a text links to, and which note a link means."""

import posixpath
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Final
from urllib.parse import unquote
from uuid import UUID

WIKILINK: Final = "links_to"
CODE: Final = re.compile(r"^(```|~~~).*?(?:^\1[ \t]*$|\Z)|`[^`\n]*`", re.DOTALL | re.MULTILINE)

_RELATION = re.compile(
    r"^[ \t]*[-*] (?P<relation>[^\[\]\n]{0,80}?)[ \t]*\[\[(?P<target>[^\]\n]+)\]\][ \t]*(?:\([^()\n]*\)[ \t]*)?$",
    re.MULTILINE,
)
_LINK = re.compile(r"\[\[([^\[\]\n]+)\]\]")
_FILE_LINK = re.compile(r"\]\(<?(?P<path>[^()<>\n#?:]+)\.(?:md|markdown)(?:#[^()<>\n]*)?>?(?:[ ]\"[^\"\n]*\")?\)")
_SHORTCODE = re.compile(r"\{\{[<%] *(?:rel)?ref +\"(?P<path>[^\"\n#]+?)(?:\.md)?(?:#[^\"\n]*)?\" *[>%]\}\}")
"""A link to a page of Hugo."""
_VAULT = re.compile(r"dendron://[^/]+/")
_CODE = re.compile(r"(?:(?P<letters>[^\W\d_]+)[ _-]*)?#?0*(?P<number>\d+)(?![^\W_])", re.IGNORECASE)
"""The code of a decision record, such as "ADR-0012", "PEP 621" or "12"; file names often leave the letters out."""
_BARE = {"adr"}
"""Letters of a code for which a number alone stands in the name of a file."""


class NoteNames:
    """The notes of a folder by their paths, else their titles and the names of their files, else their aliases."""

    def __init__(self) -> None:
        self._paths: dict[str, UUID | None] = {}
        self._names: dict[str, UUID | None] = {}
        self._aliases: dict[str, UUID | None] = {}
        self._files: Counter[str] = Counter()
        self._codes: defaultdict[tuple[str, str], list[tuple[str, UUID | None]]] = defaultdict(list)
        """Letters and memory of the records of a folder that have a number."""

    def add(
        self, memory: UUID | None, path: str, *, paths: Iterable[object], names: Iterable[str], aliases: Iterable[str]
    ) -> None:
        """Add the memory of a note, or None for an empty one; of two notes with one name the first has it.

        Its path has no suffix, and `paths` are what else stands for it; `names` are its title and its ids.
        """
        folder, file = posixpath.split(path.lower())
        if code := _CODE.match(file):
            self._codes[folder, code["number"]].append((code["letters"] or "", memory))
        self._files[file] += 1
        for known, given in ((self._paths, (*paths, path)), (self._names, (*names, file)), (self._aliases, aliases)):
            for one in given:
                if one:
                    known.setdefault(str(one).lower(), memory)

    def find(self, target: str, folder: str) -> UUID | None:
        """Return the memory that a link leads to, None if its note is empty (`KeyError`: there is no such note).

        Of `a|b`, `a` is the note to most programs and `b` to Dendron. A path in the `folder` of the linking note may
        mean a file in another one if no other file has its name: Obsidian shortens paths to names.
        """
        written, _, shown = target.lower().partition("|")
        inside, name = posixpath.split(written)
        unique = name if inside == folder.lower() and self._files[name] == 1 else ""
        for one in (written, _VAULT.sub("", shown), unique):
            for known in (self._paths, self._names, self._aliases):
                if one in known:
                    return known[one]
        raise KeyError(target)

    def find_meant(self, target: str, folder: str) -> UUID:
        """Return the memory of the one note that has a name, or a code in a folder (`KeyError`: none, or several)."""
        with suppress(KeyError):
            if (memory := self.find(target, folder)) is not None:
                return memory
        code = _CODE.fullmatch(target.strip().lower())
        letters = (code["letters"] or "") if code else ""
        numbered = self._codes[folder.lower(), code["number"]] if code else ()
        found = {memory for own, memory in numbered if not letters or own == letters or (not own and letters in _BARE)}
        if len(found) != 1 or (memory := found.pop()) is None:
            raise KeyError(target)
        return memory


def links(body: str, folder: str) -> Iterator[tuple[str, str]]:
    """Yield the relation and the target of each link to a note, relations first; none to headings of this one.

    The path of a file in a link is relative to the `folder` of the note.
    """
    visible = CODE.sub(" ", body)
    related = {""}
    for one in _RELATION.finditer(visible):
        if name := _linked(one["target"], folder):
            related.add(name)
            yield one["relation"].strip(" :*_") or WIKILINK, name
    written = (*_FILE_LINK.findall(visible), *_SHORTCODE.findall(visible))
    paths = [posixpath.normpath(posixpath.join(folder, unquote(path))) for path in written]
    named = dict.fromkeys([*(_linked(target, folder) for target in _LINK.findall(visible)), *paths])
    yield from ((WIKILINK, name) for name in named if name not in related)


def _linked(target: str, folder: str) -> str:
    r"""Return what a wikilink names, without the heading, and what is shown in its place after `|`.

    It is empty for a heading of the same note. In a table the bar is written as `\|`.
    """
    parts = target.replace("\\|", "|").split("|", 1)
    name, *shown = (one.partition("#")[0].strip().removesuffix(".md") for one in parts)
    if name.startswith(("./", "../")):
        name = posixpath.normpath(posixpath.join(folder, name))
    return "|".join([name, *shown]) if name else ""
