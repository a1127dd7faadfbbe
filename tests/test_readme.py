"""README tells the truth: its commands run, and the demo prints what it shows."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
PATIENCE = 300.0


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, flags=re.MULTILINE | re.DOTALL)


def words(line: str) -> str:
    """A line without what differs from run to run or processor to processor: numbers, times, order of close scores."""
    return "" if line.startswith("    found by") else re.sub(r"[\s\d.,+:–-]+", " ", line).strip()


def test_the_two_commands_are_there_and_can_be_run() -> None:
    (commands,) = blocks("sh")
    scripts = [line.split()[0] for line in commands.splitlines()]
    assert scripts == ["scripts/demo", "scripts/test"]
    assert all(os.access(ROOT / script, os.X_OK) for script in scripts)


def test_the_demo_prints_what_the_readme_shows() -> None:
    done = subprocess.run([ROOT / "scripts" / "demo"], capture_output=True, text=True, timeout=PATIENCE, check=True)
    printed = {words(line) for line in done.stdout.splitlines()}
    (shown,) = (block for block in blocks("text") if "A server starts" in block)
    assert [line for line in shown.splitlines() if line != "…" and words(line) not in printed] == []


def test_the_client_configuration_names_a_command_that_exists() -> None:
    (configuration,) = blocks("json")
    server = json.loads(configuration)["mcpServers"]["context-graph"]
    command = Path(sys.executable).parent / Path(server["command"]).name
    assert command.exists()
    assert server["args"] == ["serve"]


def test_the_command_lines_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTEXT_GRAPH_DATA", str(tmp_path))
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    (session,) = blocks("console")
    outputs = [
        subprocess.run(
            shlex.split(line.removeprefix("$ ")), capture_output=True, text=True, timeout=PATIENCE, check=True
        ).stdout
        for line in session.splitlines()
    ]
    assert "1. Mara's dog is called Bo" in outputs[2]
    assert "2 memories" in outputs[3]
    assert json.loads(outputs[4])["results"]


def test_every_script_and_file_that_the_readme_names_exists() -> None:
    named = set(re.findall(r"`((?:scripts|tests|actors|events|projections)/[\w/.]+)", README))
    assert {name for name in named if not (ROOT / name).exists()} == set()
