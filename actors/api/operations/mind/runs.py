"""What runs of sleep did, would prune, and how runs stand in answers."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Annotated
from uuid import UUID

import msgspec
from msgspec import Meta

from actors.api.answers import iso, pick, rounded, start_of
from actors.api.context import Context
from actors.api.operations.administration.history import from_log
from actors.api.params.fields import NamespaceFilter, Reading, Share
from actors.consolidator.messages import SALIENCE_THRESHOLD, ReadCandidates, ReadRuns, RunList
from actors.runtime.ask import LONG_TIMEOUT, ask
from actors.runtime.faults import NotFoundFault
from actors.runtime.types import JsonObject
from actors.store.messages import Describe
from events.vocabulary import CausesLinked, ConsolidationSkipped, MemoriesMerged, PatternDiscovered
from events.vocabulary.causes import CausalLink
from events.vocabulary.values import Mode, Pruned, Salience
from projections.memories.entries import Entry
from projections.mind.runs import Run

MAX_SHOWN = 20
"""Merges, and pruned memories, in the answer of a run; `list_consolidations` returns all."""
EXCERPT = 100
"""Characters of a memory in these answers."""
EVENTS_READ = 2_000
"""Latest events of a run that are read for the causes which it found."""
Entries = Mapping[UUID, Entry]
Threshold = Annotated[Share, Meta(description="Prune below it")]


class ListConsolidations(Reading, frozen=True, kw_only=True):
    """List what the latest runs did, and why."""

    run_id: Annotated[UUID | None, Meta(description="This one, memory by memory")] = None
    limit: Annotated[int, Meta(ge=1, le=100, description="Runs")] = 10
    offset: Annotated[int, Meta(ge=0, le=1_000_000, description="Later runs to leave out")] = 0
    mode: Annotated[Mode | None, Meta(description="Only of this mode")] = None
    changed: Annotated[bool, Meta(description="Leave out runs that changed nothing")] = False


class GetPruningCandidates(Reading, frozen=True, kw_only=True):
    """List what would be pruned now, with its salience, and what is protected."""

    limit: Annotated[int, Meta(ge=1, le=1_000, description="Memories")] = 20
    salience_threshold: Threshold = SALIENCE_THRESHOLD
    namespace: NamespaceFilter = None


async def list_consolidations(context: Context, params: ListConsolidations) -> JsonObject:
    wanted = ReadRuns(
        run=params.run_id,
        limit=params.limit,
        offset=params.offset,
        mode=params.mode,
        changed=params.changed,
        namespaces=context.visible,
    )
    found = await ask(context.hub.consolidator, wanted)
    if params.run_id is None:
        summaries = [summary(run, running=run.run == found.running) for run in found.runs]
        return {"runs": summaries, "skipped": skipped(found.skipped)}
    (run,) = found.runs
    entries = await known_entries(context, memories_in(run.merged, run.pruned))
    causes = await _causes(context, run)
    details = _details(run, found.patterns[run.run], entries, causes)
    return {"runs": [summary(run, running=run.run == found.running) | details], "skipped": []}


async def get_pruning_candidates(context: Context, params: GetPruningCandidates) -> JsonObject:
    namespace = context.namespace_or_all(params.namespace)
    message = ReadCandidates(namespace=namespace, salience_threshold=params.salience_threshold)
    found = await ask(context.hub.consolidator, message, LONG_TIMEOUT)
    some = found.found[: params.limit]
    entries = await known_entries(context, (one.memory for one in some))
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


async def _causes(context: Context, run: Run) -> list[CausalLink]:
    """Return the edges from causes to effects that a run found, of which the caller sees both ends."""
    events = await from_log(context.hub.log.get, run.events[-EVENTS_READ:])
    links = [link for one in events if isinstance(one.event, CausesLinked) for link in one.event.links]
    seen = await context.visible_among({end for link in links for end in (link.source, link.target)})
    return [link for link in links if {link.source, link.target} <= seen]


async def known_entries(context: Context, memories: Iterable[UUID]) -> dict[UUID, Entry]:
    """Return the catalog's own entries of these memories, merged or not, without those that the caller doesn't see."""
    distinct = tuple(dict.fromkeys(memories))
    seen = await context.visible_among(distinct)
    wanted = tuple(memory for memory in distinct if memory in seen)
    found = await ask(context.hub.store, Describe(memories=wanted, own=True))
    return {entry.id: entry for entry in found}


def memories_in(merged: Iterable[MemoriesMerged], pruned: Iterable[Pruned]) -> Iterator[UUID]:
    """Yield the memories that were merged or pruned, and the survivors."""
    for one in merged:
        yield from (one.survivor, *one.absorbed)
    yield from (one.memory for one in pruned)


def summary(run: Run, *, running: bool = False) -> JsonObject:
    """Return a run without its memories; `running` tells one that is under way from one that was cut off."""
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


def pattern(found: PatternDiscovered) -> JsonObject:
    """Return a pattern with its members."""
    return {
        "pattern_id": str(found.pattern),
        "memory_count": len(found.members),
        **pick(found, "description", "confidence", "namespace", "coherence", "members"),
    }


def skipped(skips: Iterable[tuple[datetime, ConsolidationSkipped]]) -> list[JsonObject]:
    """Return scheduled runs that did not begin, and why."""
    return [{"at": iso(at), **pick(one, "mode", "trigger", "reason")} for at, one in skips]


def _details(
    run: Run, patterns: Sequence[PatternDiscovered], entries: Entries, causes: Sequence[CausalLink]
) -> JsonObject:
    return {
        "merges": [merge(one, entries) for one in run.merged],
        "pruned": [pruned(one, entries) for one in run.pruned],
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
        "moved": [pick(one, "source", "target", "memories") for one in run.moved],
    }


def merge(merged: MemoriesMerged, entries: Entries) -> JsonObject:
    """Return the survivor and the absorbed memories, with the starts of those that are known."""
    absorbed = [
        {"id": str(memory), "similarity": rounded(similarity)} | _content(memory, entries)
        for memory, similarity in zip(merged.absorbed, merged.similarities, strict=True)
    ]
    return {"survivor": str(merged.survivor), "absorbed": absorbed} | _content(merged.survivor, entries)


def pruned(one: Pruned, entries: Entries) -> JsonObject:
    """Return a pruned memory with the parts of its salience."""
    answer = {"id": str(one.memory), "salience": rounded(one.salience.total), "parts": _parts(one.salience)}
    return answer | _content(one.memory, entries)


def _content(memory: UUID, entries: Entries) -> JsonObject:
    return {"content": start_of(entries[memory], EXCERPT)} if memory in entries else {}


def _parts(salience: Salience) -> dict[str, float]:
    return pick(salience, *salience.__struct_fields__)


async def find_run(context: Context, run: UUID) -> RunList | None:
    """Return a run; None if there is none of this id."""
    try:
        return await ask(context.hub.consolidator, ReadRuns(run=run))
    except NotFoundFault:
        return None
