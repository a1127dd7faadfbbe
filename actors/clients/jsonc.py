"""Edits of JSON with comments that change one member or element and leave every other byte as it is.

VS Code, Zed, Gemini CLI and opencode read comments; VS Code, Zed and opencode also a comma after the last item.
Parsers that keep comments are not maintained for Python. So comments become spaces, `json` finds where values end, and
the text is edited there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from actors.clients.files import ConfigurationError, line_of

BOM = "\ufeff"
_SPACE = " \t\r\n"
_STRING = r'"(?:[^"\\]|\\.)*(?:"|\\?\Z)'
_COMMENT = re.compile(rf"{_STRING}|//[^\r\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_LAST_COMMA = re.compile(rf"{_STRING}|[{{\[][ \t\r\n]*,|,(?=[ \t\r\n]*[}}\]])", re.DOTALL)
"""Beside it the comma of an empty object or array, which stays and is refused."""
_DECODER = json.JSONDecoder()


class _Node(NamedTuple):
    """A value, and where it stands."""

    value: Any
    """Without comments."""
    start: int
    end: int


class _Item(NamedTuple):
    """A member of an object or an element of an array."""

    key: str | None
    start: int
    """Where the key starts, or the element of an array."""
    value: _Node
    comma: int | None
    """Position of the comma after it."""


class _Document:
    """A text whose comments and last commas are blanked; blank text is an empty object.

    Raises:
        ConfigurationError: The text is no such document; names the line.
    """

    def __init__(self, text: str, *, comments: bool = True) -> None:
        self.text = text
        without_mark = text.replace(BOM, " ", 1) if text.startswith(BOM) else text
        self._commas = _blanked(_COMMENT, without_mark) if comments else without_mark
        self._plain = _blanked(_LAST_COMMA, self._commas) if comments else self._commas
        self.is_blank = not without_mark.strip(_SPACE)
        try:
            value = {} if self.is_blank else json.loads(self._plain)
        except json.JSONDecodeError as error:
            is_comment = text.startswith(("//", "/*"), error.pos)
            problem = "a comment, which this client does not read" if is_comment else error.msg
            raise ConfigurationError(problem, line_of(text, error.pos)) from None
        except RecursionError:
            raise ConfigurationError("nested too deep") from None
        self.root = _Node(value, self._after_space(self._plain, 0), len(self._plain.rstrip(_SPACE)))

    def items(self, node: _Node) -> list[_Item]:
        """Return the items of an object or an array."""
        items: list[_Item] = []
        start = self._after_space(self._plain, node.start + 1)
        while start < node.end - 1:
            key, at = None, start
            if isinstance(node.value, dict):
                key, at = _DECODER.raw_decode(self._plain, start)
                at = self._after_space(self._plain, self._after_space(self._plain, at) + 1)
            value, end = _DECODER.raw_decode(self._plain, at)
            comma = self._after_space(self._commas, end)
            has_comma = self._commas[comma] == ","
            items.append(_Item(key, start, _Node(value, at, end), comma if has_comma else None))
            start = self._after_space(self._plain, comma + has_comma)
        return items

    def descend(self, path: Sequence[str]) -> tuple[_Node, int]:
        """Return the last node on a path that exists, and how many keys lead to it (`ConfigurationError`)."""
        node = self.root
        for depth, key in enumerate(path):
            if not isinstance(node.value, dict):
                raise self.no(node, path[:depth], "object")
            if key not in node.value:
                return node, depth
            # Of a key that is repeated the last value counts, as in JSON parsers.
            node = [item.value for item in self.items(node) if item.key == key][-1]
        return node, len(path)

    def no(self, node: _Node, path: Sequence[str], kind: str) -> ConfigurationError:
        """Return the error of a node of another kind."""
        return ConfigurationError(f"{'.'.join(path) or 'the document'} is no {kind}", line_of(self.text, node.start))

    def before(self, position: int) -> int:
        """Return the end of what stands before a position, comments included."""
        return len(self.text[:position].rstrip(_SPACE))

    @staticmethod
    def _after_space(text: str, position: int) -> int:
        while text[position : position + 1] in (" ", "\t", "\r", "\n"):
            position += 1
        return position


def refuse_comments(text: str) -> None:
    """Raise `ConfigurationError` for a text that some clients don't read: one with comments, or a last comma."""
    _Document(text, comments=False)


def find(text: str, path: Sequence[str]) -> object:
    """Return the value at a path of keys; None without one; errors as in `set_member`."""
    node, depth = _Document(text).descend(path)
    return node.value if depth == len(path) else None


def set_member(text: str, path: Sequence[str], value: object) -> str:
    """Return the text with a member at a path of keys; objects on the way are added where they are missing.

    Raises:
        ConfigurationError: The text is no JSON, or something on the way is no object.
    """
    document = _Document(text)
    if document.is_blank:
        return (BOM if text.startswith(BOM) else "") + _dumps(_nested(path, value), "", "  ") + "\n"
    node, depth = document.descend(path)
    if depth < len(path):
        return _insert(document, node, path[depth], _nested(path[depth + 1 :], value))
    if node.value == value:
        return text
    return text[: node.start] + _layout(text, node, value) + text[node.end :]


def append(text: str, path: Sequence[str], value: object) -> str:
    """Return the text with one more element in the array at a path; errors as in `set_member`."""
    document = _Document(text)
    node, depth = document.descend(path)
    if depth < len(path):
        return set_member(text, path, [value])
    if not isinstance(node.value, list):
        raise document.no(node, path, "array")
    return _insert(document, node, None, value)


def remove(text: str, path: Sequence[str], at: str | int) -> str:
    """Return the text without a member of the object, or an element of the array, at a path; as it is without it."""
    document = _Document(text)
    node, depth = document.descend(path)
    if depth < len(path) or not node.value or document.is_blank:
        return text
    items = document.items(node)
    index = at if isinstance(at, int) else next((i for i, one in enumerate(items) if one.key == at), None)
    if index is None:
        return text
    item = items[index]
    before = document.before(item.start)
    if item.comma is not None:
        return _cut(text, before, item.comma + 1)
    text = _cut(text, before, item.value.end)
    if index == 0:
        return text
    comma = items[index - 1].comma or 0  # an item with one after it has a comma
    return text[:comma] + text[comma + 1 :]


def _blanked(pattern: re.Pattern[str], text: str) -> str:
    """Return a text of the same lines and length without comments or commas that a pattern matches."""
    return pattern.sub(lambda found: re.sub(r"[^\r\n]", " ", found[0]) if found[0][0] in "/," else found[0], text)


def _insert(document: _Document, node: _Node, key: str | None, value: object) -> str:
    """Return the text with an item at the end of an object or array, laid out like its neighbours."""
    text, items, last = document.text, document.items(node), document.before(node.end - 1)
    name = "" if key is None else f"{json.dumps(key, ensure_ascii=False)}: "
    multiline = "\n" in text[node.start : node.end] or not items
    newline = "\r\n" if "\r\n" in text else "\n"
    outer = _indent(text, node.start)
    inner = _indent(text, items[0].start) if items and multiline else outer + _unit(text)
    written = (
        newline + inner + name + _dumps(value, inner, _unit(text), newline)
        if multiline
        else " " + name + json.dumps(value, ensure_ascii=False)
    )
    if not items:
        tail = "" if "\n" in text[last : node.end] else newline + outer
        return text[:last] + written + tail + text[last:]
    if items[-1].comma is not None:
        return text[:last] + written + "," + text[last:]
    end = items[-1].value.end
    return text[:end] + "," + text[end:last] + written + text[last:]


def _cut(text: str, start: int, end: int) -> str:
    """Return the text without a span; a line comment before it still ends with its line."""
    comments = (one for one in _COMMENT.finditer(text) if one[0].startswith("//"))
    ends_comment = any(one.start() < start <= one.end() for one in comments)
    needed = ends_comment and not re.match(r"[ \t]*\r?\n", text[end:])
    return text[:start] + ("\n" if needed else "") + text[end:]


def _layout(text: str, node: _Node, value: object) -> str:
    """Return a value as it stands in the place of a node: on one line where that stood on one."""
    if "\n" not in text[node.start : node.end]:
        return json.dumps(value, ensure_ascii=False)
    return _dumps(value, _indent(text, node.start), _unit(text), "\r\n" if "\r\n" in text else "\n")


def _dumps(value: object, indent: str, unit: str, newline: str = "\n") -> str:
    return json.dumps(value, indent=unit, ensure_ascii=False).replace("\n", newline + indent)


def _indent(text: str, position: int) -> str:
    start = text.rfind("\n", 0, position) + 1
    return re.match(r"[ \t]*", text[start:position])[0]  # pyright: ignore[reportOptionalSubscript] -- always matches


def _unit(text: str) -> str:
    """Return one level of indentation: that of the first indented line."""
    found = re.search(r"^([ \t]+)[\"{\[]", text, re.MULTILINE)
    return found[1] if found else "  "


def _nested(path: Sequence[str], value: object) -> object:
    for key in reversed(path):
        value = {key: value}
    return value
