"""Properties that say how a program shows a page, which tell nothing of what it is about.

They are taken out of the first part of a note after its division: the ids of the other parts follow from what is
divided, and those of earlier imports hold.
"""

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

_NAME: Final = re.compile(
    r"layout|template|theme|(?:[a-z]+[_-])?slug|origslug|permalink|draft|weight|toc|comments|disqus|mathjax|katex"
    r"|sidebar|(?:sidebar|nav|menu)_(?:position|order|exclude)|has_(?:children|toc)|search_exclude"
    r"|hide_(?:title|table_of_contents)",
    re.IGNORECASE,
)
_LINE: Final = re.compile(r"(?P<name>[A-Za-z][\w-]{0,40}):(?:[ \t]+(?P<value>\S[^\n]*))?")


class Leading(NamedTuple):
    """Properties on the first lines of a text, as MkDocs takes them without marks around."""

    lines: str
    kept: str
    """The lines without those on presentation."""
    presentation: dict[str, str]


def is_presentation(name: str, value: str, *, is_titled: bool) -> bool:
    """Tell whether a property says how a page is shown: by a word, a number or a path.

    Beside a title a weight is the place of a page among others, else it may be that of a person.
    """
    is_known = _NAME.fullmatch(name) is not None and len(value.split()) == 1
    return is_known and (is_titled or name.lower() != "weight")


def leading(text: str) -> Leading:
    """Return the properties that a text begins with, up to its first blank line; empty ones if it begins otherwise."""
    block = text.strip().partition("\n\n")[0]
    lines = block.split("\n")
    found = [_LINE.fullmatch(line.rstrip()) for line in lines]
    if not found[0] or any(not one and not line[:1].isspace() for one, line in zip(found, lines, strict=True)):
        return Leading("", "", {})
    stated = {one["name"]: one["value"] or "" for one in found if one}
    is_titled = "title" in {name.lower() for name in stated}
    shown = {name: said for name, said in stated.items() if is_presentation(name, said, is_titled=is_titled)}
    kept = (line for line, one in zip(lines, found, strict=True) if not one or one["name"] not in shown)
    return Leading(block, "\n".join(kept), shown)


def without_presentation(text: str, stated: Mapping[str, str], own: Leading, *, is_titled: bool) -> str:
    """Return the beginning of a note without lines on presentation: those of its properties, and its own first ones."""
    lines = {f"{name}: {said}": is_presentation(name, said, is_titled=is_titled) for name, said in stated.items()}
    text = _replaced(text, "\n".join(lines), "\n".join(line for line, is_shown in lines.items() if not is_shown))
    return _replaced(text, own.lines, own.kept)


def _replaced(text: str, block: str, kept: str) -> str:
    """Return a text in which lines between blank ones are replaced, or left out; unchanged if it holds none such."""
    before, found, after = f"\n\n{text}\n".partition(f"\n\n{block}\n")
    if not block or not found:
        return text
    return "\n\n".join(one for one in (before.strip("\n"), kept, after.strip("\n")) if one)
