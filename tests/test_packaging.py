"""What is published beside the wheel agrees with the project: registry entry, MCP bundle, container image."""

import json
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import jsonschema

from actors.proxy.serve_command import OPTIONS
from events.recovery.safety_copy import backups_folder

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
TEXT = {"type": "string", "minLength": 1}

# As far as it concerns us: static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json
SERVER = {
    "type": "object",
    "properties": {
        "$schema": {"const": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"},
        "name": {"type": "string", "pattern": "^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$", "minLength": 3, "maxLength": 200},
        "title": TEXT | {"maxLength": 100},
        "description": TEXT | {"maxLength": 100},
        "version": TEXT | {"maxLength": 255},
        "packages": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "properties": {
                    "registryType": {"const": "pypi"},
                    "identifier": TEXT,
                    "version": TEXT,
                    "runtimeHint": {"const": "uvx"},
                    "transport": {"const": {"type": "stdio"}},
                    "packageArguments": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "properties": {"type": {"const": "positional"}, "value": TEXT},
                            "required": ["type", "value"],
                            "additionalProperties": False,
                        },
                    },
                    "environmentVariables": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "properties": {
                                "name": {"type": "string", "pattern": "^CONTEXT_GRAPH_[A-Z_]+$"},
                                "description": TEXT,
                                "format": {"enum": ["string", "number", "boolean", "filepath"]},
                                "isSecret": {"type": "boolean"},
                            },
                            "required": ["name", "description"],
                            "additionalProperties": False,
                        },
                    },
                },
                "required": ["registryType", "identifier", "version", "transport"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["$schema", "name", "description", "version", "packages"],
    "additionalProperties": False,
}


def test_the_registry_entry_has_the_published_form_and_is_of_this_version() -> None:
    server = json.loads((ROOT / "server.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(SERVER).validate(server)
    (package,) = server["packages"]
    assert {server["version"], package["version"]} == {PROJECT["version"]}
    assert package["identifier"] == PROJECT["name"]
    # The registry looks for this name in the published README, to see that both have one owner.
    assert f"mcp-name: {server['name']}" in (ROOT / PROJECT["readme"]).read_text(encoding="utf-8")


def test_the_registry_entry_names_variables_that_the_program_reads() -> None:
    server = json.loads((ROOT / "server.json").read_text(encoding="utf-8"))
    code = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "actors").rglob("*.py"))
    named = [one["name"] for one in server["packages"][0]["environmentVariables"]]
    options = {option.variable for option in OPTIONS}
    assert [name for name in named if name not in options and f'"{name}"' not in code] == []


def test_the_bundle_holds_what_its_manifest_starts(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "scripts" / "bundle.py"), str(tmp_path)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    with zipfile.ZipFile(printed) as archive:
        names = set(archive.namelist())
        manifest = json.loads(archive.read("manifest.json"))
    assert Path(printed).name == f"context-graph-{PROJECT['version']}.mcpb"
    assert {"pyproject.toml", "LICENSE", "README.md", manifest["server"]["entry_point"]} <= names
    assert {str(path.relative_to(ROOT)) for path in (ROOT / "actors" / "clients").glob("skills/*/*.md")} <= names
    assert (manifest["name"], manifest["version"]) == (PROJECT["name"], PROJECT["version"])
    assert manifest["server"]["type"] == "uv"
    options = manifest["server"]["mcp_config"]["args"]
    assert options[-2:] == [next(iter(PROJECT["scripts"])), "serve"]
    assert "--no-dev" in options, "uv would install the tools of developers too"


def test_the_image_runs_the_server_as_no_root_with_a_health_check_and_without_the_build_stage() -> None:
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    _build, final = re.split(r"^FROM .*$", text, flags=re.MULTILINE)[1:]
    orders = dict(line.split(" ", 1) for line in final.strip().splitlines())
    assert orders["USER"].isdecimal()
    assert int(orders["USER"]) > 0
    assert "CMD" in orders["HEALTHCHECK"]
    assert json.loads(orders["ENTRYPOINT"])[:2] == ["context-graph", "serve"]
    assert "pip" not in final
    data = re.search(r"CONTEXT_GRAPH_DATA=(\S+)", orders["ENV"])
    assert data is not None
    # The copies that upgrades and sleep make stand beside the folder, so they need the volume too.
    assert backups_folder(Path(data[1])).is_relative_to(orders["VOLUME"])
    linter = Path(sys.executable).with_name("hadolint")
    linted = subprocess.run([linter, ROOT / "Dockerfile"], capture_output=True, text=True, check=False)
    assert (linted.returncode, linted.stdout) == (0, "")
    copied = re.findall(r"^COPY (?!--from)(.*) \S+$", text, re.MULTILINE)
    assert [word for line in copied for word in line.split() if not (ROOT / word).exists()] == []
