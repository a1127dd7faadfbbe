"""Automatic anchors: the signed head of the log after each deep sleep, in a file or in a repository's git notes.

The setting is in `anchors.json` of the store's folder. A file that holds anything but anchors is never written to: a
client that may change the schedule could otherwise append to any file of the user.
"""

import os
import shutil
import subprocess
import threading
from datetime import datetime
from pathlib import Path

import msgspec

from actors.runtime.actor import LOGGER
from actors.runtime.types import JsonObject
from events.storage.duckdb_log import DuckDBLog
from events.storage.durable import replace_file
from events.storage.log import Log, LogError
from events.verify.anchors import is_anchors, sign_head

GIT_NOTES = "context-graph"
"""The ref of git notes that receives anchors."""

GIT = "git:"
"""Precedes the path of a repository in a target."""

SETTING = "anchors.json"

_GIT_TIMEOUT = 30.0

_IDENTITY = ("_NAME", "_EMAIL")

_MAX_BYTES = 2**20
"""Of a file that anchors are appended to: some 4,000 of them."""


class _Setting(msgspec.Struct):
    target: str
    slept_at: datetime | None = None
    """Start of the deep sleep that the last anchor followed; the next start writes none for it again."""


class Anchors:
    """Writes the anchors of one store."""

    def __init__(self, folder: Path) -> None:
        self._store = folder.resolve()
        self._path = folder / SETTING
        self._failed: str | None = None
        self._changing = threading.Lock()

    def state(self) -> JsonObject:
        """Return where anchors are written, and why the last one wasn't."""
        try:
            setting = self._read()
        except LogError as error:
            return {"target": None, "failed": str(error)}
        return {"target": setting and setting.target, "failed": self._failed}

    def keep(self, target: str | None) -> None:
        """Set where anchors are written from now on, None for nowhere.

        Raises:
            LogError: nothing can be written there.
            OSError: the setting can't be written.
        """
        if target is not None:
            self.check(target)
        with self._changing:
            if target is None:
                self._path.unlink(missing_ok=True)
            else:
                replace_file(self._path, msgspec.json.encode(_Setting(target)))
            self._failed = None

    def check(self, target: str) -> None:
        """Raise `LogError` unless `write_anchor` can write there, and it is outside the store, which it is to prove."""
        check_target(target)
        if Path(target.removeprefix(GIT)).resolve().is_relative_to(self._store):
            raise LogError(f"{target} is inside the store, which an anchor is to prove; choose a place elsewhere")

    def write_if_due(self, log: Log, slept_at: datetime | None) -> None:
        """Write an anchor if there is none since the last deep sleep began; a failure is in the state, and tried again.

        Of a log on a server, or one that is read-only, none is written. None for `slept_at`: there was no deep sleep.
        """
        with self._changing:
            try:
                setting = self._read()
                if setting is None or slept_at is None or slept_at == setting.slept_at:
                    return
                if not isinstance(log, DuckDBLog) or log.read_only is not None or log.keys.chain is None:
                    return
                write_anchor(setting.target, sign_head(log.head, log.keys.chain))
                replace_file(self._path, msgspec.json.encode(_Setting(setting.target, slept_at)))
                self._failed = None
            except (LogError, OSError) as error:
                if str(error) != self._failed:
                    LOGGER.warning("no anchor was written after sleep: %s", error)
                self._failed = str(error)

    def _read(self) -> _Setting | None:
        """Return the setting, None without one; a damaged one is a `LogError`."""
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=_Setting)
        except FileNotFoundError:
            return None
        except (OSError, msgspec.DecodeError) as error:
            raise LogError(f"{self._path} can't be read ({error}); set --anchor again") from None


def check_target(target: str) -> None:
    """Raise `LogError` unless a target is an absolute path of a file of anchors, or `git:` and a repository's."""
    path = Path(target.removeprefix(GIT))
    if not path.is_absolute():
        raise LogError(f"'{target}' is no absolute path, nor {GIT} with one")
    if target.startswith(GIT):
        _git(path, "rev-parse", "--verify", "--quiet", "HEAD")
    elif path.exists() and not _holds_anchors(path):
        raise LogError(f"{path} holds something else than anchors, or too many; choose another file")
    elif not path.parent.is_dir():
        raise LogError(f"{path.parent} is no folder")


def _holds_anchors(path: Path) -> bool:
    if not path.is_file() or path.stat().st_size > _MAX_BYTES:
        return False
    return is_anchors(path.read_text(encoding="utf-8", errors="replace"))


def write_anchor(target: str, anchor: str) -> None:
    """Append an anchor to a file that only its owner may read, or to the git notes of a repository's HEAD.

    Raises:
        LogError: the target isn't one (`check_target`), or git fails.
        OSError: the file can't be written.
    """
    check_target(target)
    if target.startswith(GIT):
        _git(Path(target.removeprefix(GIT)), "notes", f"--ref={GIT_NOTES}", "append", "-m", anchor, "HEAD")
        return
    descriptor = os.open(target, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(anchor + "\n")
        file.flush()
        os.fsync(file.fileno())


def _git(repository: Path, *arguments: str) -> None:
    git = shutil.which("git")
    if git is None:
        raise LogError("git isn't installed")
    command = [git, "-C", str(repository), *arguments]
    # Of a hub that a git hook started, GIT_DIR and the like name another repository; identities stay.
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name.endswith(_IDENTITY)}
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_GIT_TIMEOUT, env=own)
    except subprocess.TimeoutExpired:
        raise LogError(f"git in {repository} took more than {_GIT_TIMEOUT:.0f} seconds") from None
    if done.returncode:
        raise LogError(f"git notes in {repository} failed: {done.stderr.strip() or 'it has no commit'}")
