"""Answers about sleep: what a run did, what one would do, and when the next one begins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from actors.api.responses.memories import iso, rounded
from events.vocabulary.values import Outcome

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from actors.consolidator.messages import (
        DreamPhase,
        DreamState,
        Drift,
        PruningCandidate,
        PruningCandidates,
        RunList,
        RunResult,
        UndoResult,
    )
    from actors.scheduler.messages import ScheduleState
    from events.vocabulary import MemoriesMerged, PatternDiscovered
    from events.vocabulary.values import Counts, Pruned, Salience
    from projections.memories.catalog import Entry
    from projections.mind.runs import Run

SHOWN = 20
"""Sets that were merged, and memories that were pruned, which a run tells of; the list of runs has all."""

EXCERPT = 100
"""Characters of a memory by which a person recognises it."""

Entries = Mapping["UUID", "Entry"]


def slept(run: RunResult, entries: Entries) -> dict[str, Any]:
    """Return what `consolidate_memories` answers: the fields of seed 003, and what was done to whom."""
    return {
        "run_id": str(run.run),
        "mode": run.mode.value,
        "namespace": run.namespace,
        "outcome": run.outcome.value,
        "reason": run.reason,
        "pruned_count": run.counts.pruned,
        "merged_count": run.counts.merged,
        "clusters_discovered": run.counts.clusters,
        "new_patterns": [pattern(one) for one in run.patterns],
        "final_memory_count": run.memories,
        "duration_ms": round(run.milliseconds),
        "dry_run": run.dry_run,
        "memories_looked_at": run.counts.looked_at,
        "links_strengthened": run.counts.strengthened,
        "shortcuts": run.counts.shortcuts,
        "memories_replayed": run.counts.replayed,
        "goals_adjusted": run.counts.goals_adjusted,
        "drift": [_drift(namespace, found) for namespace, found in run.drifts.items()],
        "merges": [_merge(one, entries) for one in run.merged[:SHOWN]],
        "merges_not_shown": max(0, len(run.merged) - SHOWN),
        "pruned": [_pruned(one, entries) for one in run.pruned[:SHOWN]],
        "pruned_not_shown": max(0, len(run.pruned) - SHOWN),
    }


def shown_of(run: RunResult) -> Iterable[UUID]:
    """Yield the memories that the answer of a run tells of."""
    for merge in run.merged[:SHOWN]:
        yield merge.survivor
        yield from merge.absorbed
    yield from (one.memory for one in run.pruned[:SHOWN])


def hidden_by(run: Run) -> Iterable[UUID]:
    """Yield the memories that a run hid, and those that answer for them."""
    for merge in run.merged:
        yield merge.survivor
        yield from merge.absorbed
    yield from (one.memory for one in run.pruned)


def pattern(found: PatternDiscovered) -> dict[str, Any]:
    """Return a pattern as seed 003 has it, with the words and memories that it stands for."""
    return {
        "pattern_id": str(found.pattern),
        "description": found.description,
        "memory_count": len(found.members),
        "confidence": rounded(found.confidence),
        "namespace": found.namespace,
        "coherence": rounded(found.coherence),
        "members": [str(member) for member in found.members],
    }


def undone(found: UndoResult) -> dict[str, Any]:
    """Return what `undo_consolidation` answers."""
    return {
        "run_id": str(found.run.run),
        "mode": found.run.mode.value,
        "restored_count": len(found.restored),
        "restored": [str(memory) for memory in found.restored],
        "erased_since": [str(memory) for memory in found.erased],
        "north_star_restored_in": list(found.stars),
    }


def runs(found: RunList, entries: Entries, *, whole: bool) -> dict[str, Any]:
    """Return what `list_consolidations` answers: runs in short, or a whole one memory by memory."""
    return {
        "runs": [
            _run(one, under_way=one.run == found.running)
            | (_details(one, found.patterns[one.run], entries) if whole else {})
            for one in found.runs
        ],
        "skipped": []
        if whole
        else [
            {"at": iso(at), "mode": one.mode.value, "trigger": one.trigger.value, "reason": one.reason}
            for at, one in found.skipped
        ],
    }


def candidates(found: PruningCandidates, some: Sequence[PruningCandidate], entries: Entries) -> dict[str, Any]:
    """Return what `get_pruning_candidates` answers: the prunable first, the least salient of them before the others."""
    prunable = sum(one.protection is None for one in found.found)
    return {
        "candidates": [
            {
                "memory_id": str(one.memory),
                "namespace": one.namespace,
                "salience": rounded(one.salience.total),
                "parts": _parts(one.salience),
                "protected": one.protection,
                "content": excerpt(entries.get(one.memory)),
            }
            for one in some
        ],
        "would_be_pruned": prunable,
        "protected": len(found.found) - prunable,
        "memories_looked_at": found.looked_at,
    }


def begun(run: UUID, phase: DreamPhase) -> dict[str, Any]:
    """Return what `trigger_dream` answers at once."""
    return {"triggered": True, "phase": phase.value, "run_id": str(run)}


def dream(state: DreamState, schedule_: ScheduleState, now: datetime) -> dict[str, Any]:
    """Return what `get_dream_status` answers."""
    last = state.last
    return {
        "state": _state(state),
        "is_dreaming": state.phase is not None or state.dreams > 0,
        "running": None if state.running is None else _run(state.running, under_way=True),
        "completed_cycles": state.completed,
        "last_dream": None if last is None else _run(last),
        "time_since_last_dream_secs": None
        if last is None or last.finished_at is None
        else round((now - last.finished_at).total_seconds(), 1),
        "abort_latency_ms": None if state.abort_milliseconds is None else rounded(state.abort_milliseconds),
        "scheduler": schedule(schedule_),
    }


def _state(state: DreamState) -> str:
    """Return what goes on, as facts 10.5 names it; other sleep by its mode."""
    if state.mode is None:
        return "Awake"
    return state.phase.value.upper() if state.phase else state.mode.value.capitalize()


def schedule(state: ScheduleState) -> dict[str, Any]:
    """Return when the store sleeps."""
    return {
        "paused": state.paused,
        "pruning_permitted": state.permitted,
        "idle_after_minutes": round(state.idle_after.total_seconds() / 60),
        "modes": {of.mode.value: {"when": of.when, "next": iso(of.next), "last": iso(of.last)} for of in state.modes},
        "skipped": [
            {"at": iso(at), "mode": one.mode.value, "trigger": one.trigger.value, "reason": one.reason}
            for at, one in state.skips
        ],
    }


def excerpt(entry: Entry | None) -> str | None:
    """Return the beginning of a memory, on one line; None of one that was erased."""
    if entry is None or entry.body is None:
        return None
    text = " ".join(entry.body.text.split())
    return text if len(text) <= EXCERPT else text[: EXCERPT - 1] + "…"


def _run(run: Run, *, under_way: bool = False) -> dict[str, Any]:
    finished = run.finished
    outcome = finished.outcome.value if finished else "running" if under_way else "interrupted"
    return {
        "run_id": str(run.run),
        "mode": run.mode.value,
        "trigger": run.trigger.value,
        "namespace": run.namespace,
        "dry_run": run.params.dry_run,
        "started_at": iso(run.started_at),
        "finished_at": iso(run.finished_at),
        "outcome": outcome,
        "reason": finished.reason if finished else None,
        "rationale": run.params.rationale,
        "counts": _counts(finished.counts) if finished else None,
        "final_memory_count": finished.memories if finished else None,
        "duration_ms": round(finished.milliseconds) if finished else None,
        "undone_at": iso(run.undone_at),
        "undone_memories": [str(memory) for memory in run.undone],
        "can_be_undone": bool(
            finished and finished.outcome is Outcome.FINISHED and not run.params.dry_run and run.undone_at is None
        ),
    }


def _details(run: Run, patterns: Sequence[PatternDiscovered], entries: Entries) -> dict[str, Any]:
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
    }


def _counts(counts: Counts) -> dict[str, int]:
    return msgspec.to_builtins(counts)


def _merge(merged: MemoriesMerged, entries: Entries) -> dict[str, Any]:
    answer: dict[str, Any] = {
        "survivor": str(merged.survivor),
        "absorbed": [
            {"id": str(memory), "similarity": rounded(similarity)} | _content(memory, entries)
            for memory, similarity in zip(merged.absorbed, merged.similarities, strict=True)
        ],
    }
    return answer | _content(merged.survivor, entries)


def _pruned(one: Pruned, entries: Entries) -> dict[str, Any]:
    return {
        "id": str(one.memory),
        "salience": rounded(one.salience.total),
        "parts": _parts(one.salience),
    } | _content(one.memory, entries)


def _content(memory: UUID, entries: Entries) -> dict[str, Any]:
    return {"content": excerpt(entries[memory])} if memory in entries else {}


def _parts(salience: Salience) -> dict[str, float]:
    return {name: rounded(value) for name, value in msgspec.structs.asdict(salience).items()}


def _drift(namespace: str, found: Drift) -> dict[str, Any]:
    return {"namespace": namespace, "level": found.level.value, "similarity": rounded(found.similarity)}
