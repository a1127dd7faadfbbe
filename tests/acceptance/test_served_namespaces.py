"""A hub that serves some namespaces, as its user starts it, asks it from the command line, and starts it twice."""

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.conftest import COMMAND, PATIENCE, refused

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the hub's socket is a unix socket")


def run(*arguments: str, fails: bool = False) -> str:
    done = subprocess.run([COMMAND, *arguments], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (done.returncode != 0) == fails, done.stderr
    return done.stderr if fails else done.stdout


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """The folder of a hub that serves `home` and `work`."""
    command = [COMMAND, "serve", "--http", "127.0.0.1:0", "--namespaces", "home,work", "--data", str(tmp_path)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            assert "HTTP is served" in server.stderr.readline()
            yield tmp_path
        finally:
            server.terminate()
            server.wait(PATIENCE)


def test_history_audit_and_status_tell_of_a_hub_that_serves_some_namespaces(folder: Path) -> None:
    told = run("store", "The cellar key hangs behind the clock.", "--namespace", "home", "--data", str(folder))
    found = re.search(r"[0-9a-f-]{36}", told)
    assert found
    run("forget", found[0], "--data", str(folder))
    assert "stored in home" in run("history", found[0], "--data", str(folder))
    assert "forgotten" in run("audit", "--limit", "1", "--data", str(folder))
    assert "the latest 1; there are earlier ones" in run("audit", "--limit", "1", "--data", str(folder))
    assert "serves home, work alone" in run("status", "--data", str(folder))


def test_a_hub_that_serves_others_does_not_stand_in_for_one_of_some_namespaces(folder: Path) -> None:
    told = run("serve", "--http", "127.0.0.1:0", "--namespaces", "home", "--data", str(folder), fails=True)
    assert "serves home, work of this store, not home alone; end it first by: context-graph stop" in told
    assert "serves home, work of this store, not home alone" in refused(folder, "--namespaces", "home")
