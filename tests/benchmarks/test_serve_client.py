import sys
from pathlib import Path

import pytest
from benchmarks import serve_client
from benchmarks.serve_client import ServeClient

SERVER = """#!{python}
import json, os, sys
from pathlib import Path

is_first = not Path("{seen}").exists()
Path("{seen}").touch()
for message in map(json.loads, sys.stdin):
    if "id" in message:
        answer = json.dumps({{"id": message["id"], "result": {{"structuredContent": {{"found": 1}}}}}})
        if is_first and message["method"] == "tools/call":
            os.write(1, answer[:20].encode())
            os._exit(9)
        print(answer, flush=True)
"""
"""A server that dies once while it answers."""


def test_a_request_is_repeated_when_its_server_dies_in_the_middle_of_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = tmp_path / "serve"
    command.write_text(SERVER.format(python=sys.executable, seen=tmp_path / "seen"))
    command.chmod(0o700)
    monkeypatch.setattr(serve_client, "COMMAND", str(command))
    client = ServeClient(tmp_path, tmp_path / "errors")
    reply = client.call("search_graph", query="x")
    client.close()
    assert (reply.answer, reply.sent) == ({"found": 1}, 2)
