"""Operations that look after the store as a whole while it goes on: is it sound, and a copy of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio.from_thread
import anyio.to_thread

from actors.api.context import Access, Progress, silent, told_from_thread
from actors.api.params.audit import StoreBackUp, StoreVerify
from actors.api.params.parsing import invalid
from actors.api.responses.store import verified
from actors.runtime.faults import StorageFault
from actors.store.snapshot_files import Snapshots
from events.storage.backup import back_up
from events.storage.duckdb_log import DuckDBLog
from events.storage.log import LogError
from events.verify.examination import Problem
from events.verify.verification import examine


def _cancellable(report: Callable[..., object]) -> Callable[[int, int], None]:
    """Return a callback for a worker thread that reports, and ends the thread once nobody waits for it."""

    def told(done: int, total: int) -> None:
        anyio.from_thread.check_cancelled()
        report(done, total)

    return told


def _snapshot_problems(log: DuckDBLog) -> list[Problem]:
    return Snapshots(log.folder, log.keys).problems()


class Keeping(Access):
    """Checking the store, and copying it."""

    async def store_verify(self, _params: StoreVerify, progress: Progress = silent) -> dict[str, Any]:
        """Check every byte of the open log, its chain, its keys and what it holds."""
        report = await self._on_disk(examine, _cancellable(told_from_thread(progress, "events checked")))
        return verified(report, await self._on_disk(_snapshot_problems))

    async def store_back_up(self, params: StoreBackUp, progress: Progress = silent) -> dict[str, Any]:
        """Copy the store as it stands now; it may be written to meanwhile."""
        target = Path(params.target)
        if not target.is_absolute():
            raise invalid("target", "not an absolute path")
        head = await self._on_disk(back_up, target, _cancellable(told_from_thread(progress, "events copied")))
        return {"backup": str(target), "events": head.seq, "hash": head.hash.hex()}

    async def _on_disk(self, work: Any, *arguments: Any) -> Any:
        """Do something with the log's files in a thread of its own."""
        await self.replayed()
        if not isinstance(self.hub.log, DuckDBLog):
            raise StorageFault("this log has no files")
        try:
            return await anyio.to_thread.run_sync(work, self.hub.log, *arguments)
        except LogError as error:
            raise StorageFault(f"Storage failed: {error}") from error
