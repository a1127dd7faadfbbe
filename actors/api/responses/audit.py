"""What happened, in words: every event as the log tells it, and those of one memory's life as that memory saw them.

No sentence holds what a memory says, or the words of a goal or pattern, which are taken from memories.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from events.storage.log import Envelope
from events.vocabulary import (
    ClustersFormed,
    ConsolidationFinished,
    ConsolidationSkipped,
    ConsolidationStarted,
    ConsolidationUndone,
    CouplingAdjusted,
    DriftDetected,
    Event,
    FocusMoved,
    GoalAdjusted,
    GoalDiscovered,
    LinksStrengthened,
    LinksTraversed,
    MemoriesLinked,
    MemoriesMerged,
    MemoriesPruned,
    MemoriesReplayed,
    MemoryErased,
    MemoryFaded,
    MemoryForgotten,
    MemoryIgnited,
    MemoryRecalled,
    MemoryRestored,
    MemoryStored,
    NorthStarChosen,
    PatternDiscovered,
    PruningPermitted,
    PurposesRealigned,
    ScheduleChanged,
    ScheduleSwitched,
    ShortcutsDrawn,
    Shredded,
    SpacesDeclared,
    WorkspaceConflicted,
    WorkspaceEmptied,
)
from events.vocabulary.codec import decompress
from events.vocabulary.values import Salience
from projections.projection import event_name, is_shredded_memory

SHOWN = 16
"""Hexadecimal digits that are shown of a question's hash."""
SOME = 3
"""Ids that are named of many."""


def happening(envelope: Envelope, memory: UUID | None = None) -> dict[str, Any]:
    """Return an event in words: as the log tells it, or as what happened to a memory that it touched."""
    told = _of_log(envelope) if memory is None else _of_memory(envelope, memory)
    return {
        "seq": envelope.seq,
        "at": envelope.at.isoformat(),
        "kind": event_name(envelope.event),
        "actor": envelope.actor,
        "request": str(envelope.correlation_id),
        "cause": None if envelope.causation_id is None else str(envelope.causation_id),
        "what": told,
    }


# ── as the log tells it ─────────────────────────────────────────────────────────────────────────────


def _of_log(envelope: Envelope) -> str:
    match envelope.event:
        case MemoryStored() as event:
            return f"memory {envelope.id} was {_stored(event)}"
        case Shredded() as event if is_shredded_memory(event):
            return f"memory {envelope.id} was stored; it was erased since, and nobody can read it any more"
        case Shredded() as event:
            return f"a {event_name(event).partition('_')[0]} was found; nobody can read its words any more"
        case MemoryRecalled(memories=memories, query_sha256=query):
            return f"an answer contained {_several(memories)}, best first; hash of the question {_hash(query)}"
        case MemoryForgotten(memory=memory) | MemoryRestored(memory=memory) | MemoryErased(memory=memory):
            return f"memory {memory} was {_gone_or_back(envelope.event)}"
        case MemoriesLinked() as event:
            return f"{event.source} was linked to {_named(event.targets)} ({event.relation}, weight {event.weight:.2f})"
        case LinksTraversed(steps=steps):
            ends = {end for step in steps for end in (step.source, step.target)}
            return f"a path along {len(steps)} links between {len(ends)} memories was shown"
        case SpacesDeclared() as event:
            return f"from here on models of the profile {event.profile} fill the {len(event.spaces)} spaces"
        case ScheduleChanged(mode=mode, when=when):
            return f"{mode} sleep was set to {when or 'never'}"
        case ScheduleSwitched(paused=paused):
            return f"scheduled sleep was {'paused' if paused else 'switched on again'}"
        case PruningPermitted(permitted=permitted):
            return f"scheduled sleep {'may' if permitted else 'may no longer'} prune, and merge what is no exact copy"
        case _:
            return _of_mind(envelope.event)


def _of_mind(event: Event) -> str:
    """Return what goals, the workspace and drift are about."""
    match event:
        case GoalDiscovered() as event:
            found = f"goal {event.goal} ({event.level}) was found in {len(event.members)} memories of {event.namespace}"
            return f"{found}, coherence {event.coherence:.2f}"
        case NorthStarChosen(namespace=namespace, goal=goal, previous=previous):
            return f"goal {goal} became the North Star of {namespace}" + (f" after {previous}" if previous else "")
        case PurposesRealigned(goal=goal, memories=memories):
            return f"{_several(memories)} measured against goal {goal}"
        case DriftDetected() as event:
            drift = f"drift of {event.namespace} from goal {event.goal} reached {event.level}"
            return f"{drift}: the latest {event.memories} memories are {event.similarity:.2f} aligned"
        case FocusMoved(subject=subject, candidates=candidates):
            focus = "a question" if subject is None else f"memory {subject}"
            return f"the workspace turned to {focus}, and measured {_several([one.memory for one in candidates])}"
        case MemoryIgnited(memory=memory) | MemoryFaded(memory=memory):
            return f"memory {memory} {_attended(event)}"
        case WorkspaceConflicted(memories=memories):
            return f"several are in the workspace at once: {_several(memories)}"
        case WorkspaceEmptied():
            return "nothing is left in the workspace"
        case CouplingAdjusted(previous=previous, coupling=coupling):
            return f"the coupling K was set from {previous:g} to {coupling:g}"
        case _:
            return _of_sleep(event)


def _of_sleep(event: Event) -> str:
    match event:
        case ConsolidationStarted() as event:
            whose = event.namespace or "all namespaces"
            dry = ", as a dry run" if event.dry_run else ""
            why = _why(event.rationale)
            return f"a {event.mode} run over {whose} began by {event.trigger}{dry} (run {event.run}){why}"
        case ConsolidationFinished(reason=str(reason)) as event:
            return f"the run was {event.outcome}: {reason} (run {event.run})"
        case ConsolidationFinished(counts=counts) as event:
            did = (
                f"{counts.merged} merged, {counts.pruned} pruned, {counts.clusters} groups, {counts.patterns} patterns"
            )
            return f"the run {event.outcome} after {event.milliseconds / 1e3:.1f} s: {did} (run {event.run})"
        case ConsolidationUndone() as event:
            what = f" for {_named(event.memories)}" if event.memories else ""
            return f"run {event.run} was undone{what}"
        case ConsolidationSkipped() as event:
            return f"a {event.mode} run by {event.trigger} didn't begin: {event.reason}"
        case (
            MemoriesMerged()
            | MemoriesPruned()
            | ClustersFormed()
            | LinksStrengthened()
            | ShortcutsDrawn()
            | MemoriesReplayed()
            | PatternDiscovered()
            | GoalAdjusted()
        ):
            return f"{_decided(event)} (run {event.run})"
        case _:
            raise TypeError(f"no words for {type(event).__name__}")


def _decided(event: Event) -> str:
    """Return what a run did."""
    match event:
        case MemoriesMerged(survivor=survivor, absorbed=absorbed):
            return f"{_several(absorbed)} merged into {survivor}"
        case MemoriesPruned(pruned=pruned):
            return f"{_several([one.memory for one in pruned])} pruned"
        case ClustersFormed(namespace=namespace, clusters=clusters):
            return f"the memories of {namespace} were put into {len(clusters)} groups"
        case LinksStrengthened(links=links):
            return f"{len(links)} links were strengthened"
        case ShortcutsDrawn(shortcuts=shortcuts):
            return f"{len(shortcuts)} shortcuts were drawn along walked paths"
        case MemoriesReplayed(memories=memories):
            return f"{_several(memories)} replayed in a dream"
        case PatternDiscovered(members=members, namespace=namespace):
            return f"a pattern was found in {len(members)} memories of {namespace}"
        case GoalAdjusted(namespace=namespace, previous=previous, goal=goal):
            return f"drift of {namespace} changed its North Star from {previous} to {goal}"
        case _:
            raise TypeError(f"{type(event).__name__} is no decision of a run")


# ── as a memory saw it ──────────────────────────────────────────────────────────────────────────────


def _of_memory(envelope: Envelope, memory: UUID) -> str:
    match envelope.event:
        case MemoryStored() as event:
            return _stored(event)
        case Shredded():
            return "stored; nobody can read what it said any more"
        case MemoriesLinked() as event if event.source == memory:
            return f"linked to {_named(event.targets)} ({event.relation}, weight {event.weight:.2f})"
        case MemoriesLinked() as event:
            return f"linked from {event.source} ({event.relation}, weight {event.weight:.2f})"
        case MemoryRecalled() as event:
            rank = event.memories.index(memory) + 1
            return f"recalled as number {rank} of {len(event.memories)}, by the question {_hash(event.query_sha256)}"
        case MemoryForgotten(memory=whose) | MemoryRestored(memory=whose) | MemoryErased(memory=whose):
            told = _gone_or_back(envelope.event)
            return told if whose == memory else f"memory {whose}, which was merged with it, was {told}"
        case MemoryIgnited() | MemoryFaded():
            return _attended(envelope.event)
        case PurposesRealigned() as event:
            purpose = event.of(memory)
            return f"measured against goal {event.goal}: alignment {sum(purpose) / len(purpose):.2f}"
        case _:
            return _slept(envelope.event, memory)


def _slept(event: Event, memory: UUID) -> str:
    """Return what a run did to a memory, or what undid that."""
    match event:
        case MemoriesMerged() as event if event.survivor == memory:
            return f"absorbed {', '.join(map(str, event.absorbed))} (run {event.run})"
        case MemoriesMerged(survivor=survivor, absorbed=absorbed) as event if memory in absorbed:
            similarity = event.similarities[absorbed.index(memory)]
            return f"merged into {survivor}, similarity {similarity:.3f} (run {event.run})"
        case MemoriesPruned() as event:
            salience = next(one.salience for one in event.pruned if one.memory == memory)
            return f"pruned, salience {salience.total:.2f} (run {event.run}): {_parts(salience)}"
        case MemoriesReplayed(run=run):
            return f"replayed in a dream (run {run})"
        case ConsolidationUndone(run=run):
            return f"what run {run} did to it was undone"
        case _:
            raise TypeError(f"{type(event).__name__} doesn't touch a memory")


# ── parts of sentences ──────────────────────────────────────────────────────────────────────────────


def _stored(event: MemoryStored) -> str:
    size = len(decompress(event.content))
    spaces = len(event.fingerprint.embeddings)
    session = f" in session {event.session}" if event.session else ""
    speaker = event.metadata.get("speaker")
    said = f", said by {speaker}" if isinstance(speaker, str) else ""
    return (
        f"stored in {event.namespace}{session} as {size} characters of {event.modality} in {spaces} spaces"
        f"{said}{_why(event.rationale)}"
    )


def _gone_or_back(event: Event) -> str:
    match event:
        case MemoryForgotten(reason=reason):
            return "forgotten" + _why(reason)
        case MemoryErased(reason=reason):
            return "erased: its key was destroyed" + _why(reason)
        case _:
            return "restored"


def _attended(event: MemoryIgnited | MemoryFaded) -> str:
    if isinstance(event, MemoryFaded):
        return f"faded from the workspace, r = {event.order:.2f}"
    return f"entered the workspace, r = {event.order:.2f}" + (", by force" if event.forced else "")


def _parts(salience: Salience) -> str:
    return ", ".join(f"{name} {getattr(salience, name):.2f}" for name in salience.__struct_fields__)


def _why(reason: str | None) -> str:
    return f", because: {reason}" if reason else ""


def _hash(digest: bytes) -> str:
    return digest.hex()[:SHOWN]


def _several(memories: Iterable[UUID]) -> str:
    """Return how many memories there are, and the first of them."""
    memories = list(memories)
    match len(memories):
        case 0:
            return "no memory"
        case 1:
            return f"memory {memories[0]}"
        case count:
            return f"{count} memories ({_named(memories)})"


def _named(memories: Iterable[UUID]) -> str:
    """Return the ids of memories, of many only the first."""
    memories = list(memories)
    rest = f" and {len(memories) - SOME} more" if len(memories) > SOME else ""
    return ", ".join(map(str, memories[:SOME])) + rest
