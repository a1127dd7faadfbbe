"""Describe events in words: each event of the log, and each event in the history of one memory.

A sentence never contains the content of a memory, or the words of a goal or pattern, which come from memories.
"""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from events import vocabulary as ev
from events.storage.log import Envelope
from events.vocabulary.codec import decompress
from projections.projection import is_shredded_memory, name_of

HASH_DIGITS = 16
"""Hexadecimal digits of a question's hash."""
MAX_IDS = 3
"""Ids that a list of memories names."""


def describe_event(envelope: Envelope, memory: UUID | None = None) -> dict[str, Any]:
    """Return an event in words; with a memory, what the event did to that memory."""
    sentence = _log_sentence(envelope) if memory is None else _memory_sentence(envelope, memory)
    return {
        "seq": envelope.seq,
        "at": envelope.at.isoformat(),
        "kind": name_of(envelope.event),
        "actor": envelope.actor,
        "request": str(envelope.correlation_id),
        "cause": None if envelope.causation_id is None else str(envelope.causation_id),
        "what": sentence,
    }


# ── the log ─────────────────────────────────────────────────────────────────────────────────────────


def _log_sentence(envelope: Envelope) -> str:
    match envelope.event:
        case ev.MemoryStored() as event:
            return f"memory {envelope.id} was {_stored(event)}"
        case ev.Shredded() as event if is_shredded_memory(event):
            return f"memory {envelope.id} was stored; it was erased since, and nobody can read it any more"
        case ev.Shredded() as event:
            return f"a {name_of(event).partition('_')[0]} was found; nobody can read its words any more"
        case ev.MemoryRecalled(memories=memories, query_sha256=query):
            return f"an answer contained {_several(memories)}, best first; hash of the question {_hash(query)}"
        case ev.MemoryForgotten(memory=memory) | ev.MemoryRestored(memory=memory) | ev.MemoryErased(memory=memory):
            return f"memory {memory} was {_lifecycle(envelope.event)}"
        case ev.MemoriesLinked() as event:
            return f"{event.source} was linked to {_ids(event.targets)} ({event.relation}, weight {event.weight:.2f})"
        case ev.LinksTraversed(steps=steps):
            ends = {end for step in steps for end in (step.source, step.target)}
            return f"a path along {len(steps)} links between {len(ends)} memories was shown"
        case ev.SpacesDeclared() as event:
            return f"from here on models of the profile {event.profile} fill the {len(event.spaces)} spaces"
        case ev.ScheduleChanged(mode=mode, when=when):
            return f"{mode} sleep was set to {when or 'never'}"
        case ev.ScheduleSwitched(paused=paused):
            return f"scheduled sleep was {'paused' if paused else 'switched on again'}"
        case ev.PruningPermitted(permitted=permitted):
            return f"scheduled sleep {'may' if permitted else 'may no longer'} prune, and merge what is no exact copy"
        case _:
            return _goal_or_workspace_sentence(envelope.event)


def _goal_or_workspace_sentence(event: ev.Event) -> str:
    match event:
        case ev.GoalDiscovered() as event:
            found = f"goal {event.goal} ({event.level}) was found in {len(event.members)} memories of {event.namespace}"
            return f"{found}, coherence {event.coherence:.2f}"
        case ev.NorthStarChosen(namespace=namespace, goal=goal, previous=previous):
            return f"goal {goal} became the North Star of {namespace}" + (f" after {previous}" if previous else "")
        case ev.PurposesRealigned(goal=goal, memories=memories):
            return f"{_several(memories)} measured against goal {goal}"
        case ev.DriftDetected() as event:
            drift = f"drift of {event.namespace} from goal {event.goal} reached {event.level}"
            return f"{drift}: the latest {event.memories} memories are {event.similarity:.2f} aligned"
        case ev.FocusMoved(subject=subject, candidates=candidates):
            focus = "a question" if subject is None else f"memory {subject}"
            return f"the workspace turned to {focus}, and measured {_several([one.memory for one in candidates])}"
        case ev.MemoryIgnited(memory=memory) | ev.MemoryFaded(memory=memory):
            return f"memory {memory} {_ignition(event)}"
        case ev.WorkspaceConflicted(memories=memories):
            return f"several are in the workspace at once: {_several(memories)}"
        case ev.WorkspaceEmptied():
            return "nothing is left in the workspace"
        case ev.CouplingAdjusted(previous=previous, coupling=coupling):
            return f"the coupling K was set from {previous:g} to {coupling:g}"
        case _:
            return _sleep_sentence(event)


def _sleep_sentence(event: ev.Event) -> str:
    match event:
        case ev.ConsolidationStarted() as event:
            scope = event.namespace or "all namespaces"
            dry = ", as a dry run" if event.dry_run else ""
            why = _because(event.rationale)
            return f"a {event.mode} run over {scope} began by {event.trigger}{dry} (run {event.run}){why}"
        case ev.ConsolidationFinished(reason=str(reason)) as event:
            return f"the run was {event.outcome}: {reason} (run {event.run})"
        case ev.ConsolidationFinished(counts=counts) as event:
            did = (
                f"{counts.merged} merged, {counts.pruned} pruned, {counts.clusters} groups, {counts.patterns} patterns"
            )
            return f"the run {event.outcome} after {event.milliseconds / 1e3:.1f} s: {did} (run {event.run})"
        case ev.ConsolidationUndone() as event:
            return f"run {event.run} was undone" + (f" for {_ids(event.memories)}" if event.memories else "")
        case ev.ConsolidationSkipped() as event:
            return f"a {event.mode} run by {event.trigger} didn't begin: {event.reason}"
        case ev.MemoriesMerged(survivor=survivor, absorbed=absorbed):
            decision = f"{_several(absorbed)} merged into {survivor}"
        case ev.MemoriesPruned(pruned=pruned):
            decision = f"{_several([one.memory for one in pruned])} pruned"
        case _:
            return _insight_sentence(event)
    return f"{decision} (run {event.run})"


def _insight_sentence(event: ev.Event) -> str:
    match event:
        case ev.ClustersFormed(namespace=namespace, clusters=clusters):
            decision = f"the memories of {namespace} were put into {len(clusters)} groups"
        case ev.LinksStrengthened(links=links):
            decision = f"{len(links)} links were strengthened"
        case ev.ShortcutsDrawn(shortcuts=shortcuts):
            decision = f"{len(shortcuts)} shortcuts were drawn along walked paths"
        case ev.MemoriesReplayed(memories=memories):
            decision = f"{_several(memories)} replayed in a dream"
        case ev.PatternDiscovered(members=members, namespace=namespace):
            decision = f"a pattern was found in {len(members)} memories of {namespace}"
        case ev.GoalAdjusted(namespace=namespace, previous=previous, goal=goal):
            decision = f"drift of {namespace} changed its North Star from {previous} to {goal}"
        case _:
            raise TypeError(f"no words for {type(event).__name__}")
    return f"{decision} (run {event.run})"


# ── one memory ──────────────────────────────────────────────────────────────────────────────────────


def _memory_sentence(envelope: Envelope, memory: UUID) -> str:
    match envelope.event:
        case ev.MemoryStored() as event:
            return _stored(event)
        case ev.Shredded():
            return "stored; nobody can read what it said any more"
        case ev.MemoriesLinked() as event if event.source == memory:
            return f"linked to {_ids(event.targets)} ({event.relation}, weight {event.weight:.2f})"
        case ev.MemoriesLinked() as event:
            return f"linked from {event.source} ({event.relation}, weight {event.weight:.2f})"
        case ev.MemoryRecalled() as event:
            rank = event.memories.index(memory) + 1
            return f"recalled as number {rank} of {len(event.memories)}, by the question {_hash(event.query_sha256)}"
        case ev.MemoryForgotten(memory=other) | ev.MemoryRestored(memory=other) | ev.MemoryErased(memory=other):
            change = _lifecycle(envelope.event)
            return change if other == memory else f"memory {other}, which was merged with it, was {change}"
        case ev.MemoryIgnited() | ev.MemoryFaded() as event:
            return _ignition(event)
        case ev.PurposesRealigned() as event:
            purpose = event.of(memory)
            return f"measured against goal {event.goal}: alignment {sum(purpose) / len(purpose):.2f}"
        case _:
            return _run_sentence(envelope.event, memory)


def _run_sentence(event: ev.Event, memory: UUID) -> str:
    """Return what a run did to a memory, or that it was undone."""
    match event:
        case ev.MemoriesMerged() as event if event.survivor == memory:
            return f"absorbed {', '.join(map(str, event.absorbed))} (run {event.run})"
        case ev.MemoriesMerged(survivor=survivor, absorbed=absorbed) as event if memory in absorbed:
            similarity = event.similarities[absorbed.index(memory)]
            return f"merged into {survivor}, similarity {similarity:.3f} (run {event.run})"
        case ev.MemoriesPruned() as event:
            salience = next(one.salience for one in event.pruned if one.memory == memory)
            parts = ", ".join(f"{name} {getattr(salience, name):.2f}" for name in salience.__struct_fields__)
            return f"pruned, salience {salience.total:.2f} (run {event.run}): {parts}"
        case ev.MemoriesReplayed(run=run):
            return f"replayed in a dream (run {run})"
        case ev.ConsolidationUndone(run=run):
            return f"what run {run} did to it was undone"
        case _:
            raise TypeError(f"{type(event).__name__} doesn't touch a memory")


# ── parts of sentences ──────────────────────────────────────────────────────────────────────────────


def _stored(event: ev.MemoryStored) -> str:
    size = len(decompress(event.content))
    spaces = len(event.fingerprint.embeddings)
    session = f" in session {event.session}" if event.session else ""
    speaker = event.metadata.get("speaker")
    said_by = f", said by {speaker}" if isinstance(speaker, str) else ""
    return (
        f"stored in {event.namespace}{session} as {size} characters of {event.modality} in {spaces} spaces"
        f"{said_by}{_because(event.rationale)}"
    )


def _lifecycle(event: ev.Event) -> str:
    match event:
        case ev.MemoryForgotten(reason=reason):
            return "forgotten" + _because(reason)
        case ev.MemoryErased(reason=reason):
            return "erased: its key was destroyed" + _because(reason)
        case _:
            return "restored"


def _ignition(event: ev.MemoryIgnited | ev.MemoryFaded) -> str:
    if isinstance(event, ev.MemoryFaded):
        return f"faded from the workspace, r = {event.order:.2f}"
    return f"entered the workspace, r = {event.order:.2f}" + (", by force" if event.forced else "")


def _because(reason: str | None) -> str:
    return f", because: {reason}" if reason else ""


def _hash(digest: bytes) -> str:
    return digest.hex()[:HASH_DIGITS]


def _several(memories: Iterable[UUID]) -> str:
    """Return the number of memories, and the ids of the first."""
    memories = list(memories)
    match len(memories):
        case 0:
            return "no memory"
        case 1:
            return f"memory {memories[0]}"
        case count:
            return f"{count} memories ({_ids(memories)})"


def _ids(memories: Iterable[UUID]) -> str:
    memories = list(memories)
    rest = f" and {len(memories) - MAX_IDS} more" if len(memories) > MAX_IDS else ""
    return ", ".join(map(str, memories[:MAX_IDS])) + rest
