"""The short way to a pipe reads the command line as the long one does, or leaves it alone."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from actors.proxy.endpoint import ServeOptions
from actors.proxy.serve_command import data_folder, parse_plain
from actors.runtime.settings import ModelProfile, ToolSet

HEAVY = ("mcp", "anyio", "numpy", "duckdb", "pydantic", "typer", "torch", "openvino")


def test_what_is_given_counts_more_than_what_the_environment_says() -> None:
    told = {"CONTEXT_GRAPH_DATA": "theirs", "CONTEXT_GRAPH_LIMITS": "a=1 b=2", "CONTEXT_GRAPH_SLEEP": "0"}
    options = ["--data=ours", "--limit", "c=3,d=4", "--priming", "--linger", "2", "--tools", "core"]
    read = parse_plain(["serve", *options], told)
    assert read
    assert (read.folder, read.linger, read.tools) == (Path("ours"), 2, ToolSet.CORE)
    assert read.options == ServeOptions(limits=("c=3", "d=4"), priming=True, sleep=False)
    other = parse_plain(["serve"], told)
    assert other
    assert (other.folder, other.options) == (Path("theirs"), ServeOptions(limits=("a=1", "b=2"), sleep=False))


def test_a_program_gets_the_folder_that_the_environment_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTEXT_GRAPH_DATA", "theirs")
    assert (data_folder(None), data_folder(Path("ours"))) == (Path("theirs"), Path("ours"))
    monkeypatch.setenv("CONTEXT_GRAPH_DATA", "")
    assert data_folder(None).is_absolute()


def test_a_folder_of_models_is_the_same_wherever_it_is_named_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    read = parse_plain(["serve", "--embedder", "full", "--models", "weights"], {})
    assert read
    assert read.options == ServeOptions(embedder=ModelProfile.FULL, models=str(tmp_path / "weights"))


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["status"],
        ["serve", "--help"],
        ["serve", "--standalone"],
        ["serve", "--linger", "soon"],
        ["serve", "--linger", "-1"],
        ["serve", "--log-level", "loud"],
        ["serve", "--tools", "some"],
        ["serve", "more"],
        ["serve", "--data"],
    ],
)
def test_anything_else_is_left_to_the_command_of_that_name(arguments: list[str]) -> None:
    assert parse_plain(arguments, {}) is None


def test_a_variable_that_is_neither_yes_nor_no_is_left_to_it_too() -> None:
    assert parse_plain(["serve"], {"CONTEXT_GRAPH_SLEEP": "perhaps"}) is None


def test_options_survive_the_way_to_the_hub() -> None:
    options = ServeOptions(embedder=ModelProfile.FULL, models="/m", limits=("a=1",), priming=False, sleep=False)
    read = parse_plain(["serve", *options.arguments()], {})
    assert read
    assert read.options == options


def test_a_pipe_imports_nothing_that_takes_long(tmp_path: Path) -> None:
    code = (
        "import sys; from actors.proxy import serve_command, launcher, proxy, client; "
        "import actors.cli, events.postgres.address; "
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[3])}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
