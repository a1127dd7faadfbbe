"""Ctrl-C ends a command without a traceback, however early it comes."""

import os
import sys
from types import ModuleType

import pytest

from actors.cli import app
from actors.cli.program import INTERRUPTED_STATUS


class Interrupted(ModuleType):
    """A module during whose import Ctrl-C is pressed."""

    def __getattr__(self, _name: str) -> None:
        raise KeyboardInterrupt


def test_ctrl_c_while_the_commands_are_imported_ends_with_its_status(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "actors.cli.commands", Interrupted("actors.cli.commands"))
    monkeypatch.setattr(sys, "argv", ["context-graph", "status"])
    mask = os.umask(0o077)
    try:
        with pytest.raises(SystemExit) as ended:
            app()
    finally:
        os.umask(mask)
    assert ended.value.code == INTERRUPTED_STATUS == 130
