"""What commands say on platforms that they can't run on; nothing here runs on such a one."""

import subprocess
import sys
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


@pytest.mark.parametrize("command", [["store", "A text"], ["hub", "--data", "store"]])
def test_a_processor_that_the_database_cannot_run_on_is_told(command: list[str], tmp_path: Path) -> None:
    """DuckDB's library for Linux ends the process with SIGILL there, without a word."""
    processor = tmp_path / "cpuinfo"
    processor.write_text("model name\t: Celeron J4125\nflags\t\t: fpu sse4_2 aes\n")
    program = "import pathlib, sys; from actors import cli; cli.PROCESSOR = pathlib.Path(sys.argv.pop(1)); cli.app()"
    ended = subprocess.run(
        [sys.executable, "-c", program, processor, *command],
        check=False,
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 1
    assert ended.stderr == "context-graph: this processor has no AVX2 instructions, which DuckDB needs\n"
    assert list(tmp_path.iterdir()) == [processor]
