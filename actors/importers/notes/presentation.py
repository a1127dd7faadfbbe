"""Properties that say how a program shows a page, which tell nothing of what it is about.

They are taken out of the first part of a note after its division: the ids of the other parts follow from what is
divided, and those of earlier imports hold.
"""

import re
from collections.abc import Container, Mapping
from typing import Final, NamedTuple

_PATH: Final = r"(?:[\w./@~-]+\.(?:html?|md|njk|liquid|j2|jinja2?|twig|hbs|ejs|php|vue|astro|[jt]sx?)|\.{0,2}/[\w./-]+)"
_SITE: Final = re.compile(
    rf"layout: (?:page|post|default|home|single|docs|{_PATH})|(?:slug|permalink): [\w./:~%-]+|draft: (?:true|false)",
    re.IGNORECASE,
)
"""Properties by which a text is told to be a page of a site."""
_FURTHER: Final = re.compile(
    r"(?:toc|comments|disqus|mathjax|katex|(?:sidebar|nav|menu|search)_exclude|has_(?:children|toc)"
    r"|hide_(?:title|table_of_contents)): (?:true|false)"
    rf"|(?:theme|template|sidebar): (?:true|false|{_PATH})|(?:[a-z]+[_-]|orig)slug: [\w./:~%-]+",
    re.IGNORECASE,
)
_ORDER: Final = re.compile(r"(?:weight|(?:sidebar|nav|menu)_(?:position|order)): (?:100|[1-9]?[0-9])", re.IGNORECASE)
"""The place of a page among others; alone, a weight may be that of a person."""
_LINE: Final = re.compile(r"(?P<name>[A-Za-z][\w-]{0,40}):(?:[ \t]+(?P<value>\S[^\n]*))?")


class Leading(NamedTuple):
    """Properties on the first lines of a text, as MkDocs takes them without marks around."""

    lines: str
    kept: str
    """The lines without those on presentation."""
    presentation: dict[str, str]


def shown(properties: Mapping[str, object]) -> set[str]:
    """Return the names of properties whose values say how a page is shown: a path, a switch, a place among others.

    Names alone don't tell: "theme: grief" is what a text is about.
    """
    lines = {name: f"{name}: {value}" for name, value in properties.items()}
    is_page = any(map(_SITE.fullmatch, lines.values()))
    patterns = (_SITE, _FURTHER, _ORDER) if is_page else (_SITE, _FURTHER)
    return {name for name, line in lines.items() if any(one.fullmatch(line) for one in patterns)}


def may_be_shown(line: str) -> bool:
    """Tell whether a line may be a property of presentation that a note lost."""
    return any(one.fullmatch(line) for one in (_SITE, _FURTHER, _ORDER))


def leading(text: str) -> Leading:
    """Return the properties that a text begins with, up to its first blank line; empty ones if it begins otherwise.

    Without a title or a name among them, they are lines of the text.
    """
    block = text.strip().partition("\n\n")[0]
    lines = block.split("\n")
    found = [_LINE.fullmatch(line.rstrip()) for line in lines]
    if not found[0] or any(not one and not line[:1].isspace() for one, line in zip(found, lines, strict=True)):
        return Leading("", "", {})
    stated = {one["name"]: one["value"] or "" for one in found if one}
    names = shown(stated) if {"title", "name"} & {name.lower() for name in stated} else set()
    kept = (line for line, one in zip(lines, found, strict=True) if not one or one["name"] not in names)
    return Leading(block, "\n".join(kept), {name: said for name, said in stated.items() if name in names})


def without_presentation(text: str, stated: Mapping[str, str], names: Container[str], own: Leading) -> str:
    """Return the beginning of a note without lines on presentation, the whole of it if no more than a line were left.

    They are those of its properties that have these `names`, and its own first ones.
    """
    lines = {name: f"{name}: {said}" for name, said in stated.items()}
    left = "\n".join(line for name, line in lines.items() if name not in names)
    without = _replaced(_replaced(text, "\n".join(lines.values()), left), own.lines, own.kept)
    return without if "\n" in without.strip() else text


def _replaced(text: str, block: str, kept: str) -> str:
    """Return a text in which lines between blank ones are replaced, or left out; unchanged if it holds none such."""
    before, found, after = f"\n\n{text}\n".partition(f"\n\n{block}\n")
    if not block or not found:
        return text
    return "\n\n".join(one for one in (before.strip("\n"), kept, after.strip("\n")) if one)
