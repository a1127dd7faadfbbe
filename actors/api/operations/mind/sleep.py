"""Operations on sleep: consolidation, what it would do and did, taking it back, and dreams."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

import anyio.to_thread

from actors.api.context import Context, find_request, wait_until_replayed
from actors.api.idempotency import key_conflict
from actors.api.operations.administration.as_of import from_log
from actors.api.params.parsing import invalid
from actors.api.params.sleep import (
    NEVER,
    ChangeSchedules,
    ConsolidateMemories,
    GetDreamStatus,
    GetPruningCandidates,
    ListConsolidations,
    TriggerDream,
    UndoConsolidation,
)
from actors.api.progress import ignore_progress, reporter
from actors.api.responses.mind import sleep
from actors.consolidator.messages import (
    Consolidate,
    ReadCandidates,
    ReadDream,
    ReadRuns,
    RunList,
    RunResult,
    UndoResult,
    UndoRun,
)
from actors.runtime.ask import LONG_TIMEOUT, ask
from actors.runtime.faults import NotFoundFault, StorageFault
from actors.runtime.types import JsonObject
from actors.scheduler.messages import ChangeSchedule, CheckSchedules, PermitPruning, ReadSchedule, SwitchSchedule
from actors.store.messages import Describe, RequestResult
from events.storage.duckdb_log import DuckDBLog
from events.storage.log import LogError
from events.vocabulary import CausesLinked, ConsolidationUndone, PurposesRealigned
from events.vocabulary.causes import CausalLink
from events.vocabulary.values import Mode, Outcome
from projections.memories.entries import Entry
from projections.mind.runs import Run
from projections.projection import MemoryState

PAUSE = 60.0
"""Seconds after a dream before another one begins, unless it is forced."""
EVENTS_READ = 2_000
"""Latest events of a run that are read for the causes which it found."""

LOGGED = ("mode", "namespace", "salience_threshold", "max_memories", "dry_run", "rationale")
"""Parameters of a run that are logged, and that a repeated request must have too."""


async def consolidate_memories(context: Context, params: ConsolidateMemories) -> JsonObject:
    """Merge duplicates, prune what matters too little, and in deeper modes cluster and dream."""
    await wait_until_replayed(context)
    wanted = Consolidate(
        run=context.correlation_id,
        mode=Mode(params.mode),
        namespace=context.one_or_all(params.namespace),
        salience_threshold=params.salience_threshold,
        max_memories=params.max_memories,
        dry_run=params.dry_run,
        max_seconds=params.max_seconds,
        rationale=params.rationale,
        on_progress=reporter(context.progress),
    )
    slept: RunResult = await _earlier_run(context, wanted) or await ask(context.hub.consolidator, wanted, LONG_TIMEOUT)
    return sleep.consolidation(slept, await _entries(context, sleep.memories_shown(slept)))


async def undo_consolidation(context: Context, params: UndoConsolidation) -> JsonObject:
    """Take back what a run did, whole or for one memory."""
    await wait_until_replayed(context)
    if before := await find_request(context):
        return sleep.undone(await _earlier_undo(context, params, before))
    undo = UndoRun(run=params.run_id, memory=params.memory_id, request=context.correlation_id)
    undone = await ask(context.hub.consolidator, undo)
    return sleep.undone(undone)


async def list_consolidations(context: Context, params: ListConsolidations) -> JsonObject:
    """Return what runs did and why; one that is named, memory by memory."""
    await wait_until_replayed(context)
    runs = await ask(
        context.hub.consolidator, ReadRuns(run=params.run_id, limit=params.limit, namespaces=context.visible)
    )
    whole = params.run_id is not None
    hidden = [memory for run in runs.runs for memory in sleep.memories_hidden(run)] if whole else []
    causes = [one for run in runs.runs for one in await _causes(context, run)] if whole else []
    return sleep.runs(runs, await _entries(context, hidden), causes, whole=whole)


async def _causes(context: Context, run: Run) -> list[CausalLink]:
    """Return the edges from causes to effects that a run found, of which the caller sees both ends."""
    events = await from_log(context.hub.log.get, run.events[-EVENTS_READ:])
    links = [link for one in events if isinstance(one.event, CausesLinked) for link in one.event.links]
    seen = await context.visible_among({end for link in links for end in (link.source, link.target)})
    return [link for link in links if {link.source, link.target} <= seen]


async def get_pruning_candidates(context: Context, params: GetPruningCandidates) -> JsonObject:
    """Return what a run would prune now, with the parts of each salience."""
    await wait_until_replayed(context)
    found = await ask(
        context.hub.consolidator,
        ReadCandidates(namespace=context.one_or_all(params.namespace), salience_threshold=params.salience_threshold),
        LONG_TIMEOUT,
    )
    some = found.found[: params.limit]
    return sleep.candidates(found, some, await _entries(context, (one.memory for one in some)))


async def trigger_dream(context: Context, params: TriggerDream) -> JsonObject:
    """Begin a dream, and wait for its end if that is wanted."""
    await wait_until_replayed(context)
    dream = Consolidate(
        run=context.correlation_id,
        mode=Mode.DREAM,
        phase=params.phase,
        namespace=context.one_or_all(params.namespace),
        salience_threshold=0.0,
        abort_on_query=params.abort_on_query,
        pause=0.0 if params.force else PAUSE,
        rationale=params.rationale,
        on_progress=reporter(context.progress if params.blocking else ignore_progress),
    )
    if before := await _earlier_run(context, dream):
        return sleep.dream_started(dream.run, params.phase) | (
            sleep.consolidation(before, {}) if params.blocking else {}
        )
    if not params.blocking:
        begun = context.hub.consolidator.ask(dream, block=False)
        await anyio.to_thread.run_sync(begun.get)  # raises what refuses it; its end isn't waited for
        return sleep.dream_started(dream.run, params.phase)
    slept = await ask(context.hub.consolidator, dream, LONG_TIMEOUT)
    return sleep.dream_started(dream.run, params.phase) | sleep.consolidation(slept, {})


async def get_dream_status(context: Context, _params: GetDreamStatus) -> JsonObject:
    """Return whether the store sleeps now, how the last dream ended, and when it will sleep next."""
    await wait_until_replayed(context)
    state = await ask(context.hub.consolidator, ReadDream())
    schedule = await ask(context.hub.scheduler, ReadSchedule())
    return sleep.dream(state, schedule, context.now())


async def _earlier_run(context: Context, wanted: Consolidate) -> RunResult | None:
    """Return what a run did that this request began before; None if it wasn't begun, or has to begin again.

    One that was cut off or stopped changed nothing, and a dry run changes nothing, so these begin again.
    """
    found = None if context.key is None else await _run(context, wanted.run)
    if found is None:
        return None
    (run,) = found.runs
    if any(getattr(run.params, name) != getattr(wanted, name) for name in LOGGED):
        raise key_conflict()
    finished = run.finished
    if finished is None or finished.outcome is not Outcome.FINISHED or wanted.dry_run:
        return None
    return RunResult(
        run=run.run,
        mode=run.mode,
        namespace=run.namespace,
        dry_run=False,
        outcome=finished.outcome,
        reason=finished.reason,
        counts=finished.counts,
        memories=finished.memories,
        milliseconds=finished.milliseconds,
        merged=run.merged,
        pruned=run.pruned,
        patterns=found.patterns[run.run],
        drifts={},  # measured and told, but not written down
    )


async def _earlier_undo(context: Context, params: UndoConsolidation, before: RequestResult) -> UndoResult:
    """Return what this very request took back, as far as nothing else happened to it since."""
    memory = params.memory_id
    found = await _run(context, params.run_id)
    if found is None or before.events[0].event != ConsolidationUndone(
        run=params.run_id, memories=() if memory is None else (memory,)
    ):
        raise key_conflict()
    (run,) = found.runs
    hidden = {
        one for merge in run.merged for one in merge.absorbed if memory is None or memory in {one, merge.survivor}
    } | {one.memory for one in run.pruned if memory is None or one.memory == memory}
    hidden |= {one for moved in run.moved for one in moved.memories}
    entries = (await _entries(context, hidden)).values()
    again = {one.event.goal for one in before.events if isinstance(one.event, PurposesRealigned)}
    return UndoResult(
        run=run,
        restored=tuple(sorted(entry.id for entry in entries if entry.state is MemoryState.LIVE)),
        erased=tuple(sorted(entry.id for entry in entries if entry.state is MemoryState.ERASED)),
        stars=tuple(adjusted.namespace for adjusted in run.adjusted if adjusted.previous in again),
    )


async def _run(context: Context, run: UUID) -> RunList | None:
    try:
        return await ask(context.hub.consolidator, ReadRuns(run=run))
    except NotFoundFault:
        return None


async def _entries(context: Context, memories: Iterable[UUID]) -> dict[UUID, Entry]:
    """Return what the catalog knows of these very memories, merged or not, without those moved out of sight since."""
    distinct = tuple(dict.fromkeys(memories))
    seen = await context.visible_among(distinct)
    wanted = tuple(memory for memory in distinct if memory in seen)
    found = await ask(context.hub.store, Describe(memories=wanted, own=True))
    return {entry.id: entry for entry in found}


async def store_schedule(context: Context, params: ChangeSchedules) -> JsonObject:
    """Change when the store sleeps, and return how it stands."""
    await wait_until_replayed(context)
    whens = {Mode.LIGHT: params.light, Mode.DEEP: params.deep, Mode.REM: params.rem}
    wanted = {mode: None if when.lower() == NEVER else when for mode, when in whens.items() if when is not None}
    await ask(context.hub.scheduler, CheckSchedules(whens=wanted))
    target = None if params.anchor is None or params.anchor.lower() == NEVER else params.anchor
    if params.anchor is not None:
        await _check_anchor(context, target)
    changes: list[ChangeSchedule | SwitchSchedule | PermitPruning] = [
        ChangeSchedule(mode=mode, when=when) for mode, when in wanted.items()
    ]
    if params.paused is not None:
        changes.append(SwitchSchedule(paused=params.paused))
    if params.pruning_permitted is not None:
        changes.append(PermitPruning(permitted=params.pruning_permitted))
    for change in changes:
        await ask(context.hub.scheduler, change)
    backups, anchors = context.hub.backups, context.hub.anchors
    try:
        if params.backups is not None:
            await anyio.to_thread.run_sync(backups.keep, params.backups)
        if params.anchor is not None:
            await anyio.to_thread.run_sync(anchors.keep, target)
    except (LogError, OSError) as error:
        raise StorageFault(f"Storage failed: {error}") from error
    after_sleep = {
        "backups": await anyio.to_thread.run_sync(backups.state),
        "anchors": await anyio.to_thread.run_sync(anchors.state),
    }
    return sleep.schedule(await ask(context.hub.scheduler, ReadSchedule())) | after_sleep


async def _check_anchor(context: Context, target: str | None) -> None:
    """Check that anchors can be signed and written to a target, before any part of the schedule is changed.

    Raises:
        InvalidParamsFault: The caller may be on another machine, the log has no key that signs, or it is no target.
    """
    if context.caller is not None:
        raise invalid("anchor", "not over HTTP; run `context-graph schedule --anchor` on the machine of the store")
    if target is None:
        return
    log = context.hub.log
    if not isinstance(log, DuckDBLog) or log.keys.chain is None:
        raise invalid("anchor", "an anchor is signed by the chain key of a log in a folder; this log has none")
    if "\0" in target:
        raise invalid("anchor", "no path contains a null character")
    try:
        await anyio.to_thread.run_sync(context.hub.anchors.check, target)
    except (LogError, OSError) as error:
        raise invalid("anchor", str(error)) from None
