"""Operations that put the store to sleep: consolidation, taking it back, and dreams."""

from typing import Annotated
from uuid import UUID

import anyio.to_thread
from msgspec import Meta

from actors.api.answers import pick
from actors.api.context import Context, find_request, ignore_progress, reporter
from actors.api.idempotency import key_conflict
from actors.api.operations.mind import runs
from actors.api.params.fields import Name, NamespaceFilter, Reason
from actors.api.params.parsing import Params
from actors.consolidator.messages import SALIENCE_THRESHOLD, Consolidate, DreamPhase, RunResult, UndoResult, UndoRun
from actors.runtime.ask import LONG_TIMEOUT, ask
from actors.runtime.settings import SleepMode
from actors.runtime.types import JsonObject
from actors.store.messages import RequestResult
from events.vocabulary import ConsolidationUndone, PurposesRealigned
from events.vocabulary.values import Mode, Outcome
from projections.mind.runs import hidden_by
from projections.projection import MemoryState

LOGGED = ("mode", "namespace", "salience_threshold", "max_memories", "dry_run", "rationale")
"""Parameters of a run that are logged, and that a repeated request must have too."""
PAUSE = 60.0
"""Seconds after a dream before another one begins, unless it is forced."""


class ConsolidateMemories(Params, frozen=True, kw_only=True):
    """Clean up, once a minute: light merges duplicates and prunes memories of low salience.

    deep also merges near duplicates and links groups; rem also finds patterns and drift. dry_run only shows the
    result; undo_consolidation takes a run back.
    """

    mode: Annotated[SleepMode, Meta(description="How deep")] = SleepMode.LIGHT
    salience_threshold: runs.Threshold = SALIENCE_THRESHOLD
    max_memories: Annotated[int, Meta(ge=0, le=1_000_000_000, description="Latest only; 0 for all")] = 0
    dry_run: Annotated[bool, Meta(description="Change nothing")] = False
    namespace: NamespaceFilter = None
    max_seconds: Annotated[
        Annotated[float, Meta(gt=0, le=600)] | None, Meta(description="Stop after it without a change")
    ] = None
    rationale: Annotated[Reason | None, Meta(description="Why, for the audit")] = None


class MergeCopies(Params, frozen=True, kw_only=True):
    """Merge exact copies in a namespace, as a scheduled run does, and change nothing else."""

    namespace: Name
    max_seconds: Annotated[float, Meta(gt=0, le=600)]
    rationale: Reason | None = None


class UndoConsolidation(Params, frozen=True, kw_only=True):
    """Take back what a run did."""

    run_id: Annotated[UUID, Meta(description="Of list_consolidations")]
    memory_id: Annotated[UUID | None, Meta(description="Only this memory")] = None


class TriggerDream(Params, frozen=True, kw_only=True):
    """Replay fading memories, strengthen walked links, look for patterns, in the background.

    Use it when entropy stays above .7 and coherence below .4.
    """

    not_blank = ("rationale",)

    rationale: Annotated[str, Meta(min_length=1, max_length=1_024, description="Why, for the audit")]
    phase: Annotated[DreamPhase, Meta(description="nrem replays, rem looks for patterns")] = DreamPhase.FULL_CYCLE
    force: Annotated[bool, Meta(description="Despite the pause of a minute")] = False
    abort_on_query: Annotated[bool, Meta(description="Stop when somebody searches")] = True
    blocking: Annotated[bool, Meta(description="Answer when it has ended")] = False
    namespace: NamespaceFilter = None


async def consolidate_memories(context: Context, params: ConsolidateMemories) -> JsonObject:
    wanted = Consolidate(
        run=context.correlation_id,
        mode=Mode(params.mode),
        namespace=context.namespace_or_all(params.namespace),
        salience_threshold=params.salience_threshold,
        max_memories=params.max_memories,
        dry_run=params.dry_run,
        max_seconds=params.max_seconds,
        rationale=params.rationale,
        on_progress=reporter(context.progress),
    )
    return await _consolidate(context, wanted)


async def merge_copies(context: Context, params: MergeCopies) -> JsonObject:
    """Merge memories whose texts are the same but for white space."""
    wanted = Consolidate(
        run=context.correlation_id,
        mode=Mode.LIGHT,
        namespace=params.namespace,
        salience_threshold=0.0,
        thorough=False,
        max_seconds=params.max_seconds,
        rationale=params.rationale,
    )
    return await _consolidate(context, wanted)


async def _consolidate(context: Context, wanted: Consolidate) -> JsonObject:
    slept: RunResult = await _earlier_run(context, wanted) or await ask(context.hub.consolidator, wanted, LONG_TIMEOUT)
    shown = runs.memories_in(slept.merged[: runs.MAX_SHOWN], slept.pruned[: runs.MAX_SHOWN])
    return _consolidation(wanted, slept, await runs.known_entries(context, shown))


async def undo_consolidation(context: Context, params: UndoConsolidation) -> JsonObject:
    if before := await find_request(context):
        found = await _earlier_undo(context, params, before)
    else:
        undo = UndoRun(run=params.run_id, memory=params.memory_id, request=context.correlation_id, actor=context.actor)
        found = await ask(context.hub.consolidator, undo)
    return {
        "run_id": str(found.run.run),
        "mode": found.run.mode.value,
        "restored_count": len(found.restored),
        "restored": [str(memory) for memory in found.restored],
        "erased_since": [str(memory) for memory in found.erased],
        "forgotten_since": [str(memory) for memory in found.forgotten],
        "north_star_restored_in": list(found.stars),
    }


async def trigger_dream(context: Context, params: TriggerDream) -> JsonObject:
    dream = Consolidate(
        run=context.correlation_id,
        mode=Mode.DREAM,
        phase=params.phase,
        namespace=context.namespace_or_all(params.namespace),
        salience_threshold=0.0,
        abort_on_query=params.abort_on_query,
        pause=0.0 if params.force else PAUSE,
        rationale=params.rationale,
        on_progress=reporter(context.progress if params.blocking else ignore_progress),
    )
    answer: JsonObject = {"triggered": True, "phase": params.phase.value, "run_id": str(dream.run)}
    slept = await _earlier_run(context, dream)
    if params.blocking:
        slept = slept or await ask(context.hub.consolidator, dream, LONG_TIMEOUT)
        return answer | _consolidation(dream, slept, {})
    if slept is None:
        begun = context.hub.consolidator.ask(dream, block=False)
        await anyio.to_thread.run_sync(begun.get)  # raises what refuses it; its end isn't waited for
    return answer


async def _earlier_run(context: Context, wanted: Consolidate) -> RunResult | None:
    """Return what a run did that this request began before; None if it wasn't begun, or has to begin again.

    One that was cut off or stopped changed nothing, and a dry run changes nothing, so these begin again.
    """
    found = None if context.key is None else await runs.find_run(context, wanted.run)
    if found is None:
        return None
    (run,) = found.runs
    if any(getattr(run.params, name) != getattr(wanted, name) for name in LOGGED):
        raise key_conflict()
    finished = run.finished
    if finished is None or finished.outcome is not Outcome.FINISHED or wanted.dry_run:
        return None
    return RunResult(
        finished=finished,
        merged=run.merged,
        pruned=run.pruned,
        patterns=found.patterns[run.run],
        drifts={},  # measured and told, but not written down
    )


async def _earlier_undo(context: Context, params: UndoConsolidation, before: RequestResult) -> UndoResult:
    """Return what this very request took back, as far as nothing else happened to it since."""
    memory = params.memory_id
    found = await runs.find_run(context, params.run_id)
    if found is None or before.events[0].event != ConsolidationUndone(
        run=params.run_id, memories=() if memory is None else (memory,)
    ):
        raise key_conflict()
    (run,) = found.runs
    moved = {one for moved in run.moved for one in moved.memories}
    entries = (await runs.known_entries(context, hidden_by(run.merged, run.pruned, memory) | moved)).values()
    again = {one.event.goal for one in before.events if isinstance(one.event, PurposesRealigned)}
    return UndoResult(
        run=run,
        restored=tuple(sorted(entry.id for entry in entries if entry.state is MemoryState.LIVE)),
        erased=tuple(sorted(entry.id for entry in entries if entry.state is MemoryState.ERASED)),
        forgotten=tuple(sorted(entry.id for entry in entries if entry.state is MemoryState.FORGOTTEN)),
        stars=tuple(adjusted.namespace for adjusted in run.adjusted if adjusted.previous in again),
    )


def _consolidation(wanted: Consolidate, run: RunResult, entries: runs.Entries) -> JsonObject:
    finished, counts = run.finished, run.finished.counts
    return {
        "run_id": str(finished.run),
        **pick(wanted, "mode", "namespace", "dry_run"),
        **pick(finished, "outcome", "reason"),
        "can_be_undone": finished.outcome is Outcome.FINISHED and not wanted.dry_run and counts.any_change,
        "pruned_count": counts.pruned,
        "merged_count": counts.merged,
        "clusters_discovered": counts.clusters,
        "new_patterns": [runs.pattern(one) for one in run.patterns],
        "final_memory_count": finished.memories,
        "duration_ms": round(finished.milliseconds),
        "memories_looked_at": counts.looked_at,
        "links_strengthened": counts.strengthened,
        "shortcuts": counts.shortcuts,
        "memories_replayed": counts.replayed,
        "goals_adjusted": counts.goals_adjusted,
        "drift": [
            {"namespace": namespace, **pick(found, "level", "similarity")} for namespace, found in run.drifts.items()
        ],
        "merges": [runs.merge(one, entries) for one in run.merged[: runs.MAX_SHOWN]],
        "merges_not_shown": max(0, len(run.merged) - runs.MAX_SHOWN),
        "pruned": [runs.pruned(one, entries) for one in run.pruned[: runs.MAX_SHOWN]],
        "pruned_not_shown": max(0, len(run.pruned) - runs.MAX_SHOWN),
    }
