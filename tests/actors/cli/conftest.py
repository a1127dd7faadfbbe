"""Commands in the process of the tests: their options, answers, errors and exit status, without a start for each."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from actors.cli.commands import program
from actors.embedder.profiles.embedded import EmbeddedProfile
from tests.actors.conftest import loaded


@pytest.fixture(autouse=True)
def _loaded(profile: EmbeddedProfile, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let commands that open a store use the models that are loaded already."""

    monkeypatch.setattr("actors.hub.composition.load_profile", loaded(profile))


def run(data: Path, *arguments: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(program, [arguments[0], "--data", str(data), *arguments[1:]], input=stdin)


def run_json(data: Path, *arguments: str, stdin: str | None = None) -> Any:
    done = run(data, *arguments, "--json", stdin=stdin)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)
