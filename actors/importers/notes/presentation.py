"""Properties that say how a program shows a page, which tell nothing of what it is about."""

import re
from collections.abc import Mapping
from typing import Final

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


def shown(properties: Mapping[str, object]) -> set[str]:
    """Return the names of properties whose values say how a page is shown: a path, a switch, a place among others.

    Names alone don't tell: "theme: grief" is what a text is about.
    """
    lines = {name: f"{name}: {value}" for name, value in properties.items()}
    is_page = any(map(_SITE.fullmatch, lines.values()))
    patterns = (_SITE, _FURTHER, _ORDER) if is_page else (_SITE, _FURTHER)
    return {name for name, line in lines.items() if any(one.fullmatch(line) for one in patterns)}


def without_presentation(text: str) -> tuple[str, dict[str, str]]:
    """Return a text without the properties on its first lines that say how a page is shown, and these properties.

    MkDocs takes the lines up to the first blank one for properties, without marks around them. Without a title or a
    name among them, they are lines of the text.
    """
    block = text.strip().partition("\n\n")[0]
    lines = block.split("\n")
    found = [_LINE.fullmatch(line.rstrip()) for line in lines]
    if not found[0] or any(not one and not line[:1].isspace() for one, line in zip(found, lines, strict=True)):
        return text, {}
    stated = {one["name"]: one["value"] or "" for one in found if one}
    names = shown(stated) if {"title", "name"} & {name.lower() for name in stated} else set()
    kept = "\n".join(line for line, one in zip(lines, found, strict=True) if not one or one["name"] not in names)
    return text.replace(block, kept, 1), {name: said for name, said in stated.items() if name in names}
