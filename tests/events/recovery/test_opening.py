"""Which commands upgrade a store of an earlier version, what they say, and the copy that they make before."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from actors.cli.commands import program
from events.recovery import safety_copy
from events.recovery.backup import restore
from events.recovery.opening import open_log
from events.recovery.safety_copy import safety_copies
from events.storage.format import FORMAT, format_of
from events.storage.log import LogError, LogFullError
from events.verify.verification import verify
from tests.acceptance.conftest import COMMAND, _loaded, _rested, profile  # noqa: F401 -- fixtures
from tests.events.recovery.test_upgrade import files
from tests.fixtures.stores.unpacking import unpack
from tests.sampling import sampled

PROMPT = json.dumps({"session_id": "s", "prompt": "When does the ferry to Inishmore leave?", "cwd": "/"})


@pytest.fixture(params=["schema", "plain", "keyed"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    unpack(request.param, tmp_path / "store")
    return tmp_path / "store"


def run(store: Path, *words: str, given: str = "") -> tuple[str, str]:
    """Run a command, a hook in a process of its own, and return what it prints on either output."""
    settings = {"CONTEXT_GRAPH_DATA": str(store), "CONTEXT_GRAPH_HUB": "0"}
    if words[0] != "hook":
        ended = CliRunner().invoke(program, words, input=given, env=settings)
        assert ended.exit_code == 0, ended.output
        return ended.stdout, ended.stderr
    done = subprocess.run(
        [COMMAND, *words],
        env=os.environ | settings,
        input=given,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def unchanged(store: Path, before: dict[str, bytes]) -> bool:
    return {name: content for name, content in files(store).items() if name in before} == before


@sampled(
    ("words", "given"),
    [
        (("export",), ""),
        (("drift",), ""),
        (("hook", "user-prompt-submit"), PROMPT),
        (("hook", "session-start"), PROMPT),
    ],
    every=2,
    ids=["export", "drift", "recall", "brief"],
)
def test_what_reads_leaves_a_store_of_an_earlier_version_as_it_is(
    store: Path, words: tuple[str, ...], given: str
) -> None:
    before = files(store)
    run(store, *words, given=given)
    assert unchanged(store, before)
    assert safety_copies(store) == []


@pytest.mark.parametrize("words", [("search", "When does the ferry leave?"), ("goals",)], ids=["search", "goals"])
def test_what_writes_copies_the_store_first_and_says_where(store: Path, tmp_path: Path, words: tuple[str, ...]) -> None:
    before = files(store)
    _, said = run(store, *words)
    (copy,) = safety_copies(store)
    assert (copy.operation, format_of(store)) == ("upgrade", FORMAT)
    (line,) = [line for line in said.splitlines() if "earlier version" in line]
    assert f"context-graph restore {copy.folder} --data {store} --replace" in line
    restore(copy.folder, tmp_path / "again")
    after = files(tmp_path / "again")
    assert {name: after[name] for name in ("keys", "head")} == {name: before[name] for name in ("keys", "head")}
    assert "earlier version" not in run(store, *words)[1]


def test_without_room_for_the_copy_it_is_read_only_and_stays_as_it_is(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = files(store)

    def full(*_arguments: object) -> None:
        raise LogFullError("the disk has 3 bytes left")

    monkeypatch.setattr(safety_copy, "check_free", full)
    log = open_log(store, None)
    assert "3 bytes left" in (log.read_only or "")
    with pytest.raises(LogError, match="read-only"):
        log.shred([])
    log.close()
    assert unchanged(store, before)


def test_a_damaged_one_is_not_upgraded(store: Path) -> None:
    content = bytearray((store / "keys").read_bytes())
    content[-20] ^= 1
    (store / "keys").write_bytes(content)
    before = files(store)
    log = open_log(store, None)
    assert "context-graph repair" in (log.read_only or "")
    log.close()
    assert unchanged(store, before)
    assert verify(store).problems
