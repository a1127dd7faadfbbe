"""Answers about sleep: runs, dry runs, dreams and the schedule."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from uuid import UUID

import msgspec

from actors.api.responses.common import iso, pick, rounded, start_of
from actors.consolidator.goals.drift import Drift
from actors.consolidator.messages import (
    Assessment,
    DreamPhase,
    DreamState,
    PruningCandidates,
    RunList,
    RunResult,
    UndoResult,
)
from actors.runtime.types import JsonObject
from actors.scheduler.messages import ScheduleState
from events.vocabulary import ConsolidationSkipped, MemoriesMerged, PatternDiscovered
from events.vocabulary.causes import CausalLink
from events.vocabulary.values import Outcome, Pruned, Salience
from projections.memories.catalog import Entry
from projections.mind.runs import Run

MAX_SHOWN = 20
"""Merges, and pruned memories, in the answer of a run; `list_consolidations` returns all."""

EXCERPT = 100
"""Characters of a memory in these answers."""

Entries = Mapping[UUID, Entry]


def consolidation(run: RunResult, entries: Entries) -> JsonObject:
    """Return the answer of `consolidate_memories`."""
    return {
        "run_id": str(run.run),
        **pick(run, "mode", "namespace", "outcome", "reason", "dry_run"),
        "can_be_undone": run.outcome is Outcome.FINISHED and not run.dry_run and run.counts.any_change,
        "pruned_count": run.counts.pruned,
        "merged_count": run.counts.merged,
        "clusters_discovered": run.counts.clusters,
        "new_patterns": [pattern(one) for one in run.patterns],
        "final_memory_count": run.memories,
        "duration_ms": round(run.milliseconds),
        "memories_looked_at": run.counts.looked_at,
        "links_strengthened": run.counts.strengthened,
        "shortcuts": run.counts.shortcuts,
        "memories_replayed": run.counts.replayed,
        "goals_adjusted": run.counts.goals_adjusted,
        "drift": [_drift(namespace, found) for namespace, found in run.drifts.items()],
        "merges": [_merge(one, entries) for one in run.merged[:MAX_SHOWN]],
        "merges_not_shown": max(0, len(run.merged) - MAX_SHOWN),
        "pruned": [_pruned(one, entries) for one in run.pruned[:MAX_SHOWN]],
        "pruned_not_shown": max(0, len(run.pruned) - MAX_SHOWN),
    }


def memories_shown(run: RunResult) -> Iterable[UUID]:
    """Return the memories that the answer of a run describes."""
    return _memories(run.merged[:MAX_SHOWN], run.pruned[:MAX_SHOWN])


def memories_hidden(run: Run) -> Iterable[UUID]:
    """Return the memories that a run merged or pruned, and the survivors."""
    return _memories(run.merged, run.pruned)


def _memories(merged: Iterable[MemoriesMerged], pruned: Iterable[Pruned]) -> Iterable[UUID]:
    for merge in merged:
        yield merge.survivor
        yield from merge.absorbed
    yield from (one.memory for one in pruned)


def pattern(found: PatternDiscovered) -> JsonObject:
    """Return a pattern with its members."""
    return {
        "pattern_id": str(found.pattern),
        "memory_count": len(found.members),
        **pick(found, "description", "confidence", "namespace", "coherence", "members"),
    }


def undone(found: UndoResult) -> JsonObject:
    """Return the answer of `undo_consolidation`."""
    return {
        "run_id": str(found.run.run),
        "mode": found.run.mode.value,
        "restored_count": len(found.restored),
        "restored": [str(memory) for memory in found.restored],
        "erased_since": [str(memory) for memory in found.erased],
        "north_star_restored_in": list(found.stars),
    }


def runs(found: RunList, entries: Entries, causes: Sequence[CausalLink] = (), *, whole: bool) -> JsonObject:
    """Return the answer of `list_consolidations`: summaries of runs, or one run memory by memory, with its causes."""
    return {
        "runs": [
            _run(one, running=one.run == found.running)
            | (_details(one, found.patterns[one.run], entries, causes) if whole else {})
            for one in found.runs
        ],
        "skipped": [] if whole else _skipped(found.skipped),
    }


def candidates(found: PruningCandidates, some: Sequence[Assessment], entries: Entries) -> JsonObject:
    """Return the answer of `get_pruning_candidates`: the prunable first, by ascending salience."""
    prunable = sum(one.protection is None for one in found.found)
    return {
        "candidates": [
            {
                "memory_id": str(one.memory),
                "namespace": one.namespace,
                "salience": rounded(one.salience.total),
                "parts": _parts(one.salience),
                "protected": one.protection,
                "content": start_of(entries.get(one.memory), EXCERPT),
            }
            for one in some
        ],
        "would_be_pruned": prunable,
        "protected": len(found.found) - prunable,
        "memories_looked_at": found.looked_at,
    }


def dream_started(run: UUID, phase: DreamPhase) -> JsonObject:
    """Return the immediate answer of `trigger_dream`."""
    return {"triggered": True, "phase": phase.value, "run_id": str(run)}


def dream(state: DreamState, schedule_: ScheduleState, now: datetime) -> JsonObject:
    """Return the answer of `get_dream_status`."""
    last = state.last
    since = None if last is None or last.finished_at is None else (now - last.finished_at).total_seconds()
    if state.mode is None:
        activity = "Awake"
    else:
        activity = state.phase.value.upper() if state.phase else state.mode.value.capitalize()
    return {
        "state": activity,
        "is_dreaming": state.phase is not None or state.dreams > 0,
        "running": None if state.running is None else _run(state.running, running=True),
        "completed_cycles": state.completed,
        "last_dream": None if last is None else _run(last),
        "time_since_last_dream_secs": None if since is None else round(since, 1),
        "abort_latency_ms": None if state.abort_milliseconds is None else rounded(state.abort_milliseconds),
        "scheduler": schedule(schedule_),
    }


def schedule(state: ScheduleState) -> JsonObject:
    """Return the sleep schedule."""
    return {
        "paused": state.paused,
        "pruning_permitted": state.permitted,
        "idle_after_minutes": round(state.idle_after.total_seconds() / 60),
        "modes": {of.mode.value: {"when": of.when, "next": iso(of.next), "last": iso(of.last)} for of in state.modes},
        "skipped": _skipped(state.skips),
    }


def _skipped(skips: Iterable[tuple[datetime, ConsolidationSkipped]]) -> list[JsonObject]:
    return [{"at": iso(at), **pick(one, "mode", "trigger", "reason")} for at, one in skips]


def _run(run: Run, *, running: bool = False) -> JsonObject:
    finished = run.finished
    return {
        "run_id": str(run.run),
        **pick(run, "mode", "trigger", "namespace", "started_at", "finished_at", "undone_at"),
        **pick(run.params, "dry_run", "rationale"),
        "outcome": finished.outcome.value if finished else "running" if running else "interrupted",
        "reason": finished.reason if finished else None,
        "counts": msgspec.to_builtins(finished.counts) if finished else None,
        "final_memory_count": finished.memories if finished else None,
        "duration_ms": round(finished.milliseconds) if finished else None,
        "undone_memories": [str(memory) for memory in run.undone],
        "can_be_undone": run.can_be_undone,
    }


def _details(
    run: Run, patterns: Sequence[PatternDiscovered], entries: Entries, causes: Sequence[CausalLink]
) -> JsonObject:
    return {
        "merges": [_merge(one, entries) for one in run.merged],
        "pruned": [_pruned(one, entries) for one in run.pruned],
        "links_strengthened": msgspec.to_builtins(run.strengthened),
        "shortcuts": msgspec.to_builtins(run.shortcuts),
        "memories_replayed": [str(memory) for memory in run.replayed],
        "goals_adjusted": [
            {"namespace": one.namespace, "previous": str(one.previous), "goal": str(one.goal), "drift": one.level.value}
            for one in run.adjusted
        ],
        "patterns": [pattern(one) for one in patterns],
        "causes": [
            {"cause": str(one.source), "effect": str(one.target), **pick(one, "rule", "weight")} for one in causes
        ],
        "moved": [{**pick(one, "source", "target", "memories")} for one in run.moved],
    }


def _merge(merged: MemoriesMerged, entries: Entries) -> JsonObject:
    absorbed = [
        {"id": str(memory), "similarity": rounded(similarity)} | _content(memory, entries)
        for memory, similarity in zip(merged.absorbed, merged.similarities, strict=True)
    ]
    return {"survivor": str(merged.survivor), "absorbed": absorbed} | _content(merged.survivor, entries)


def _pruned(one: Pruned, entries: Entries) -> JsonObject:
    answer = {"id": str(one.memory), "salience": rounded(one.salience.total), "parts": _parts(one.salience)}
    return answer | _content(one.memory, entries)


def _content(memory: UUID, entries: Entries) -> JsonObject:
    return {"content": start_of(entries[memory], EXCERPT)} if memory in entries else {}


def _parts(salience: Salience) -> dict[str, float]:
    return pick(salience, *salience.__struct_fields__)


def _drift(namespace: str, found: Drift) -> JsonObject:
    return {"namespace": namespace, **pick(found, "level", "similarity")}
