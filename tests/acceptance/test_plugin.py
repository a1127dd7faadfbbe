"""The repository is a plugin of Claude Code: its manifests have the published form, its skills speak of real tools."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from actors.api.tools.agent_tools import BY_NAME
from tests.acceptance.conftest import COMMAND

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / ".claude-plugin"
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
        "hooks": INSIDE,
        "mcpServers": {"type": "object", "additionalProperties": SERVER},
    },
    "required": ["name"],
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
    return json.loads((PLUGIN / name).read_text(encoding="utf-8"))


def skill(name: str) -> tuple[dict[str, Any], str]:
    """Return a skill's front matter and its text."""
    _, front, text = SKILLS[name].read_text(encoding="utf-8").split("---\n", 2)
    return yaml.safe_load(front), text


@pytest.mark.parametrize(
    ("name", "schema"), [("plugin.json", MANIFEST), ("marketplace.json", MARKETPLACE), ("hooks.json", HOOKS)]
)
def test_a_manifest_has_the_published_form(name: str, schema: dict[str, Any]) -> None:
    jsonschema.Draft202012Validator(schema).validate(read(name))


def test_the_plugin_is_the_version_that_is_installed_and_everything_it_points_to_is_there() -> None:
    manifest = read("plugin.json")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert (manifest["name"], manifest["version"]) == (project["name"], project["version"])
    assert manifest["license"] == project["license"]
    assert (ROOT / manifest["skills"]).is_dir()
    assert (ROOT / manifest["hooks"]).is_file()
    server = manifest["mcpServers"]["context-graph"]
    assert (server["command"], server["args"]) == (Path(COMMAND).name, ["serve"])
    assert Path(COMMAND).exists()


def test_the_marketplace_offers_the_plugin_at_its_own_root() -> None:
    (offered,) = read("marketplace.json")["plugins"]
    assert offered["name"] == read("plugin.json")["name"]
    assert (ROOT / offered["source"] / ".claude-plugin" / "plugin.json").is_file()


def test_the_hooks_have_the_time_limits_of_the_specification_and_call_the_installed_command() -> None:
    handlers = {event: group["hooks"][0] for event, (group,) in read("hooks.json")["hooks"].items()}
    limits = {"SessionStart": 5, "UserPromptSubmit": 2, "PostToolUse": 5, "SessionEnd": 60}
    assert {event: handler["timeout"] for event, handler in handlers.items()} == limits
    for event, handler in handlers.items():
        name = re.sub(r"(?<=[a-z])(?=[A-Z])", "-", event).lower()
        assert f"context-graph hook {name} ||" in handler["command"]
    assert read("hooks.json")["hooks"]["PostToolUse"][0]["matcher"] == "Edit|Write|Bash"


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
    assert front == {
        "name": "consolidate",
        "description": "Memory consolidation with Light/Deep/REM modes for dreaming and pruning",
        "allowed-tools": ["mcp__context-graph__consolidate_memories"],
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
def test_a_skill_names_no_tool_that_the_server_does_not_have(name: str) -> None:
    front, text = skill(name)
    spelled = re.compile(r"mcp__(?:plugin_context-graph_)?context-graph__(\w+)")
    allowed = [found[1] for tool in front["allowed-tools"] if (found := spelled.fullmatch(tool))]
    assert len(allowed) == len(front["allowed-tools"])
    assert set(allowed) <= set(BY_NAME)
    verbs = "search|store|inject|memory|get|discover|trigger|consolidate|undo|list"
    named = set(re.findall(rf"`((?:{verbs})_\w+)`", text))
    assert named
    assert named <= set(BY_NAME)


@pytest.mark.parametrize("name", sorted(set(SKILLS) - {"consolidate"}))
def test_a_skill_allows_its_tools_however_the_server_was_installed(name: str) -> None:
    allowed = set(skill(name)[0]["allowed-tools"])
    plain = {tool for tool in allowed if tool.startswith("mcp__context-graph__")}
    assert allowed - plain == {tool.replace("mcp__", "mcp__plugin_context-graph_", 1) for tool in plain}
