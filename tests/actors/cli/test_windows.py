"""What a command says on Windows that needs what only POSIX has; nothing here runs on Windows."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from actors.cli.commands import program


@pytest.mark.parametrize("event", ["session-start", "user-prompt-submit", "post-tool-use", "session-end"])
def test_hooks_refuse_windows_by_name_and_touch_nothing(
    event: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("actors.cli.commands.agents.hooks.sys.platform", "win32")
    store = tmp_path / "store"
    done = CliRunner().invoke(program, ["hook", event, "--data", str(store)], input="no payload at all")
    assert done.exit_code == 1, "2 would block the prompt"
    assert "hooks need Linux or macOS" in done.output
    assert not store.exists()
