"""`--help` is whole at 80 columns: no name is cut, and no sentence."""

from collections.abc import Iterator
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from actors.cli.commands import program

COLUMNS = 80


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
    told = " ".join(done.output.split())
    for inner in getattr(COMMANDS[path], "commands", {}).values():
        if not inner.hidden:
            assert " ".join(inner.help.partition("\n\n")[0].split()) in told
