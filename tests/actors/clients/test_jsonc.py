"""Edits of JSON with comments: one member changes, every other byte stays."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.clients import jsonc
from actors.clients.files import ConfigurationError

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.text(max_size=6), VALUES, max_size=4)
SPACES = st.sampled_from(["", " ", "\n", "\n  ", "\r\n\t", " // a { comment, \n", "/* [1, */", '\n// "x": 1,\n  '])


def parsed(text: str) -> Any:
    return jsonc.find(text, ())


ENTRY = {"command": "/usr/bin/x", "args": ["serve"]}


@st.composite
def documents(draw: st.DrawFn, of: st.SearchStrategy[Any] = OBJECTS) -> tuple[str, Any]:
    """Draw a document with comments and trailing commas, and its value."""

    def write(value: Any) -> str:
        if isinstance(value, dict):
            parts = [f"{gap()}{json.dumps(key)}{gap()}:{gap()}{write(one)}{gap()}" for key, one in value.items()]
            return f"{{{','.join(parts)}{tail(parts)}}}"
        if isinstance(value, list):
            parts = [f"{gap()}{write(one)}{gap()}" for one in value]
            return f"[{','.join(parts)}{tail(parts)}]"
        return json.dumps(value, ensure_ascii=draw(st.booleans()))

    def gap() -> str:
        return draw(SPACES)

    def tail(parts: list[str]) -> str:
        return ("," if parts and draw(st.booleans()) else "") + gap()

    value = draw(of)
    return gap() + write(value) + gap(), value


@given(documents(VALUES))
def test_a_document_with_comments_has_the_value_that_was_written(drawn: tuple[str, Any]) -> None:
    text, value = drawn
    assert parsed(text) == value


@given(documents(), st.lists(st.text(max_size=6), min_size=1, max_size=3))
def test_a_set_member_is_there_and_everything_else_stays(drawn: tuple[str, Any], path: list[str]) -> None:
    text, value = drawn
    expected = json.loads(json.dumps(value))
    place = expected
    for key in path[:-1]:
        if not isinstance(place.setdefault(key, {}), dict):
            with pytest.raises(ConfigurationError, match="no object"):
                jsonc.set_member(text, path, ENTRY)
            return
        place = place[key]
    is_new = path[-1] not in place
    place[path[-1]] = ENTRY
    edited = jsonc.set_member(text, path, ENTRY)
    assert parsed(edited) == expected
    assert jsonc.set_member(edited, path, ENTRY) == edited
    if is_new:
        rest = iter(edited)
        assert all(letter in rest for letter in text), "text was changed, not only added"
    without = jsonc.remove(edited, path[:-1], path[-1])
    del place[path[-1]]
    assert parsed(without) == expected


@given(documents(st.dictionaries(st.text(max_size=6), VALUES, min_size=1, max_size=4)), st.text(max_size=6))
def test_a_member_added_beside_others_and_removed_again_leaves_the_former_bytes(
    drawn: tuple[str, Any], key: str
) -> None:
    text, value = drawn
    if key not in value:
        assert jsonc.remove(jsonc.set_member(text, [key], ENTRY), [], key) == text


@given(documents(st.fixed_dictionaries({"a": st.lists(VALUES, min_size=1, max_size=4)})))
def test_an_element_added_beside_others_and_removed_again_leaves_the_former_bytes(drawn: tuple[str, Any]) -> None:
    text, value = drawn
    edited = jsonc.append(text, ["a"], ENTRY)
    assert parsed(edited) == {"a": [*value["a"], ENTRY]}
    assert jsonc.remove(edited, ["a"], len(value["a"])) == text


@given(documents(st.fixed_dictionaries({"a": st.lists(VALUES, min_size=1, max_size=4)})), st.integers(0, 3))
def test_any_element_can_be_removed(drawn: tuple[str, Any], index: int) -> None:
    text, value = drawn
    index %= len(value["a"])
    assert parsed(jsonc.remove(text, ["a"], index)) == {
        "a": [one for place, one in enumerate(value["a"]) if place != index]
    }


def test_a_new_member_is_laid_out_like_its_neighbours() -> None:
    tabs = '{\n\t// first\n\t"a": {\n\t\t"b": 1\n\t} // last\n}\n'
    assert jsonc.set_member(tabs, ["c"], {"d": [1]}) == (
        '{\n\t// first\n\t"a": {\n\t\t"b": 1\n\t}, // last\n\t"c": {\n\t\t"d": [\n\t\t\t1\n\t\t]\n\t}\n}\n'
    )
    assert jsonc.set_member('{"a": 1}', ["c"], {"d": [1]}) == '{"a": 1, "c": {"d": [1]}}'
    assert jsonc.set_member("{}\r\n", ["c"], 1) == '{\n  "c": 1\n}\r\n'.replace("\n", "\r\n").replace("\r\r", "\r")


def test_an_empty_file_becomes_a_document() -> None:
    assert jsonc.set_member("\ufeff \n", ["a", "b"], 1) == '\ufeff{\n  "a": {\n    "b": 1\n  }\n}\n'


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('{\n  "a": 1,\n  "b": \n', 4),
        ('{\n  "a": 1\n  "b": 2\n}', 3),
        ('{"a": [1, 2}', 1),
        ('{\n"a": "half', 2),
        ("{} {}", 1),
        ("{,}", 1),
        ("/* open", 1),
        ("\n\nmcpServers", 3),
        ("[" * 100_000, None),
    ],
)
def test_a_broken_document_is_refused_with_its_line(text: str, line: int | None) -> None:
    with pytest.raises(ConfigurationError) as error:
        jsonc.set_member(text, ["a"], 1)
    assert error.value.line == line


@pytest.mark.parametrize("text", ['{\n"a": 1, // x\n}', '{\n"a": 1,\n}'])
def test_a_client_that_reads_no_comments_gets_none(text: str) -> None:
    parsed(text)
    with pytest.raises(ConfigurationError):
        jsonc.refuse_comments(text)
