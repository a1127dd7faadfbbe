"""The repository is a plugin of Claude Code: its manifests have the published form, its skills speak of real tools."""

import json
import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from actors.api.tools.agent_tools import BY_NAME
from actors.clients.launch import HOOKS as CLIENT_HOOKS
from actors.clients.launch import group

ROOT = Path(__file__).parents[2]
MANIFEST_FILE, MARKETPLACE_FILE, HOOKS_FILE = (
    ".claude-plugin/plugin.json",
    ".claude-plugin/marketplace.json",
    "hooks/hooks.json",
)
SKILLS = {path.parent.name: path for path in (ROOT / ".claude" / "skills").glob("*/SKILL.md")}

# What the references of Claude Code say, as far as it concerns us: code.claude.com/docs/en/plugins-reference
# (manifest), /plugin-marketplaces, /hooks (configuration) and /skills (front matter), as of October 2026.
NAME = {"type": "string", "pattern": "^[a-z0-9]+(-[a-z0-9]+)*$"}
INSIDE = {"type": "string", "pattern": r"^\./(?!.*\.\.)"}
PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string", "minLength": 1}, "email": {"type": "string"}, "url": {"type": "string"}},
    "required": ["name"],
    "additionalProperties": False,
}
SERVER = {
    "type": "object",
    "properties": {
        "type": {"const": "stdio"},
        "command": {"type": "string", "minLength": 1},
        "args": {"type": "array", "items": {"type": "string"}},
        "env": {"type": "object", "additionalProperties": {"type": "string"}},
    },
    "required": ["command"],
    "additionalProperties": False,
}
MANIFEST = {
    "type": "object",
    "properties": {
        "$schema": {"type": "string"},
        "name": NAME,
        "version": {"type": "string", "pattern": r"^\d+\.\d+\.\d+$"},
        "description": {"type": "string", "minLength": 1},
        "author": PERSON,
        "homepage": {"type": "string"},
        "repository": {"type": "string"},
        "license": {"type": "string"},
        "keywords": {"type": "array", "items": {"type": "string"}},
        "skills": {"anyOf": [INSIDE, {"type": "array", "items": INSIDE}]},
    },
    "required": ["name"],
    "additionalProperties": False,
}
SERVERS = {
    "type": "object",
    "properties": {"mcpServers": {"type": "object", "minProperties": 1, "additionalProperties": SERVER}},
    "required": ["mcpServers"],
    "additionalProperties": False,
}
MARKETPLACE = {
    "type": "object",
    "properties": {
        "$schema": {"type": "string"},
        "name": NAME,
        "description": {"type": "string"},
        "owner": PERSON,
        "plugins": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "properties": {"name": NAME, "source": INSIDE, "description": {"type": "string"}},
                "required": ["name", "source"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["name", "owner", "plugins"],
    "additionalProperties": False,
}
HANDLER = {
    "type": "object",
    "properties": {
        "type": {"const": "command"},
        "command": {"type": "string", "minLength": 1},
        "timeout": {"type": "number", "exclusiveMinimum": 0},
        "async": {"type": "boolean"},
    },
    "required": ["type", "command"],
    "additionalProperties": False,
}
GROUPS = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"matcher": {"type": "string"}, "hooks": {"type": "array", "minItems": 1, "items": HANDLER}},
        "required": ["hooks"],
        "additionalProperties": False,
    },
}
HOOKS = {
    "type": "object",
    "properties": {
        "description": {"type": "string"},
        "hooks": {
            "type": "object",
            "properties": dict.fromkeys(
                ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PreCompact", "Stop", "SessionEnd"),
                GROUPS,
            ),
            "additionalProperties": False,
        },
    },
    "required": ["hooks"],
    "additionalProperties": False,
}
SKILL = {
    "type": "object",
    "properties": {
        "name": NAME | {"maxLength": 64},
        "description": {"type": "string", "minLength": 1, "maxLength": 1024},
        "allowed-tools": {"type": "array", "minItems": 1, "items": {"type": "string", "pattern": "^mcp__"}},
        "model": {"enum": ["haiku", "sonnet", "opus", "inherit"]},
    },
    "required": ["name", "description"],
    "additionalProperties": False,
}


def read(name: str) -> Any:
    return json.loads((ROOT / name).read_text(encoding="utf-8"))


def skill(name: str) -> tuple[dict[str, Any], str]:
    """Return a skill's front matter and its text."""
    _, front, text = SKILLS[name].read_text(encoding="utf-8").split("---\n", 2)
    return yaml.safe_load(front), text


@pytest.mark.parametrize(
    ("name", "schema"),
    [(MANIFEST_FILE, MANIFEST), (MARKETPLACE_FILE, MARKETPLACE), (HOOKS_FILE, HOOKS), (".mcp.json", SERVERS)],
)
def test_a_manifest_has_the_published_form(name: str, schema: dict[str, Any]) -> None:
    jsonschema.Draft202012Validator(schema).validate(read(name))


def test_the_plugin_is_the_version_that_is_installed_and_everything_it_points_to_is_there() -> None:
    manifest = read(MANIFEST_FILE)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert (manifest["name"], manifest["version"]) == (project["name"], project["version"])
    assert manifest["license"] == project["license"]
    assert {path.parent.name for path in (ROOT / manifest["skills"]).glob("*/SKILL.md")} == set(SKILLS)
    server = read(".mcp.json")["mcpServers"]["context-graph"]
    assert (server["command"], server["args"]) == ("sh", ["${CLAUDE_PLUGIN_ROOT}/hooks/launch", "serve"])
    assert os.access(ROOT / "hooks" / "launch", os.X_OK)
    assert [path.name for path in (ROOT / ".claude-plugin").iterdir() if "hooks" in path.name] == []


def test_the_marketplace_offers_the_plugin_at_its_own_root() -> None:
    (offered,) = read(MARKETPLACE_FILE)["plugins"]
    assert offered["name"] == read(MANIFEST_FILE)["name"]
    assert (ROOT / offered["source"] / MANIFEST_FILE).is_file()


def test_the_hooks_are_those_that_install_writes_but_for_the_launcher() -> None:
    launcher = 'sh "${CLAUDE_PLUGIN_ROOT}/hooks/launch"'
    assert read(HOOKS_FILE)["hooks"] == {event: [group(event, launcher)] for event in CLIENT_HOOKS}


def test_the_hooks_have_the_time_limits_of_the_specification_and_run_at_the_documented_events() -> None:
    groups = {event: one for event, (one,) in read(HOOKS_FILE)["hooks"].items()}
    limits = {"SessionStart": 5, "UserPromptSubmit": 2, "PostToolUse": 5, "SessionEnd": 60}
    assert {event: one["hooks"][0]["timeout"] for event, one in groups.items()} == limits
    for event, one in groups.items():
        name = re.sub(r"(?<=[a-z])(?=[A-Z])", "-", event).lower()
        assert f"hook {name} || exit 0" in one["hooks"][0]["command"]
    assert groups["PostToolUse"]["matcher"] == "Edit|Write|Bash"
    assert set(groups["SessionStart"]["matcher"].split("|")) == {"startup", "resume", "clear", "compact", "fork"}


def launched(root: Path, home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a plugin's launcher where context-graph is not on PATH."""
    return subprocess.run(
        ["/bin/sh", str(root / "hooks" / "launch"), *arguments],
        env={"PATH": "/usr/bin:/bin", "HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_the_launcher_finds_a_program_that_is_not_on_the_path(tmp_path: Path) -> None:
    program = tmp_path / ".local" / "bin" / "context-graph"
    program.parent.mkdir(parents=True)
    program.write_text('#!/bin/sh\necho "ran $*"\n')
    program.chmod(0o755)
    copied = shutil.copytree(ROOT / "hooks", tmp_path / "plug in" / "hooks").parent
    assert launched(copied, tmp_path, "serve", "--data", "a b").stdout == "ran serve --data a b\n"


def test_without_a_program_the_launcher_says_once_how_to_install_it_and_serve_fails(tmp_path: Path) -> None:
    copied = shutil.copytree(ROOT / "hooks", tmp_path / 'plug "in"' / "hooks").parent
    first, second = (launched(copied, tmp_path, "hook", "session-start") for _ in range(2))
    assert f"uv tool install '{copied}'" in json.loads(first.stdout)["systemMessage"]
    assert (first.returncode, second.returncode, second.stdout, second.stderr) == (0, 0, "", "")
    assert launched(copied, tmp_path, "hook", "user-prompt-submit").stdout == ""
    served = launched(copied, tmp_path, "serve")
    assert (served.returncode, served.stdout) == (1, "")
    assert "uv tool install" in served.stderr


@pytest.mark.requirement("INTEG-013/skills/four")
def test_there_are_the_four_skills_each_with_front_matter_of_the_published_form() -> None:
    models = {}
    for name in SKILLS:
        front, text = skill(name)
        jsonschema.Draft202012Validator(SKILL).validate(front)
        assert front["name"] == name
        assert text.strip().startswith("# ")
        models[name] = front["model"]
    assert models == {
        "consolidate": "sonnet",
        "memory-inject": "haiku",
        "semantic-search": "sonnet",
        "goal-discovery": "opus",
    }


@pytest.mark.requirement("INTEG-013/skills/consolidate-front")
def test_the_consolidate_skill_has_the_front_matter_of_the_specification() -> None:
    front, _ = skill("consolidate")
    allowed = front.pop("allowed-tools")
    assert allowed[0] == "mcp__context-graph__consolidate_memories"
    assert front == {
        "name": "consolidate",
        "description": "Memory consolidation with Light/Deep/REM modes for dreaming and pruning",
        "model": "sonnet",
    }


@pytest.mark.requirement("INTEG-013/skills/consolidate-process")
def test_the_consolidate_skill_runs_dry_first_and_minds_the_rate_limit() -> None:
    _, text = skill("consolidate")
    steps = [text.index(step) for step in ("1. Assess", "2. Choose the mode", "3. Review", "4. Run")]
    assert steps == sorted(steps)
    assert text.index("`dry_run: true`") < text.index("`dry_run: false`")
    for needed in ("## When to use", "| light |", "| deep |", "| rem |", "One call a minute", "retry_after_ms", "undo"):
        assert needed in text


@pytest.mark.parametrize("name", sorted(SKILLS))
def test_a_skill_allows_the_tools_that_it_names_and_the_server_has_them(name: str) -> None:
    front, text = skill(name)
    spelled = re.compile(r"mcp__(?:plugin_context-graph_)?context-graph__(\w+)")
    allowed = [found[1] for tool in front["allowed-tools"] if (found := spelled.fullmatch(tool))]
    assert len(allowed) == len(front["allowed-tools"])
    assert set(allowed) <= set(BY_NAME)
    verbs = "search|store|inject|memory|get|discover|trigger|consolidate|undo|list"
    named = set(re.findall(rf"`((?:{verbs})_\w+)`", text))
    assert named
    assert named <= set(allowed)


@pytest.mark.parametrize("name", sorted(SKILLS))
def test_a_skill_allows_its_tools_however_the_server_was_installed(name: str) -> None:
    allowed = set(skill(name)[0]["allowed-tools"])
    plain = {tool for tool in allowed if tool.startswith("mcp__context-graph__")}
    assert allowed - plain == {tool.replace("mcp__", "mcp__plugin_context-graph_", 1) for tool in plain}
