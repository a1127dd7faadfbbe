"""The command that a client's configuration starts."""

import sys
from pathlib import Path

import pytest

from actors.clients.files import ConfigurationError
from actors.clients.launch import (
    Launch,
    expanded,
    expanded_environment,
    own_launch,
    parse_launch,
    read_entry,
    read_environment,
)
from actors.clients.table import Shape


@pytest.mark.parametrize("shape", Shape)
def test_an_entry_is_read_back_as_the_launch_that_it_was_made_from(shape: Shape) -> None:
    launch = Launch(("/usr/bin/python3", "-P", "-m", "actors"), ("--data", "/srv/a b"))
    words = read_entry(launch.entry(shape))
    assert words == ["/usr/bin/python3", "-P", "-m", "actors", "serve", "--data", "/srv/a b"]
    assert parse_launch(words) == launch


@pytest.mark.parametrize("entry", [None, 5, {}, {"command": ""}, {"command": []}, {"url": "x"}, {"args": ["serve"]}])
def test_an_entry_without_a_command_starts_nothing(entry: object) -> None:
    words = read_entry(entry)
    assert words is None or parse_launch(words) is None


@pytest.mark.parametrize(
    ("entry", "variables"),
    [
        (
            {"command": "x", "env": {"CONTEXT_GRAPH_DATA": "/srv/a", "LEVEL": 3}},
            {"CONTEXT_GRAPH_DATA": "/srv/a", "LEVEL": "3"},
        ),
        ({"type": "local", "command": ["x"], "environment": {"A": "b"}}, {"A": "b"}),
        ({"command": "x", "env": ["A=b"]}, {}),
        (None, {}),
    ],
)
def test_the_variables_of_an_entry_are_read_as_each_client_names_them(entry: object, variables: dict[str, str]) -> None:
    assert read_environment(entry) == variables


@pytest.mark.parametrize("place", [".cache/uv/archive-v0/x1/bin/python", ".local/share/pipx/.cache/x1/bin/python"])
def test_a_temporary_environment_is_refused(place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / place))
    with pytest.raises(ConfigurationError, match="uv tool install"):
        own_launch()


def test_without_its_script_the_module_is_run_by_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    assert own_launch().serve == [str(tmp_path / "python"), "-P", "-m", "actors", "serve"]


def test_variables_of_an_entry_may_refer_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHELF", "/srv")
    monkeypatch.delenv("NOWHERE", raising=False)
    written = {
        "A": "/opt:${SHELF}",
        "B": "${env:SHELF}/b",
        "C": "${NOWHERE:-/c}",
        "D": "$SHELF",
        "E": "${NOWHERE}",
        "F": "${input:key}",
    }
    assert expanded_environment(written) == {"A": "/opt:/srv", "B": "/srv/b", "C": "/c", "D": "$SHELF"}


def test_opencode_refers_to_variables_and_files_in_its_own_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHELF", "/srv")
    monkeypatch.delenv("NOWHERE", raising=False)
    written = {"A": "{env:SHELF}/a", "B": "x{env:NOWHERE}", "C": "{file:~/key}", "D": "${env:NOWHERE}"}
    assert expanded_environment(written) == {"A": "/srv/a", "B": "x"}
    assert expanded("{env:SHELF}/bin/${SHELF}") == "/srv/bin//srv"
