"""Ctrl-C ends a command without a traceback, however early it comes."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from uuid import UUID, uuid5

import pytest

from actors.cli import app
from actors.cli.importing import BATCH, Batch
from actors.cli.program import INTERRUPTED_STATUS
from actors.runtime.types import JsonObject
from tests.actors.cli.conftest import run, run_json


class Interrupted(ModuleType):
    """A module during whose import Ctrl-C is pressed."""

    def __getattr__(self, _name: str) -> None:
        raise KeyboardInterrupt


def test_ctrl_c_while_the_commands_are_imported_ends_with_its_status(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "actors.cli.commands", Interrupted("actors.cli.commands"))
    monkeypatch.setattr(sys, "argv", ["context-graph", "status"])
    mask, handler = os.umask(0o077), signal.getsignal(signal.SIGINT)
    try:
        with pytest.raises(SystemExit) as ended:
            app()
    finally:
        os.umask(mask)
        signal.signal(signal.SIGINT, handler)
    assert ended.value.code == INTERRUPTED_STATUS == 130


def test_ctrl_c_in_an_import_says_what_is_stored_and_the_next_one_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "notes.jsonl"
    source.write_text("".join(f'{{"content": "The buoy {number} is red."}}\n' for number in range(BATCH + 1)))
    told = f"interrupted; {BATCH} of {BATCH + 1} memories are stored, and the same import goes on"
    assert told in interrupt_import(tmp_path / "store", source, monkeypatch)
    assert run_json(tmp_path / "store", "import", str(source))["stored_before"] == BATCH + 1


@pytest.mark.parametrize("is_section", [True, False])
def test_ctrl_c_counts_memories_and_sections_that_were_imported_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_section: bool
) -> None:
    source, whole = tmp_path / "notes.jsonl", "0b6a1f5e-6c0e-5a5c-9a9e-2f3d8d1c7b44"
    division = {"part_of": whole, "metadata": {"division": {"sections": BATCH}}} if is_section else {}
    ids = [str(uuid5(UUID(whole), str(number))) for number in range(BATCH + 1)]
    lines = [json.dumps({"id": one, "content": "The buoy is red."} | division) for one in ids]
    source.write_text(json.dumps({"id": whole, "content": "The buoy is red."}) if is_section else "\n".join(lines))
    run_json(tmp_path / "store", "import", str(source))
    source.write_text("\n".join(lines))
    told = interrupt_import(tmp_path / "store", source, monkeypatch)
    assert f"interrupted; {BATCH} of {BATCH + 1} memories are stored" in told


def interrupt_import(store: Path, source: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Import the first batch of a source, press Ctrl-C in the second, and return what is said then."""
    add = Batch.add

    def interrupted(batch: Batch, answer: JsonObject) -> None:
        if batch.start:
            raise KeyboardInterrupt
        add(batch, answer)

    with monkeypatch.context() as patched:
        patched.setattr(Batch, "add", interrupted)
        done = run(store, "import", str(source))
    assert done.exit_code == INTERRUPTED_STATUS
    return done.stderr


LEAVING = """
import threading
def outlive() -> None:
    threading.main_thread().join()
    print("leaving", flush=True)
    threading.Event().wait(60)
threading.Thread(target=outlive).start()
from actors.cli import app
app()
"""
"""A command that is done while a thread of its process still works."""


def test_ctrl_c_while_a_command_that_is_done_ends_is_no_traceback() -> None:
    command = [sys.executable, "-c", LEAVING, "--version"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        while process.stdout.readline() not in {"leaving\n", ""}:
            pass
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=60)[1] == ""
    assert process.returncode == -signal.SIGINT
