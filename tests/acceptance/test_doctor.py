"""`doctor` finds what is broken, says what to do, and packs no contents for a bug report."""

import json
import os
import re
import subprocess
import zipfile
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from actors.embedder.profiles.embedded import space_models
from actors.proxy.endpoint import HUB_INFO
from actors.proxy.launcher import LOG
from events.storage.duckdb_log import DuckDBLog
from events.vocabulary import SpacesDeclared
from events.vocabulary.values import SpaceModel
from tests.acceptance.conftest import COMMAND, PATIENCE, Open, Server
from tests.acceptance.test_install import run
from tests.events.samples import draft
from tests.fixtures.stores.unpacking import unpack
from tests.postgres import Server as Postgres

MEMORY = "Mara's dog is called Bo."

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the places are those of Linux")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@pytest.fixture
def store(data: Path) -> Path:
    """An empty store."""
    DuckDBLog(data).close()
    return data


def doctor(home: Path, data: Path, *options: str) -> tuple[int, dict[str, dict[str, Any]]]:
    """Return the exit status and the checks by name."""
    done = run(home, "doctor", "--data", str(data), "--json", *options)
    answer = json.loads(done.stdout)
    assert answer["works"] == (done.exit_code == 0)
    assert [check for check in answer["checks"] if check["verdict"] != "ok" and not check["advice"]] == []
    return done.exit_code, {check["name"]: check for check in answer["checks"]}


def install(home: Path, data: Path, *clients: str) -> None:
    named = [word for client in clients for word in ("--client", client)]
    assert run(home, "install", *named, "--data", str(data)).exit_code == 0


def test_a_sound_store_and_connected_clients_pass(home: Path, store: Path) -> None:
    install(home, store, "claude-code", "zed")
    status, checks = doctor(home, store)
    assert status == 0
    assert {name: check["verdict"] for name, check in checks.items()} == dict.fromkeys(
        ("python", "packages", "weights", "folder", "disk", "socket", "hub", "log", "errors", "claude-code", "zed"),
        "ok",
    )


def test_a_damaged_log_fails_with_the_command_that_helps(home: Path, store: Path) -> None:
    (store / "head").write_bytes(b"\xff" * 1024)
    status, checks = doctor(home, store)
    assert (status, checks["log"]["verdict"]) == (1, "failed")
    assert "context-graph verify" in checks["log"]["advice"]


def test_a_store_of_other_models_fails_with_the_command_that_carries_it_over(home: Path, data: Path) -> None:
    def declare(*spaces: SpaceModel) -> None:
        with closing(DuckDBLog(data)) as log:
            log.append([draft(SpacesDeclared(profile="embedded", spaces=spaces))])

    first, *others = space_models()
    declare(msgspec.structs.replace(first, sha256="0" * 64, succeeds=()), *others)
    status, checks = doctor(home, data)
    assert (status, checks["log"]["verdict"]) == (1, "ok")
    assert f"fills {first.key} differently" in checks["models"]["found"]
    assert "context-graph reembed NEW_FOLDER" in checks["models"]["advice"]
    declare(first, *others)
    assert "models" not in doctor(home, data)[1]


def test_a_store_that_others_may_read_is_a_warning(home: Path, store: Path) -> None:
    store.chmod(0o755)
    (store / "keys").chmod(0o644)
    status, checks = doctor(home, store)
    assert (status, checks["folder"]["verdict"]) == (0, "warning")
    assert "keys" in checks["folder"]["found"]
    assert checks["folder"]["advice"] == f"chmod -R go= {store}"


def test_a_store_that_others_may_change_is_told_from_a_damaged_one(home: Path, store: Path) -> None:
    store.chmod(0o777)
    status, checks = doctor(home, store)
    assert (status, checks["log"]["verdict"]) == (1, "failed")
    assert checks["log"]["found"] == f"others may write in {store}; change that by: chmod go-w {store}"
    assert checks["log"]["advice"] == "with other rights it opens; `context-graph verify` checks it as it is"


def test_a_client_that_cannot_start_the_server_fails(home: Path, store: Path) -> None:
    install(home, store, "claude-code", "codex", "cursor")
    claude = home / ".claude.json"
    claude.write_text(claude.read_text().replace(COMMAND, "/usr/bin/context-graph-gone"))
    (home / ".codex" / "config.toml").write_text("[mcp_servers\n")
    (home / ".cursor" / "mcp.json").write_text('{"mcpServers": {"context-graph": {"command": "true"}}}')
    (home / ".gemini").mkdir()
    status, checks = doctor(home, store)
    assert status == 1
    verdicts = {name: checks[name]["verdict"] for name in ("claude-code", "codex", "cursor", "gemini")}
    assert verdicts == {"claude-code": "failed", "codex": "failed", "cursor": "failed", "gemini": "warning"}
    assert "cannot be started" in checks["claude-code"]["found"]
    assert f"{home}/.codex/config.toml, line 1" in checks["codex"]["found"]
    assert "did not answer" in checks["cursor"]["found"]
    assert checks["gemini"]["advice"] == "context-graph install --client gemini"


def test_a_client_is_checked_with_the_variables_that_it_sets_for_its_server(home: Path, store: Path) -> None:
    other = home / "other"
    DuckDBLog(other).close()
    entry = {"command": COMMAND, "args": ["serve"], "env": {"CONTEXT_GRAPH_DATA": str(other)}}
    (home / ".claude.json").write_text(json.dumps({"mcpServers": {"context-graph": entry}}))
    assert doctor(home, store)[1]["claude-code"]["verdict"] == "warning", "it has no hooks"
    assert (other / LOG).exists(), "its server opened the store that it names"
    entry["env"] |= {"CONTEXT_GRAPH_LINGER": "soon"}
    (home / ".claude.json").write_text(json.dumps({"mcpServers": {"context-graph": entry}}))
    status, checks = doctor(home, store)
    assert (status, checks["claude-code"]["verdict"]) == (1, "failed")
    assert "did not answer as context-graph does" in checks["claude-code"]["found"]


def test_a_client_is_checked_with_what_its_references_to_variables_stand_for(home: Path, store: Path) -> None:
    other = home / "other"
    DuckDBLog(other).close()
    (home / "tools").symlink_to(Path(COMMAND).parent)
    command = ["{env:HOME}/tools/context-graph", "serve"]
    entry = {"type": "local", "command": command, "environment": {"CONTEXT_GRAPH_DATA": "{env:HOME}/other"}}
    (home / ".config/opencode").mkdir(parents=True)
    (home / ".config/opencode/opencode.json").write_text(json.dumps({"mcp": {"context-graph": entry}}))
    assert doctor(home, store)[1]["opencode"]["found"] == "connected"
    assert (other / LOG).exists(), "its server opened the store that it names"


def test_a_reference_in_the_entry_of_a_client_that_replaces_none_is_no_command(home: Path, store: Path) -> None:
    (home / "tools").symlink_to(Path(COMMAND).parent)
    written = json.dumps(
        {"mcpServers": {"context-graph": {"command": "${HOME}/tools/context-graph", "args": ["serve"]}}}
    )
    (home / ".config/Claude").mkdir(parents=True)
    (home / ".config/Claude/claude_desktop_config.json").write_text(written)
    (home / ".gemini").mkdir()
    (home / ".gemini/settings.json").write_text(written)
    checks = doctor(home, store)[1]
    assert checks["gemini"]["found"] == "connected"
    assert "cannot be started" in checks["claude-desktop"]["found"]


def test_hooks_that_start_nothing_or_are_switched_off_are_told(home: Path, store: Path) -> None:
    install(home, store, "claude-code", "codex")
    settings = home / ".claude" / "settings.json"
    written = settings.read_text()
    settings.write_text(json.dumps(json.loads(written) | {"disableAllHooks": True}))
    status, checks = doctor(home, store)
    assert (status, checks["claude-code"]["verdict"], checks["codex"]["verdict"]) == (0, "warning", "ok")
    assert checks["claude-code"]["advice"] == f"take disableAllHooks out of {settings}"
    settings.write_text(re.sub(r"\"[^\"]*context-graph'? hook", '"/old/context-graph hook', written))
    status, checks = doctor(home, store)
    assert (status, checks["claude-code"]["verdict"]) == (1, "failed")
    assert "`/old/context-graph`, which its hooks start, did not answer" in checks["claude-code"]["found"]
    assert checks["claude-code"]["advice"] == "context-graph install --client claude-code"
    settings.write_text(written.replace("--data", "--folder"))
    found = doctor(home, store)[1]["claude-code"]["found"]
    assert found == "connected, but its hooks do nothing: option --folder not recognized"


def test_hooks_for_another_store_than_that_of_the_server_are_told(home: Path, store: Path) -> None:
    install(home, store, "claude-code")
    settings = home / ".claude" / "settings.json"
    other = home / "other store"
    settings.write_text(settings.read_text().replace(f"--data {store}", f"--data '{other}'"))
    status, checks = doctor(home, store)
    assert (status, checks["claude-code"]["verdict"]) == (0, "warning")
    assert checks["claude-code"]["found"] == f"its server has the store {store}, its hooks {other}"
    install(home, store, "claude-code")
    assert doctor(home, store)[1]["claude-code"]["verdict"] == "ok"
    settings.write_text(settings.read_text().replace(f"--data {store}", "--data '"))
    assert doctor(home, store)[1]["claude-code"]["found"].startswith(f"{settings}: the command of a hook can't be read")


def test_hooks_that_run_beside_those_of_the_plugin_are_a_warning(home: Path, store: Path) -> None:
    install(home, store, "claude-code")
    file = home / ".claude/settings.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"enabledPlugins": {"context-graph@here": True}}))
    assert "take them out by `uninstall`" in run(home, "install", "--client", "claude-code").stdout
    status, checks = doctor(home, store)
    assert (status, checks["claude-code"]["verdict"]) == (0, "warning")
    assert run(home, *checks["claude-code"]["advice"].split()[1:]).exit_code == 0
    assert doctor(home, store)[1]["claude-code"]["found"] == "connected by the plugin"


def test_a_client_without_its_hooks_is_a_warning(home: Path, store: Path) -> None:
    install(home, store, "codex")
    (home / ".codex" / "hooks.json").unlink()
    assert doctor(home, store)[1]["codex"]["found"] == "connected, without hooks"


def test_a_running_hub_is_asked_and_one_of_another_version_is_a_warning(home: Path, window: Open, data: Path) -> None:
    server = window().greeted()
    server.call("store_memory", content=MEMORY, namespace="mara")
    (data / LOG).write_text(
        f"context-graph: ERROR store_memory failed\nTraceback: {MEMORY}\ncontext-graph: INFO {MEMORY}\n"
    )
    subprocess.run([COMMAND, "ui", "--no-open", "--data", str(data)], check=True, capture_output=True, timeout=PATIENCE)
    (home / "reports").mkdir()
    bundle = home / "reports" / "report.zip"
    status, checks = doctor(home, data, "--bundle", str(bundle))
    assert (status, checks["hub"]["verdict"], checks["log"]["verdict"]) == (0, "ok", "ok")
    assert "answers" in checks["hub"]["found"]
    assert checks["log"]["found"].endswith("events, open in the hub; `context-graph verify` checks all")
    assert "run by" in checks["models"]["found"]
    assert "{" not in checks["models"]["found"]
    assert checks["errors"]["found"] == "1 in hub.log, the last: ERROR store_memory failed"
    with zipfile.ZipFile(bundle) as archive:
        packed = {name: archive.read(name).decode() for name in archive.namelist()}
    assert {"checks.json", "versions.json", "errors.txt", "hub.json"} <= packed.keys()
    assert [name for name, text in packed.items() if MEMORY in text or "mara" in text or str(home) in text] == []
    info = data / HUB_INFO
    info.write_text(info.read_text().replace('"version":"', '"version":"0.0.0+'))
    other_version = doctor(home, data)[1]["hub"]
    assert (other_version["verdict"], other_version["advice"].partition(":")[0]) == ("warning", "context-graph stop")
    # It would go on for the browser.
    subprocess.run([COMMAND, "stop", "--data", str(data)], check=True, capture_output=True, timeout=PATIENCE)


def test_what_the_upgrade_of_a_store_of_an_earlier_version_logs_is_no_error(
    home: Path, data: Path, window: Open
) -> None:
    unpack("keyed", data)  # in another format, with a snapshot of another schema
    window().greeted().call("search_graph", query=MEMORY)
    assert "it is upgraded now" in (data / LOG).read_text()
    assert doctor(home, data)[1]["errors"]["verdict"] == "ok"


def test_a_shared_log_whose_server_is_away_fails_with_and_without_a_hub(
    home: Path, data: Path, postgres: Postgres, address: str
) -> None:
    server = Server(data, "--standalone", "--log", address).greeted()
    try:
        assert not server.call("store_memory", content=MEMORY).get("isError")
        assert doctor(home, data)[1]["log"]["verdict"] == "ok"
        postgres.stop()
        assert server.call("store_memory", content="Bo is afraid of thunder.")["isError"]
        status, checks = doctor(home, data)
        assert (status, checks["hub"]["verdict"], checks["log"]["verdict"]) == (1, "ok", "failed")
        assert checks["log"]["advice"].startswith("start the server of the log")
        server.close()
        status, checks = doctor(home, data)
        assert (status, checks["log"]["verdict"]) == (1, "failed")
        assert checks["log"]["advice"].startswith("start the server of the log")
    finally:
        server.kill()
        postgres.start()


def test_without_a_store_nothing_is_created(home: Path, tmp_path: Path) -> None:
    status, checks = doctor(home, tmp_path / "nothing")
    assert (status, checks["folder"]["verdict"]) == (0, "warning")
    assert not (tmp_path / "nothing").exists()


def test_a_folder_that_cannot_be_made_fails(home: Path, tmp_path: Path) -> None:
    occupied = tmp_path / "occupied"
    occupied.write_text("no folder")
    status, checks = doctor(home, occupied / "store")
    assert (status, checks["folder"]["verdict"]) == (1, "failed")
    assert f"{occupied} is no folder" in checks["folder"]["found"]


def test_a_store_that_is_missing_or_of_an_earlier_format_is_left_so_by_the_check_of_its_clients(
    home: Path, store: Path, tmp_path: Path
) -> None:
    missing = tmp_path / "nothing"
    install(home, missing, "claude-code")
    install(home, store, "codex")
    (store / "format").unlink()
    before = {path.name: path.read_bytes() for path in store.iterdir()}
    status, checks = doctor(home, missing)
    assert status == 0
    assert {name: checks[name]["verdict"] for name in ("folder", "log", "claude-code", "codex")} == {
        "folder": "warning",
        "log": "warning",
        "claude-code": "ok",
        "codex": "ok",
    }
    assert not missing.exists()
    assert {path.name: path.read_bytes() for path in store.iterdir()} == before
    for command in ("/usr/bin/context-graph-gone", "/usr/bin/true", "/usr/bin/python3"):
        claude = home / ".claude.json"
        entry = {"command": command, "args": ["serve", "--data", str(missing)]}
        claude.write_text(json.dumps({"mcpServers": {"context-graph": entry}}))
        assert doctor(home, missing)[1]["claude-code"]["verdict"] == "failed", command


@pytest.mark.parametrize("variable", ["HOME", "XDG_DATA_HOME"])
def test_a_store_in_the_home_that_an_entry_sets_is_not_created(home: Path, tmp_path: Path, variable: str) -> None:
    DuckDBLog(home / ".local" / "share" / "context-graph").close()
    other = tmp_path / "other"
    other.mkdir()
    environment = {variable: str(other), "PATH": "bin:${PATH}"}
    entry = {"command": COMMAND, "args": ["serve"], "env": environment}
    (home / ".claude.json").write_text(json.dumps({"mcpServers": {"context-graph": entry}}))
    checks = doctor(home, tmp_path / "nothing")[1]
    assert checks["claude-code"]["verdict"] == "warning", "it has no hooks"
    assert [*other.iterdir()] == []


def test_a_bundle_replaces_no_file(home: Path, store: Path) -> None:
    (home / "x.zip").write_text("mine")
    done = run(home, "doctor", "--data", str(store), "--bundle", str(home / "x.zip"))
    assert done.exit_code == 1
    assert "x.zip" in done.stderr
    assert (home / "x.zip").read_text() == "mine"
