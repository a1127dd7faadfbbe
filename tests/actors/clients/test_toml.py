"""Edits of TOML: one table changes, comments and everything else stay."""

import tomllib

import pytest

from actors.clients import toml
from actors.clients.files import ConfigurationError

ENTRY = {"command": "/usr/bin/x", "args": ["serve"]}
PATH = ("mcp_servers", "context-graph")
TEXTS = [
    "",
    '# mine\nmodel = "a"  # kept\n',
    '[mcp_servers.other]\ncommand = "x"\n\n[profiles.a]\nmodel = "b"\n',
    '[mcp_servers]\n\n[mcp_servers.other]\ncommand = "x" # y\nenv = { A = "1" }\n',
    '[a]\nb = 1\n\n[mcp_servers.one]\ncommand = "x"\n\n[c]\nd = 2\n\n[mcp_servers.two]\ncommand = "y"\n',
    'mcp_servers.one.command = "x"\n',
    'mcp_servers = { one = { command = "x" } }\n',
    '[mcp_servers.one]\r\ncommand = "x"\r\n',
]


@pytest.mark.parametrize("text", TEXTS)
def test_a_set_table_is_there_and_everything_else_stays(text: str) -> None:
    edited = toml.set_member(text, PATH, ENTRY)
    expected = tomllib.loads(text)
    expected.setdefault("mcp_servers", {})["context-graph"] = ENTRY
    assert tomllib.loads(edited) == expected
    assert toml.set_member(edited, PATH, ENTRY) == edited
    kept = [line for line in text.splitlines() if "{ one" not in line]
    assert [line for line in kept if line not in edited.splitlines()] == []
    without = tomllib.loads(toml.remove(edited, PATH[:-1], PATH[-1]))
    assert without == tomllib.loads(text) or without == tomllib.loads(text) | {"mcp_servers": {}}


def test_a_byte_order_mark_stays() -> None:
    edited = toml.set_member("\ufeff" + TEXTS[2], PATH, ENTRY)
    assert edited == "\ufeff" + toml.set_member(TEXTS[2], PATH, ENTRY)
    assert toml.remove(edited, PATH[:-1], PATH[-1]) == "\ufeff" + TEXTS[2]


def test_another_entry_replaces_the_present_one() -> None:
    edited = toml.set_member(toml.set_member(TEXTS[2], PATH, ENTRY), PATH, ENTRY | {"args": ["serve", "--x"]})
    assert tomllib.loads(edited)["mcp_servers"]["context-graph"]["args"] == ["serve", "--x"]


@pytest.mark.parametrize(("text", "line"), [('a = 1\nb = "half\n', 2), ("mcp_servers = 5\n", None), ("[a", 1)])
def test_a_broken_document_is_refused_with_its_line(text: str, line: int | None) -> None:
    with pytest.raises(ConfigurationError) as error:
        toml.set_member(text, PATH, ENTRY)
    assert error.value.line == line
