"""`install` and `uninstall` on the configuration files of MCP clients, in a home folder of their own.

Each file is read back by the rules of its client: plain JSON, TOML, or JSON whose comments and last commas are
stripped here by expressions of its own.
"""

import json
import os
import re
import shlex
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from actors.cli.commands import program
from actors.clients.table import CLIENTS
from tests.acceptance.conftest import COMMAND, PATIENCE

CLAUDE = {
    "numStartups": 7,
    "projects": {"/src/context-graph": {"mcpServers": {}}},
    "mcpServers": {"other": {"url": "x"}},
}
SETTINGS = {"model": "opus", "hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "date"}]}]}}
CODEX = '# mine\nmodel = "a"  # kept\n\n[mcp_servers.other]\ncommand = "x"\n\n[profiles.fast]\nmodel = "b"\n'
ZED = '// Zed\n{\n  "theme": "One", // kept\n  "context_servers": {\n    "other": {"command": "x"},\n  },\n}\n'
OPENCODE_2 = '{\n  "mcp": {"servers": {"other": {"type": "local", "command": ["x"]}}}\n}\n'

FILES = {
    ".claude.json": json.dumps(CLAUDE),
    ".claude/settings.json": json.dumps(SETTINGS, indent=4) + "\n",
    ".codex/config.toml": CODEX,
    ".config/zed/settings.json": ZED,
}
"""What stands in the home folder before."""

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the places are those of Linux")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(text.encode())
    return tmp_path


def run(home: Path, *arguments: str, **variables: str) -> Result:
    surroundings = dict.fromkeys(os.environ) | {
        "HOME": str(home),
        "PATH": "/usr/bin:/bin",
        "CONTEXT_GRAPH_LINGER": "0.2",
        **variables,
    }
    return CliRunner().invoke(program, arguments, env=surroundings)


def done(home: Path, *arguments: str, **variables: str) -> str:
    completed = run(home, *arguments, **variables)
    assert (completed.exit_code, completed.stderr) == (0, "")
    return completed.stdout


def tree(home: Path) -> dict[str, bytes]:
    return {str(path.relative_to(home)): path.read_bytes() for path in home.rglob("*") if path.is_file()}


def strip_comments(text: str) -> str:
    """As VS Code and Zed do; no text of these tests has a comment sign in a string."""
    return re.sub(r",(\s*[}\]])", r"\1", re.sub(r"//[^\n]*", "", text))


def entry(home: Path, client: str) -> tuple[str, list[str]]:
    """Return command and arguments as a client reads them."""
    match client:
        case "claude-code":
            found = json.loads((home / ".claude.json").read_text())["mcpServers"]["context-graph"]
            assert found["type"] == "stdio"
        case "codex":
            found = tomllib.loads((home / ".codex/config.toml").read_text())["mcp_servers"]["context-graph"]
        case "zed":
            found = json.loads(strip_comments((home / ".config/zed/settings.json").read_text()))
            found = found["context_servers"]["context-graph"]
        case "vscode":
            found = json.loads((home / ".config/Code/User/mcp.json").read_text())["servers"]["context-graph"]
            assert found["type"] == "stdio"
        case "opencode":
            found = json.loads((home / ".config/opencode/opencode.json").read_text())["mcp"]["context-graph"]
            assert (found["type"], found.get("enabled", True)) == ("local", True)
            found = {"command": found["command"][0], "args": found["command"][1:]}
        case _:
            places = {
                "claude-desktop": ".config/Claude/claude_desktop_config.json",
                "cursor": ".cursor/mcp.json",
                "gemini": ".gemini/settings.json",
            }
            found = json.loads((home / places[client]).read_text())["mcpServers"]["context-graph"]
    return found["command"], found["args"]


def initialized(home: Path, command: str, arguments: list[str]) -> dict[str, Any]:
    """Start a server as a client does, shake hands and let it end."""
    request = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "client", "version": "1"},
    }
    line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": request}) + "\n"
    completed = subprocess.run(
        [command, *arguments],
        input=line,
        env={"HOME": str(home), "PATH": "/usr/bin:/bin", "CONTEXT_GRAPH_LINGER": "0.2", "OMP_NUM_THREADS": "1"},
        cwd=home,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    return json.loads(completed.stdout.splitlines()[0])["result"]


def test_each_client_reads_the_command_back_and_nothing_else_changed(home: Path, data: Path) -> None:
    named = [word for client in CLIENTS for word in ("--client", client)]
    said = done(home, "install", *named, "--data", str(data))
    for client in CLIENTS:
        assert entry(home, client) == (COMMAND, ["serve", "--data", str(data)])
        assert CLIENTS[client].title in said
    claude = json.loads((home / ".claude.json").read_text())
    assert claude.pop("mcpServers").pop("other") == CLAUDE["mcpServers"]["other"]
    assert claude == {name: value for name, value in CLAUDE.items() if name != "mcpServers"}
    codex = (home / ".codex/config.toml").read_text()
    assert [line for line in CODEX.splitlines() if line not in codex.splitlines()] == []
    zed = (home / ".config/zed/settings.json").read_text()
    assert [line for line in ZED.splitlines() if line not in zed.splitlines()] == []
    hooks = json.loads((home / ".claude/settings.json").read_text())["hooks"]
    assert hooks["SessionStart"][0] == SETTINGS["hooks"]["SessionStart"][0]
    for skills in (home / ".claude/skills", home / ".agents/skills"):
        assert len([*skills.glob("*/SKILL.md")]) == 4
    before = tree(home)
    assert "nothing to change" in done(home, "install", *named, "--data", str(data))
    assert tree(home) == before


def test_the_configured_command_starts_the_server(home: Path, data: Path) -> None:
    done(home, "install", "--client", "codex", "--data", str(data))
    assert initialized(home, *entry(home, "codex"))["serverInfo"]["name"] == "context-graph"


def test_the_configured_hooks_run(home: Path, data: Path) -> None:
    done(home, "install", "--client", "claude-code", "--client", "codex", "--data", str(data))
    for file, event in ((".claude/settings.json", "SessionEnd"), (".codex/hooks.json", "UserPromptSubmit")):
        group = json.loads((home / file).read_text())["hooks"][event][-1]
        (handler,) = group["hooks"]
        completed = subprocess.run(
            ["/bin/sh", "-c", handler["command"]],
            input="{}",
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert (completed.returncode, completed.stdout) == (0, "")
    assert "async" not in (home / ".codex/hooks.json").read_text(), "Codex skips such hooks"


def test_uninstall_gives_every_file_its_former_bytes_back(home: Path) -> None:
    before, folders = tree(home), {path for path in home.rglob("*") if path.is_dir()}
    answer = json.loads(done(home, "install", "--all", "--json"))
    assert [one["client"] for one in answer["clients"]] == ["claude-code", "codex", "zed"], "those that are there"
    assert tree(home) != before
    done(home, "uninstall", "--all")
    assert tree(home) == before
    assert {path for path in home.rglob("*") if path.is_dir()} == folders


def test_uninstall_takes_only_our_entries_from_a_file_that_was_edited_since(home: Path) -> None:
    done(home, "install", "--client", "claude-code", "--client", "codex")
    edited = json.loads((home / ".claude.json").read_text()) | {"numStartups": 8}
    (home / ".claude.json").write_text(json.dumps(edited))
    with (home / ".codex/config.toml").open("a") as file:
        file.write('\n[profiles.new]\nmodel = "c"\n')
    done(home, "uninstall", "--client", "claude-code", "--client", "codex")
    assert json.loads((home / ".claude.json").read_text()) == CLAUDE | {"numStartups": 8}
    codex = tomllib.loads((home / ".codex/config.toml").read_text())
    assert codex == tomllib.loads(CODEX + '[profiles.new]\nmodel = "c"\n')
    assert (home / ".claude/settings.json").read_bytes() == FILES[".claude/settings.json"].encode()


def test_uninstall_leaves_no_empty_event_in_settings_that_were_edited_since(home: Path) -> None:
    done(home, "install", "--client", "claude-code")
    file = home / ".claude/settings.json"
    file.write_text(file.read_text().replace("opus", "haiku"))
    done(home, "uninstall", "--client", "claude-code")
    assert file.read_text() == FILES[".claude/settings.json"].replace("opus", "haiku")


def test_uninstall_leaves_no_empty_object_of_hooks_in_settings_that_were_edited_since(home: Path) -> None:
    file = home / ".claude/settings.json"
    file.write_text('{"model": "opus"}')
    done(home, "install", "--client", "claude-code")
    file.write_text(file.read_text().replace("opus", "haiku"))
    done(home, "uninstall", "--client", "claude-code")
    assert json.loads(file.read_text()) == {"model": "haiku"}


def test_an_entry_that_a_person_wrote_is_kept_in_a_backup_which_stays(home: Path) -> None:
    file, command = home / ".claude.json", home / ".codex/config.toml"
    before = '{"mcpServers": {"context-graph": {"command": "wrapper", "args": ["serve", "--data", "x"]}}}'
    file.write_text(before)
    command.write_text(own := '[mcp_servers.context-graph]\ncommand = "wrapper" # mine\n')
    said = done(home, "install", "--client", "claude-code", "--client", "codex")
    backups = [one.with_name(f"{one.name}.before-context-graph") for one in (file, command)]
    assert all(str(backup) in said for backup in backups)
    done(home, "install", "--client", "claude-code", "--client", "codex", "--data", str(home / "other"))
    done(home, "uninstall", "--client", "claude-code", "--client", "codex")
    assert [backup.read_text() for backup in backups] == [before, own]
    assert json.loads(file.read_text()) == {"mcpServers": {}}


def test_an_entry_of_an_earlier_install_is_no_backup(home: Path) -> None:
    before = tree(home)
    for folder in ("one", "two"):
        done(home, "install", "--client", "cursor", "--data", str(home / folder))
    assert not [*home.rglob("*.before-context-graph")]
    done(home, "uninstall", "--client", "cursor")
    assert tree(home) == before


def test_a_second_install_replaces_the_entry_and_the_first_backup_stays(home: Path) -> None:
    before = tree(home)
    done(home, "install", "--client", "claude-code", "--data", str(home / "one"))
    done(home, "install", "--client", "claude-code", "--data", str(home / "two"))
    assert entry(home, "claude-code")[1][-1] == str(home / "two")
    starts = json.loads((home / ".claude/settings.json").read_text())["hooks"]["SessionStart"]
    assert [("date" in json.dumps(one), "two" in json.dumps(one)) for one in starts] == [(True, False), (False, True)]
    done(home, "uninstall", "--client", "claude-code")
    assert tree(home) == before


def test_what_a_person_added_to_the_entry_stays_and_hooks_that_do_not_see_it_are_told(home: Path, data: Path) -> None:
    places = {
        "codex": home / ".codex/config.toml",
        "zed": home / ".config/zed/settings.json",
        "opencode": home / ".config/opencode/opencode.json",
    }
    places["opencode"].parent.mkdir()
    places["opencode"].write_text(
        '{"mcp": {"context-graph": {"type": "local", "command": ["old", "serve"], "environment": {"A": "1"}}}}'
    )
    places["zed"].write_text(
        '{"context_servers": {"context-graph": {"command": "old", "args": ["serve"],\n'
        '"env": {"A": "1", // why\n"B": "2"}}}}'
    )
    places["codex"].write_text(
        CODEX + '[mcp_servers.context-graph]\ncommand = "old"  # mine\nstartup_timeout_sec = 99\n\n'
        '[mcp_servers.context-graph.env]\nCONTEXT_GRAPH_DATA = "/srv/a"\n'
    )
    clients = [word for client in places for word in ("--client", client)]
    said = done(home, "install", *clients)
    assert said.count("CONTEXT_GRAPH_DATA in its entry is not seen by its hooks: name that folder by --data") == 1
    for client in places:
        assert entry(home, client) == (COMMAND, ["serve"])
    codex = tomllib.loads(places["codex"].read_text())
    assert codex["mcp_servers"]["context-graph"] == {
        "command": COMMAND,
        "args": ["serve"],
        "startup_timeout_sec": 99,
        "env": {"CONTEXT_GRAPH_DATA": "/srv/a"},
    }
    assert codex["mcp_servers"]["other"] == {"command": "x"}
    assert '"env": {"A": "1", // why\n"B": "2"}' in places["zed"].read_text()
    opencode = json.loads(places["opencode"].read_text())
    assert opencode["mcp"]["context-graph"]["environment"] == {"A": "1"}
    assert "is not seen" not in done(home, "install", *clients, "--data", str(data))
    assert entry(home, "codex") == (COMMAND, ["serve", "--data", str(data)])
    before = tree(home)
    assert "nothing to change" in done(home, "install", *clients, "--data", str(data))
    assert tree(home) == before
    done(home, "uninstall", *clients)
    assert "context-graph" not in "".join(place.read_text() for place in places.values())


def test_a_folder_that_only_a_variable_of_this_shell_names_is_told(home: Path, data: Path) -> None:
    told = "CONTEXT_GRAPH_DATA is set here, maybe not where it starts: name that folder by --data"
    install = ("install", "--client", "cursor")
    assert told in done(home, *install, CONTEXT_GRAPH_DATA=str(data))
    assert told not in done(home, *install, "--data", str(data), CONTEXT_GRAPH_DATA=str(data))
    assert told not in done(home, *install)


def test_an_entry_that_a_person_disabled_stays_so(home: Path) -> None:
    file = home / ".config/opencode/opencode.json"
    file.parent.mkdir()
    file.write_text('{"mcp": {"context-graph": {"type": "local", "command": ["old", "serve"], "enabled": false}}}')
    done(home, "install", "--client", "opencode")
    found = json.loads(file.read_text())["mcp"]["context-graph"]
    assert found == {"type": "local", "command": [COMMAND, "serve"], "enabled": False}


def test_an_entry_of_our_name_that_starts_nothing_is_replaced(home: Path) -> None:
    (home / ".claude.json").write_text('{"mcpServers": {"context-graph": {"type": "http", "url": "https://x"}}}')
    done(home, "install", "--client", "claude-code")
    found = json.loads((home / ".claude.json").read_text())["mcpServers"]["context-graph"]
    assert found == {"type": "stdio", "command": COMMAND, "args": ["serve"]}


def test_a_dry_run_shows_the_difference_and_changes_nothing(home: Path) -> None:
    before = tree(home)
    shown = done(home, "install", "--client", "codex", "--dry-run")
    assert "+[mcp_servers.context-graph]" in shown
    answer = json.loads(done(home, "install", "--client", "codex", "--client", "zed", "--dry-run", "--json"))
    assert [one["client"] for one in answer["clients"]] == ["codex", "zed"]
    assert tree(home) == before


def test_a_file_behind_a_symbolic_link_is_changed_and_the_link_stays(home: Path) -> None:
    (home / "dotfiles").mkdir()
    (home / ".claude.json").rename(home / "dotfiles" / "claude.json")
    (home / ".claude.json").symlink_to("dotfiles/claude.json")
    (home / "dotfiles" / "claude.json").chmod(0o640)
    done(home, "install", "--client", "claude-code")
    assert (home / ".claude.json").is_symlink()
    assert entry(home, "claude-code")[0] == COMMAND
    assert (home / "dotfiles" / "claude.json").stat().st_mode & 0o777 == 0o640


def test_opencode_2_gets_the_entry_among_its_servers(home: Path) -> None:
    file = home / ".config/opencode/opencode.jsonc"
    file.parent.mkdir()
    file.write_text(OPENCODE_2)
    done(home, "install", "--client", "opencode")
    assert set(json.loads(file.read_text())["mcp"]["servers"]) == {"other", "context-graph"}
    assert not file.with_suffix(".json").exists()


def test_the_plugin_already_brings_everything(home: Path) -> None:
    (home / ".claude/settings.json").write_text('{"enabledPlugins": {"context-graph@context-graph": true}}')
    before = tree(home)
    assert "plugin" in done(home, "install", "--client", "claude-code")
    assert "CONTEXT_GRAPH_CAPTURE" in done(home, "install", "--client", "claude-code", "--capture")
    assert tree(home) == before


def test_a_skill_of_the_users_own_stays(home: Path) -> None:
    own = home / ".claude/skills/consolidate/SKILL.md"
    own.parent.mkdir(parents=True)
    own.write_text("mine")
    assert "your own" in done(home, "install", "--client", "claude-code")
    done(home, "uninstall", "--client", "claude-code")
    assert own.read_text() == "mine"


@pytest.mark.parametrize(
    ("file", "content", "problem"),
    [
        (".claude.json", b'{\n  "mcpServers": {\n', "line 3: Expecting property name"),
        (".claude.json", b"{\n  // no comments here\n}", "line 2: a comment"),
        (".claude.json", b'{\n  "a": "\xff"\n}', "line 2: not UTF-8"),
        (".claude.json", b'{"mcpServers": []}', "mcpServers is no object"),
        (".claude/settings.json", b'{"hooks": {"SessionStart": 5}}', "hooks.SessionStart is no array"),
    ],
)
def test_an_unreadable_configuration_is_named_with_its_line_and_nothing_is_changed(
    home: Path, file: str, content: bytes, problem: str
) -> None:
    (home / file).write_bytes(content)
    before = tree(home)
    for command in (("install",), ("install", "--dry-run")):
        refused = run(home, *command, "--client", "claude-code")
        assert (refused.exit_code, refused.stdout) == (1, "")
        assert str(home / file) in refused.stderr
        assert problem in refused.stderr
    assert tree(home) == before


@pytest.mark.parametrize("command", ["install", "uninstall"])
def test_the_other_clients_are_served_if_one_has_an_unreadable_configuration(home: Path, command: str) -> None:
    if command == "uninstall":
        done(home, "install", "--all")
    (home / ".codex/config.toml").write_text("[mcp_servers\n")
    before = tree(home)
    dry = run(home, command, "--all", "--dry-run")
    assert (dry.exit_code, tree(home)) == (1, before)
    answered = run(home, command, "--all", "--json")
    assert answered.exit_code == 1
    answer = json.loads(answered.stdout)
    assert [one["client"] for one in answer["clients"]] == ["claude-code", "zed"]
    assert all(one["changes"] for one in answer["clients"])
    assert [one["client"] for one in answer["failed"]] == ["codex"]
    for told in (dry.stderr, answered.stderr):
        assert told.startswith(f"context-graph: {home}/.codex/config.toml, line 1: "), told
        assert told.endswith(f"mend that, then run: context-graph {command} --client codex\n"), told
    unchanged = {name: text for name, text in tree(home).items() if name.startswith((".codex", ".agents"))}
    assert unchanged == {name: text for name, text in before.items() if name.startswith((".codex", ".agents"))}
    (home / ".codex/config.toml").write_text(FILES[".codex/config.toml"])
    assert "Codex" in done(home, command, "--client", "codex")


def test_an_unknown_client_is_refused_with_those_that_are_known(home: Path) -> None:
    refused = run(home, "install", "--client", "emacs")
    assert refused.exit_code == 1
    assert "--client: no client emacs; one of claude-code" in refused.stderr
    assert "--all" in run(home, "install").stderr
    nothing = run(home / "nobody", "install", "--all").stderr
    assert "no known client is on this machine; name one by --client, of claude-code" in nothing
    assert "or --all" not in nothing


def test_a_folder_that_cannot_be_written_to_is_reported(home: Path) -> None:
    if os.geteuid() == 0:
        (home / ".cursor").write_text("not a folder")
    else:
        (home / ".cursor").mkdir(mode=0o500)
    refused = run(home, "install", "--client", "cursor")
    assert refused.exit_code == 1
    assert shlex.quote(str(home / ".cursor/mcp.json")) in refused.stderr


def test_capture_is_off_until_asked_for_and_stays_as_it_was_chosen(home: Path) -> None:
    def capturing() -> list[str]:
        hooks = json.loads((home / ".claude/settings.json").read_text())["hooks"]
        return [event for event, groups in hooks.items() if "--capture" in json.dumps(groups)]

    client = ("install", "--client", "claude-code")
    for options, expected in (
        ((), []),
        (("--capture",), ["SessionEnd"]),
        ((), ["SessionEnd"]),
        (("--no-capture",), []),
    ):
        done(home, *client, *options)
        assert capturing() == expected
    done(home, *client, "--capture")
    done(home, "uninstall", "--client", "claude-code")
    assert (home / ".claude/settings.json").read_text() == FILES[".claude/settings.json"]


@pytest.mark.parametrize(
    ("client", "hooks"), [("claude-code", ".claude/settings.json"), ("codex", ".codex/hooks.json"), ("zed", None)]
)
def test_the_folder_of_a_former_install_stays_until_another_is_named(
    home: Path, client: str, hooks: str | None
) -> None:
    def folders() -> set[str]:
        named = re.findall(r"--data ([^ ]+)", (home / hooks).read_text()) if hooks else []
        return {entry(home, client)[1][-1], *named}

    one, two = str(home / "one"), str(home / "two")
    done(home, "install", "--client", client, "--data", one)
    assert "nothing to change" in done(home, "install", "--client", client)
    assert folders() == {one}
    said = done(home, "install", "--client", client, "--data", two)
    assert f"its store was {one}" in said
    assert folders() == {two}


def test_another_installation_keeps_the_folder_and_says_which_options_it_leaves_out(home: Path) -> None:
    folder = home / "notes"
    args = ["serve", "--tools=core", f"--data={folder}", "--linger", "9"]
    file = home / ".claude.json"
    file.write_text(json.dumps({"mcpServers": {"context-graph": {"command": "/old/context-graph", "args": args}}}))
    said = done(home, "install", "--client", "claude-code")
    assert entry(home, "claude-code") == (COMMAND, ["serve", "--data", str(folder)])
    assert f"its store stays {folder}" in said
    assert "left out: --tools=core --linger 9" in said
    file.write_text("{}")
    done(home, "install", "--client", "claude-code")
    assert entry(home, "claude-code")[1] == ["serve", "--data", str(folder)], "that of its hooks"
    done(home, "install", "--client", "claude-code")
    settings = home / ".claude/settings.json"
    settings.write_text(settings.read_text().replace("--data", "'--data"))
    file.write_text("{}")
    done(home, "install", "--client", "claude-code")
    assert entry(home, "claude-code")[1] == ["serve"], "no shell reads its hooks"
