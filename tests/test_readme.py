"""README tells the truth: its commands run and print what it shows, and what it names exists."""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from actors.api.mcp.prompts import PROMPTS
from actors.api.tools.agent_tools import TOOLS

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PATIENCE = 300.0
MOST_LINES, MOST_COLUMNS = 150, 100
COUNTS = "none one two three four five six seven eight nine ten eleven twelve".split()

DEMO = """
A server starts
9 memories stored
Why did the payments fail?
Ben: A retry loop in billing-worker v2.3.1 never gave its connection back, that was the cause.
def refresh_if_due(token: Token, now: datetime) -> Token:
Done: 1 merged, 1 pruned.
2 memories are back as before the light run
the present state follows from the log
""".strip().splitlines()
"""Lines of the demo's proof: found after a restart, merged, pruned and undone, erased, replayed."""


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, flags=re.MULTILINE | re.DOTALL)


def commands_with_output() -> Iterator[tuple[str, list[str]]]:
    """Yield each command of the console block with the lines shown below it."""
    (session,) = blocks("console")
    for part in re.split(r"^\$ ", session, flags=re.MULTILINE)[1:]:
        command, *output = part.splitlines()
        yield command, output


def words(line: str) -> str:
    """A line without ids, numbers and times, which differ from run to run."""
    return re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}|[\d.,:–-]+", " ", line).strip()


def test_the_readme_fits_on_a_screen_and_a_half() -> None:
    lines = README.splitlines()
    assert len(lines) <= MOST_LINES
    assert [line for line in lines if len(line) > MOST_COLUMNS] == []


def test_the_two_commands_are_there_and_can_be_run() -> None:
    (commands,) = blocks("sh")
    scripts = [line.split()[0] for line in commands.splitlines()]
    assert scripts == ["scripts/demo", "scripts/test"]
    assert all(os.access(ROOT / script, os.X_OK) for script in scripts)


def test_the_demo_proves_what_the_readme_says_of_it() -> None:
    done = subprocess.run([ROOT / "scripts" / "demo"], capture_output=True, text=True, timeout=PATIENCE, check=True)
    assert [line for line in DEMO if line not in done.stdout] == []


def test_the_client_configuration_names_a_command_that_exists() -> None:
    (configuration,) = blocks("json")
    server = json.loads(configuration)["mcpServers"]["context-graph"]
    command = Path(sys.executable).parent / Path(server["command"]).name
    assert command.exists()
    assert server["args"] == ["serve"]


def test_the_commands_print_what_the_readme_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTEXT_GRAPH_DATA", str(tmp_path))
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    for command, shown in commands_with_output():
        done = subprocess.run(shlex.split(command), capture_output=True, text=True, timeout=PATIENCE, check=True)
        printed = [words(line) for line in done.stdout.splitlines()]
        assert shown
        assert words(shown[0]) in printed


def test_every_file_that_the_readme_names_exists() -> None:
    named = set(re.findall(r"`((?:scripts|tests|actors|events|projections)/[\w/.]+|\w+\.md)", README))
    assert named
    assert {name for name in named if not (ROOT / name).exists()} == set()


def test_it_counts_the_tools_and_prompts() -> None:
    listed = [tool for tool in TOOLS if tool.listed]
    (found,) = re.findall(r"There are (\d+) in all, and (\w+) prompts; `serve --tools core` shows (\w+)\.", README)
    assert found == (str(len(listed)), COUNTS[len(PROMPTS)], COUNTS[sum(tool.core for tool in listed)])
