"""Edits of JSON with comments that change one member or element and leave every other byte as it is.

VS Code, Zed, Gemini CLI and opencode read comments; VS Code, Zed and opencode also a comma after the last item.
Parsers that keep comments are not maintained for Python, so the text is edited at the positions that a scan finds.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from actors.clients.files import ConfigurationError, line_of

_TOKEN = re.compile(
    r"""(?P<space>[\ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)
    |(?P<value>"(?:[^"\\\x00-\x1f]|\\.)*"|[-+.\w]+)
    |(?P<mark>[{}\[\]:,])""",
    re.VERBOSE | re.DOTALL,
)
_CLOSING = {"{": "}", "[": "]"}
BOM = "\ufeff"


class Item(NamedTuple):
    """A member of an object or an element of an array."""

    key: str | None
    start: int
    """Of the key, or of the element."""
    value: Node
    comma: int | None
    """Position of the comma after it."""
    before: int
    """End of the last token before it, comments included."""


class Node(NamedTuple):
    """A value, and where it stands."""

    value: Any
    """Without comments."""
    start: int
    end: int
    items: tuple[Item, ...] | None = None
    """None for anything but objects and arrays."""
    last: int = 0
    """Of an object or array: end of the last token before its closing bracket, comments included."""


class _Token(NamedTuple):
    text: str
    start: int
    before: int
    """End of the last comment before it, or of the previous token."""

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def parse(text: str, *, comments: bool = True) -> Node:
    """Parse a document; blank text is an empty object.

    `comments` tells whether comments and a comma after the last item are allowed.

    Raises:
        ConfigurationError: The text is no such document; names the line.
    """
    if not text.strip(BOM + " \t\r\n"):
        return Node({}, len(text), len(text), ())
    tokens = _tokens(text, comments=comments)
    try:
        node = _value(text, next(tokens), tokens, comments=comments)
    except RecursionError:
        raise ConfigurationError("nested too deep") from None
    if (rest := next(tokens)).text:
        raise _unexpected(text, rest)
    return node


def set_member(text: str, path: Sequence[str], value: object, *, comments: bool = True) -> str:
    """Return the text with a member at a path of keys; objects on the way are added where they are missing.

    Raises:
        ConfigurationError: The text is no JSON, or something on the way is no object.
    """
    node = parse(text, comments=comments)
    if node.items is not None and node.start == node.end:
        return text[: len(BOM) if text.startswith(BOM) else 0] + _dumps(_nested(path, value), "", "  ") + "\n"
    node, depth = _descend(text, node, path)
    if depth < len(path):
        return _insert(text, node, path[depth], _nested(path[depth + 1 :], value))
    if node.value == value:
        return text
    return text[: node.start] + _layout(text, node, value) + text[node.end :]


def append(text: str, path: Sequence[str], value: object, *, comments: bool = True) -> str:
    """Return the text with one more element in the array at a path; errors as in `set_member`."""
    node = find(text, path, comments=comments)
    if node is None:
        return set_member(text, path, [value], comments=comments)
    if not isinstance(node.value, list):
        raise _not_an(text, node, path, "array")
    return _insert(text, node, None, value)


def find(text: str, path: Sequence[str], *, comments: bool = True) -> Node | None:
    """Return the value at a path of keys; None without one; errors as in `set_member`."""
    node, depth = _descend(text, parse(text, comments=comments), path)
    return node if depth == len(path) else None


def _descend(text: str, node: Node, path: Sequence[str]) -> tuple[Node, int]:
    """Return the last node on a path that exists, and how many keys lead to it; errors as in `set_member`."""
    for depth, key in enumerate(path):
        if not isinstance(node.value, dict):
            raise _not_an(text, node, path[:depth], "object")
        item = _member(node, key)
        if item is None:
            return node, depth
        node = item.value
    return node, len(path)


def remove(text: str, path: Sequence[str], at: str | int, *, comments: bool = True) -> str:
    """Return the text without a member of the object, or an element of the array, at a path; as it is without it."""
    node = find(text, path, comments=comments)
    if node is None or not node.items:
        return text
    index = at if isinstance(at, int) else next((i for i, one in enumerate(node.items) if one.key == at), None)
    if index is None:
        return text
    item = node.items[index]
    if item.comma is not None:
        return _cut(text, item.before, item.comma + 1)
    text = _cut(text, item.before, item.value.end)
    if index == 0:
        return text
    comma = node.items[index - 1].comma or 0  # an item with one after it has a comma
    return text[:comma] + text[comma + 1 :]


def _tokens(text: str, *, comments: bool) -> Iterator[_Token]:
    """Yield the tokens, and an empty one at the end."""
    position = before = len(BOM) if text.startswith(BOM) else 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise ConfigurationError(f"unreadable text {text[position : position + 20]!r}", line_of(text, position))
        position = match.end()
        if match.lastgroup != "space":
            yield _Token(match[0], match.start(), before)
            before = position
        elif match[0].startswith("/"):
            if not comments:
                raise ConfigurationError("a comment, which this client does not read", line_of(text, match.start()))
            before = position
    yield _Token("", len(text), before)


def _value(text: str, token: _Token, tokens: Iterator[_Token], *, comments: bool) -> Node:
    if token.text in _CLOSING:
        return _container(text, token, tokens, comments=comments)
    try:
        return Node(json.loads(token.text), token.start, token.end)
    except ValueError:
        raise _unexpected(text, token) from None


def _container(text: str, opening: _Token, tokens: Iterator[_Token], *, comments: bool) -> Node:
    is_object = opening.text == "{"
    closing, items = _CLOSING[opening.text], list[Item]()
    token = next(tokens)
    while token.text != closing:
        if items and (items[-1].comma is None):
            raise _unexpected(text, token)
        key, start, before = None, token.start, token.before
        if is_object:
            if not token.text.startswith('"') or next(tokens).text != ":":
                raise _unexpected(text, token)
            key = _value(text, token, tokens, comments=comments).value
            token = next(tokens)
        value = _value(text, token, tokens, comments=comments)
        token = next(tokens)
        comma = token.start if token.text == "," else None
        items.append(Item(key, start, value, comma, before))
        if comma is not None:
            token = next(tokens)
            if token.text == closing and not comments:
                raise _unexpected(text, token)
    values = [item.value.value for item in items]
    found = dict(zip((item.key for item in items), values, strict=True)) if is_object else values
    return Node(found, opening.start, token.end, tuple(items), token.before)


def _insert(text: str, node: Node, key: str | None, value: object) -> str:
    """Return the text with an item at the end of an object or array, laid out like its neighbours."""
    items = node.items or ()
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
        tail = "" if "\n" in text[node.last : node.end] else newline + outer
        return text[: node.last] + written + tail + text[node.last :]
    if items[-1].comma is not None:
        return text[: node.last] + written + "," + text[node.last :]
    end = items[-1].value.end
    return text[:end] + "," + text[end : node.last] + written + text[node.last :]


def _cut(text: str, start: int, end: int) -> str:
    """Return the text without a span; a line comment before it still ends with its line."""
    ends_comment = any(one.end() == start and one[0].startswith("//") for one in _TOKEN.finditer(text, 0, start))
    needed = ends_comment and not re.match(r"[ \t]*\r?\n", text[end:])
    return text[:start] + ("\n" if needed else "") + text[end:]


def _layout(text: str, node: Node, value: object) -> str:
    """Return a value as it stands in the place of a node: on one line where that stood on one."""
    if "\n" not in text[node.start : node.end]:
        return json.dumps(value, ensure_ascii=False)
    return _dumps(value, _indent(text, node.start), _unit(text), "\r\n" if "\r\n" in text else "\n")


def _dumps(value: object, indent: str, unit: str, newline: str = "\n") -> str:
    return json.dumps(value, indent=unit, ensure_ascii=False).replace("\n", newline + indent)


def _indent(text: str, position: int) -> str:
    """Return the white space at the start of the line of a position."""
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


def _member(node: Node, key: str) -> Item | None:
    """Return a member of an object; the last one if its key is repeated, as JSON parsers do."""
    return next((item for item in reversed(node.items or ()) if item.key == key), None)


def _unexpected(text: str, token: _Token) -> ConfigurationError:
    what = f"unexpected {token.text[:20]}" if token.text else "it ends too early"
    return ConfigurationError(what, line_of(text, token.start))


def _not_an(text: str, node: Node, path: Sequence[str], kind: str) -> ConfigurationError:
    return ConfigurationError(f"{'.'.join(path) or 'the document'} is no {kind}", line_of(text, node.start))
