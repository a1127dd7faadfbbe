"""`--help` is whole at 80 columns: no name is cut, and no sentence. The views that commands name exist."""

import ast
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from actors.cli import commands as package
from actors.cli.commands import program
from events.wording import COMMANDS as ON_A_STORE

COLUMNS = 80
REGISTERING = {"operation_command", "folder_command"}


def commands(of: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield a command and those in it, each with the words that call it."""
    yield path, of
    for name, one in getattr(of, "commands", {}).items():
        yield from commands(one, (*path, name))


COMMANDS = dict(commands(get_command(program)))


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_help_names_all_that_can_be_given_and_cuts_nothing(path: tuple[str, ...]) -> None:
    done = CliRunner(env={"COLUMNS": str(COLUMNS)}).invoke(program, [*path, "--help"])
    assert done.exit_code == 0
    assert max(map(len, done.output.splitlines())) <= COLUMNS
    words = {word.strip("[](),;.:") for word in done.output.split()}
    for one in (one for one in COMMANDS[path].params if not one.hidden):
        variables = [one.envvar] if isinstance(one.envvar, str) else one.envvar or []
        given = [*one.opts, *one.secondary_opts] if one.param_type_name == "option" else []
        assert {*variables, *(option for option in given if option.strip())} <= words, one.name
    assert not re.search(r"<(list|str|int|float|path|\w+Id)\b", done.output, re.IGNORECASE)  # types of Python
    told = " ".join(done.output.split())
    for inner in getattr(COMMANDS[path], "commands", {}).values():
        if not inner.hidden:
            assert " ".join(inner.help.partition("\n\n")[0].split()) in told


def views() -> Iterator[str]:
    """Yield the views that commands name, as `module.function`."""
    for file in Path(str(package.__file__)).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in REGISTERING:
                given = [one.value for one in node.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
                yield from (one for one in given if re.fullmatch(r"\w+\.\w+", one))


@pytest.mark.parametrize("view", sorted({*views()}))
def test_a_view_that_a_command_names_exists(view: str) -> None:
    module, _, function = view.partition(".")
    assert callable(getattr(import_module(f"actors.cli.views.{module}"), function))


def test_advice_names_the_folder_for_each_command_on_a_store() -> None:
    on_a_store = {path[0] for path, one in COMMANDS.items() if path and "data" in {each.name for each in one.params}}
    assert on_a_store - {"install", "serve", "hub", "hook"} == {*ON_A_STORE}
