"""Operations on sleep: consolidation, what it would do and did, taking it back, and dreams."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import anyio.to_thread

from actors.front.access import Access, Progress, silent, told_from_thread
from actors.front.answers import sleep
from actors.front.goals import LONG
from actors.front.sleep_schemas import (
    ConsolidateMemories,
    GetDreamStatus,
    GetPruningCandidates,
    ListConsolidations,
    TriggerDream,
    UndoConsolidation,
)
from actors.messages.consolidator import (
    Candidates,
    Consolidate,
    DreamState,
    ReadCandidates,
    ReadDream,
    ReadRuns,
    RunList,
    Slept,
    Undo,
    Undone,
)
from actors.messages.scheduler import ChangeSchedule, PermitPruning, ReadSchedule, ScheduleState, SwitchSchedule
from actors.messages.store import Describe
from actors.scheduler import timing
from events.values import Mode
from projections.catalog import Entry

PAUSE = 60.0
"""Seconds after a dream before another one begins, unless it is forced (facts 10.5)."""


class Sleeping(Access):
    """Tidying the memories, and looking into it."""

    async def consolidate_memories(self, params: ConsolidateMemories, progress: Progress = silent) -> dict[str, Any]:
        """Merge duplicates, prune what matters too little, and in deeper modes group and dream (seed 003)."""
        await self.replayed()
        slept: Slept = await self.ask(
            self.hub.consolidator,
            Consolidate(
                mode=Mode(params.mode),
                namespace=params.namespace,
                salience_threshold=params.salience_threshold,
                max_memories=params.max_memories,
                dry_run=params.dry_run,
                max_seconds=params.max_seconds,
                on_progress=told_from_thread(progress),
            ),
            LONG,
        )
        return sleep.slept(slept, await self._entries(sleep.shown_of(slept)))

    async def undo_consolidation(self, params: UndoConsolidation, _progress: Progress = silent) -> dict[str, Any]:
        """Take back what a run did, whole or for one memory."""
        await self.replayed()
        undone: Undone = await self.ask(self.hub.consolidator, Undo(run=params.run_id, memory=params.memory_id))
        return sleep.undone(undone)

    async def list_consolidations(self, params: ListConsolidations, _progress: Progress = silent) -> dict[str, Any]:
        """Return what runs did and why; one that is named, memory by memory."""
        await self.replayed()
        runs: RunList = await self.ask(self.hub.consolidator, ReadRuns(run=params.run_id, limit=params.limit))
        whole = params.run_id is not None
        hidden = [memory for run in runs.runs for memory in sleep.hidden_by(run)] if whole else []
        return sleep.runs(runs, await self._entries(hidden), whole=whole)

    async def get_pruning_candidates(
        self, params: GetPruningCandidates, _progress: Progress = silent
    ) -> dict[str, Any]:
        """Return what a run would prune now, with the parts of each salience."""
        await self.replayed()
        found: Candidates = await self.ask(
            self.hub.consolidator,
            ReadCandidates(namespace=params.namespace, salience_threshold=params.salience_threshold),
            LONG,
        )
        some = found.found[: params.limit]
        return sleep.candidates(found, some, await self._entries(one.memory for one in some))

    async def trigger_dream(self, params: TriggerDream, progress: Progress = silent) -> dict[str, Any]:
        """Begin a dream, and wait for its end if that is wanted."""
        await self.replayed()
        dream = Consolidate(
            mode=Mode.DREAM,
            phase=params.phase,
            namespace=params.namespace,
            salience_threshold=0.0,
            abort_on_query=params.abort_on_query,
            pause=0.0 if params.force else PAUSE,
            rationale=params.rationale,
            on_progress=told_from_thread(progress if params.blocking else silent),
        )
        if not params.blocking:
            begun = self.hub.consolidator.ask(dream, block=False)
            await anyio.to_thread.run_sync(begun.get)  # raises what refuses it; its end isn't waited for
            return sleep.begun(dream.run, params.phase)
        slept: Slept = await self.ask(self.hub.consolidator, dream, LONG)
        return sleep.begun(dream.run, params.phase) | sleep.slept(slept, {})

    async def get_dream_status(self, _params: GetDreamStatus, _progress: Progress = silent) -> dict[str, Any]:
        """Return whether the store sleeps now, how the last dream ended, and when it will sleep next."""
        await self.replayed()
        state: DreamState = await self.ask(self.hub.consolidator, ReadDream())
        schedule: ScheduleState = await self.ask(self.hub.scheduler, ReadSchedule())
        return sleep.dream(state, schedule, datetime.now(UTC))

    async def _entries(self, memories: Iterable[UUID]) -> dict[UUID, Entry]:
        """Return what the catalog knows of these very memories, merged or not."""
        wanted = tuple(dict.fromkeys(memories))
        found: tuple[Entry, ...] = await self.ask(self.hub.store, Describe(memories=wanted, own=True))
        return {entry.id: entry for entry in found}

    async def schedule(self, *changes: ChangeSchedule | SwitchSchedule | PermitPruning) -> dict[str, Any]:
        """Change when the store sleeps, and return how it stands."""
        await self.replayed()
        for change in changes:  # all of them are read before any is made
            if isinstance(change, ChangeSchedule):
                timing.check(change.when, UTC)
        for change in changes:
            await self.ask(self.hub.scheduler, change)
        return sleep.schedule(await self.ask(self.hub.scheduler, ReadSchedule()))
