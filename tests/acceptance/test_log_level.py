"""`--log-level debug`: the messages between actors, joined by correlation id, without the content of memories."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from actors.proxy.launcher import LOG
from tests.acceptance.conftest import COMMAND, PATIENCE, Open

CONTENT = "The zanzibar lighthouse keeper paints his door vermilion."
LINE = re.compile(r"context-graph: DEBUG (\w+) (\w+) (\S+) ([\d.]+) ms")
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
STORE = {"name": "store_memory", "arguments": {"content": CONTENT}}


def store_standalone(folder: Path, *options: str) -> str:
    """Store one memory in a standalone server; return its standard error."""
    messages = [
        {"id": 1, "method": "initialize", "params": HELLO},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": STORE},
    ]
    with subprocess.Popen(
        [COMMAND, "serve", "--standalone", "--data", str(folder), *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin
        assert process.stdout
        for message in messages:
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        process.stdin.flush()
        while json.loads(process.stdout.readline()).get("id") != 2:
            pass
        _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    return errors


def correlations(log: str) -> dict[str, set[str]]:
    """Return the correlation ids of each message type in a log."""
    found: dict[str, set[str]] = {}
    for match in LINE.finditer(log):
        found.setdefault(match[2], set()).add(match[3])
    return found


def test_debug_logs_each_message_of_a_request_under_one_correlation_id_and_no_content_of_a_memory(
    tmp_path: Path,
) -> None:
    log = store_standalone(tmp_path / "data", "--log-level", "debug")
    found = correlations(log)
    request = found["EmbedMemory"] & found["JudgeAndAppend"] & found["AppendMemories"]
    assert len(request) == 1
    assert "-" not in request
    assert [word for word in ("zanzibar", "vermilion", "lighthouse") if word in log] == []


def test_without_debug_no_message_is_logged(tmp_path: Path) -> None:
    assert store_standalone(tmp_path / "data") == ""


def test_an_unknown_level_is_refused(tmp_path: Path) -> None:
    arguments = [COMMAND, "serve", "--data", str(tmp_path / "data"), "--log-level", "loud"]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 2
    assert "loud" in done.stderr


def test_the_hub_logs_the_level_of_the_environment_to_its_log(
    window: Open, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONTEXT_GRAPH_LOG_LEVEL", "debug")
    server = window().greeted()
    server.call("store_memory", content=CONTENT)
    log = (data / LOG).read_text()
    assert {"EmbedMemory", "JudgeAndAppend", "AppendMemories"} <= correlations(log).keys()
    assert "zanzibar" not in log
