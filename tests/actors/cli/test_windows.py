"""What a command says on Windows that needs what only POSIX has; nothing here runs on Windows."""

from pathlib import Path

import pytest

from actors.cli.hooks import run_hook


@pytest.mark.parametrize("event", ["session-start", "user-prompt-submit", "post-tool-use", "session-end"])
def test_hooks_refuse_windows_by_name_and_touch_nothing(
    event: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("actors.cli.hooks.sys.platform", "win32")
    store = tmp_path / "store"
    with pytest.raises(SystemExit, match="hooks need Linux or macOS"):  # with status 1: 2 would block the prompt
        run_hook([event, "--data", str(store)])
    assert not store.exists()
