"""Describe events in words: each event of the log, and each event in the history of one memory.

A sentence never contains the content of a memory, or the words of a goal or pattern, which come from memories.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from actors.api.answers import TRIGGERS, author, mean_alignment
from actors.runtime.types import JsonObject
from events import vocabulary as ev
from events.storage.log import Envelope
from events.vocabulary.causes import CausalLink
from events.vocabulary.codec import decompress
from events.vocabulary.values import Salience
from events.wording import counted
from projections.projection import event_name, is_shredded_memory

REFUSALS = {"login": "a login by an invalid link", "token": "an invalid key", "form": "a form of another page"}
"""Words for what is refused before anybody is known; otherwise it is an operation, or the name of a key."""
HASH_DIGITS = 16
"""Hexadecimal digits of a question's hash."""
MAX_IDS = 3
"""Ids that a list of memories names."""


def describe_event(envelope: Envelope, memory: UUID | None = None) -> JsonObject:
    """Return an event in words; with a memory, what the event did to that memory."""
    sentence = _log_sentence(envelope) if memory is None else _OF_MEMORY[type(envelope.event)](envelope.event, memory)
    return {
        "seq": envelope.seq,
        "at": envelope.at.isoformat(),
        "kind": event_name(envelope.event),
        "actor": envelope.actor,
        "by": author(envelope.actor),
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
        case ev.EventLost() as event:
            what = f"memory {envelope.id} was stored" if is_shredded_memory(event) else f"an event of kind {event.kind}"
            return f"{what}; it was lost, because the store was damaged: {event.why}"
        case ev.Shredded() as event if event_name(event) == "memory_tagged":
            return "the tags of a memory were changed; it was erased since, and nobody can read them any more"
        case ev.Shredded() as event:
            return f"a {event_name(event).partition('_')[0]} was found; nobody can read its words any more"
        case event:
            return _SENTENCES[type(event)](event)


_SENTENCES: Mapping[type[ev.Event], Callable[[Any], str]] = {
    **dict.fromkeys(
        (ev.MemoryForgotten, ev.MemoryRestored, ev.MemoryErased), lambda e: f"memory {e.memory} was {_lifecycle(e)}"
    ),
    **dict.fromkeys((ev.MemoryIgnited, ev.MemoryFaded), lambda e: f"memory {e.memory} {_ignition(e)}"),
    ev.FocusMoved: lambda e: (
        f"the workspace turned to {f'memory {e.subject}' if e.subject else 'a question'}, and measured "
        f"{_several(one.memory for one in e.candidates)}"
    ),
    ev.ConsolidationFinished: lambda e: f"{_finished(e)} (run {e.run})",
    ev.MemoryRecalled: lambda e: (
        f"an answer contained {_several(e.memories)}, best first; hash of the question {_hash(e.query_sha256)}"
    ),
    ev.MemoriesLinked: lambda e: f"{e.source} was linked to {_ids(e.targets)} ({e.relation}, weight {e.weight:.2f})",
    ev.MemorySuperseded: lambda e: f"memory {e.memory} was superseded by {e.by} (evidence: {e.rule})",
    ev.MemoryReinstated: lambda e: f"memory {e.memory} holds again; nothing supersedes it any more",
    ev.MemoryTagged: lambda e: f"the tags of memory {e.memory} were changed, from {len(e.was)} to {len(e.tags)}",
    ev.CausalClausesFound: lambda e: (
        f"memory {e.memory} states {counted(len(e.clauses), 'cause')}, by rules of version {e.rules}: "
        f"{', '.join(one.connective for one in e.clauses)}"
    ),
    ev.CausesLinked: lambda e: (
        f"{counted(len(e.examined), 'memory')} examined for causes and effects, {_edges(e.links)} found (run {e.run})"
    ),
    ev.LinksTraversed: lambda e: (
        f"a path along {counted(len(e.steps), 'link')} between "
        f"{counted(len({end for step in e.steps for end in (step.source, step.target)}), 'memory')} was shown"
    ),
    ev.SpacesDeclared: lambda e: (
        f"from here on models of the profile {e.profile} fill {counted(len(e.spaces), 'space')}"
    ),
    ev.SimilaritiesCalibrated: lambda e: (
        f"similarities in {counted(len(e.curves), 'space')} were calibrated on {counted(e.texts, 'text')} of the store"
    ),
    ev.ScheduleChanged: lambda e: f"{e.mode} sleep was set to {e.when or 'never'}",
    ev.ScheduleSwitched: lambda e: f"scheduled sleep was {'paused' if e.paused else 'switched on again'}",
    ev.PruningPermitted: lambda e: (
        f"scheduled sleep {'may' if e.permitted else 'may no longer'} prune, and merge what is no exact copy"
    ),
    ev.GoalDiscovered: lambda e: (
        f"goal {e.goal} ({e.level}) was found in {counted(len(e.members), 'memory')} of {e.namespace}, "
        f"coherence {e.coherence:.2f}"
    ),
    ev.NorthStarChosen: lambda e: (
        f"goal {e.goal} became the North Star of {e.namespace}{f' after goal {e.previous}' if e.previous else ''}"
    ),
    ev.PurposesRealigned: lambda e: f"{_several(e.memories)} measured against goal {e.goal}",
    ev.DriftDetected: lambda e: (
        f"drift of {e.namespace} from goal {e.goal} reached {e.level}: "
        f"nearness to the goals {e.similarity:.2f} times the usual, in the latest {counted(e.memories, 'memory')}"
    ),
    ev.WorkspaceConflicted: lambda e: f"several are in the workspace at once: {_several(e.memories)}",
    ev.WorkspaceEmptied: lambda _: "nothing is left in the workspace",
    ev.CouplingAdjusted: lambda e: f"the coupling K was set from {e.previous:g} to {e.coupling:g}",
    ev.ConsolidationStarted: lambda e: (
        f"a {e.mode} run over {e.namespace or 'all namespaces'} began {TRIGGERS[e.trigger]}"
        f"{', as a dry run' if e.dry_run else ''} (run {e.run}){_because(e.rationale)}"
    ),
    ev.ConsolidatorChanged: lambda e: f"{e.host} consolidates from now on (epoch {e.epoch})",
    ev.ConsolidationUndone: lambda e: f"run {e.run} was undone{f' for {_ids(e.memories)}' if e.memories else ''}",
    ev.ConsolidationSkipped: lambda e: f"a {e.mode} run ({TRIGGERS[e.trigger]}) didn't begin: {e.reason}",
    ev.MemoriesMerged: lambda e: f"{_several(e.absorbed)} merged into {e.survivor} (run {e.run})",
    ev.MemoriesMoved: lambda e: (
        f"{_several(e.memories)} {'' if e.run else 'returned '}from {e.source} to {e.target}"
        f"{', which is its new name' if e.renamed else ''}{f' (run {e.run})' if e.run else ''}"
    ),
    ev.MemoriesPruned: lambda e: f"{_several([one.memory for one in e.pruned])} pruned (run {e.run})",
    ev.ClustersFormed: lambda e: (
        f"the memories of {e.namespace} were put into {counted(len(e.clusters), 'group')} (run {e.run})"
    ),
    ev.LinksStrengthened: lambda e: f"{counted(len(e.links), 'link')} strengthened (run {e.run})",
    ev.ShortcutsDrawn: lambda e: f"{counted(len(e.shortcuts), 'shortcut')} drawn along walked paths (run {e.run})",
    ev.MemoriesReplayed: lambda e: f"{_several(e.memories)} replayed in a dream (run {e.run})",
    ev.PatternDiscovered: lambda e: (
        f"a pattern was found in {counted(len(e.members), 'memory')} of {e.namespace} (run {e.run})"
    ),
    ev.ChainKeyed: lambda e: (
        f"from here on the chain is keyed; {counted(e.plain, 'event')} before it with plain hashes"
    ),
    ev.DerivedEventsErased: lambda e: (
        f"erased with the memories that they came from: {counted(len(e.events), 'event')} of goals, patterns or causes"
    ),
    ev.RequestsCounted: lambda e: f"over HTTP since {e.since:%H:%M}, {_requests(e)}",
    ev.GoalAdjusted: lambda e: (
        f"drift of {e.namespace} changed its North Star from goal {e.previous} to goal {e.goal} (run {e.run})"
    ),
}
"""The sentence of each other kind of event."""


# ── one memory ──────────────────────────────────────────────────────────────────────────────────────


_OF_MEMORY: Mapping[type[ev.Event], Callable[[Any, UUID], str]] = {
    ev.MemoryStored: lambda e, _: _stored(e),
    ev.EventLost: lambda e, _: f"stored; it was lost, because the store was damaged: {e.why}",
    ev.Shredded: lambda *_: "stored; nobody can read what it said any more",
    ev.MemoriesLinked: lambda e, memory: (
        f"linked {f'to {_ids(e.targets)}' if e.source == memory else f'from {e.source}'} "
        f"({e.relation}, weight {e.weight:.2f})"
    ),
    ev.MemorySuperseded: lambda e, memory: (
        f"superseded {f'by {e.by}' if e.memory == memory else e.memory} (evidence: {e.rule})"
    ),
    ev.MemoryTagged: lambda e, _: f"tags changed from {', '.join(e.was) or 'none'} to {', '.join(e.tags) or 'none'}",
    ev.MemoryReinstated: lambda *_: "reinstated: nothing supersedes it any more",
    ev.MemoryRecalled: lambda e, memory: (
        f"recalled as number {e.memories.index(memory) + 1} of {len(e.memories)}, by the question "
        f"{_hash(e.query_sha256)}"
    ),
    **dict.fromkeys(
        (ev.MemoryForgotten, ev.MemoryRestored, ev.MemoryErased),
        lambda e, memory: (
            f"{'' if e.memory == memory else f'memory {e.memory}, which was merged with it, was '}{_lifecycle(e)}"
        ),
    ),
    **dict.fromkeys((ev.MemoryIgnited, ev.MemoryFaded), lambda e, _: _ignition(e)),
    ev.PurposesRealigned: lambda e, memory: (
        f"measured against goal {e.goal}: alignment {mean_alignment(e.of(memory)):.2f}"
    ),
    ev.MemoriesMerged: lambda e, memory: f"{_merged(e, memory)} (run {e.run})",
    ev.MemoriesPruned: lambda e, memory: (
        f"pruned, {_salience(next(one.salience for one in e.pruned if one.memory == memory), f' (run {e.run})')}"
    ),
    ev.CausesLinked: lambda e, memory: f"{'; '.join(_causes(e.links, memory))} (run {e.run})",
    ev.MemoriesMoved: lambda e, _: (
        f"{'moved' if e.run else 'returned'} from {e.source} to {e.target}{f' (run {e.run})' if e.run else ''}"
    ),
    ev.MemoriesReplayed: lambda e, _: f"replayed in a dream (run {e.run})",
    ev.ConsolidationUndone: lambda e, _: f"what run {e.run} did to it was undone",
}
"""The sentence of each kind of event that concerns single memories."""


# ── parts of sentences ──────────────────────────────────────────────────────────────────────────────


def _stored(event: ev.MemoryStored) -> str:
    size = counted(len(decompress(event.content)), "character")
    spaces = counted(len(event.fingerprint.embeddings), "space")
    session = f" in session {event.session}" if event.session else ""
    speaker = event.metadata.get("speaker")
    said_by = f", said by {speaker}" if isinstance(speaker, str) else ""
    where = f"{event.namespace}{session} as {size} of {event.modality} in {spaces}"
    return f"stored in {where}{said_by}{_because(event.rationale)}"


def _lifecycle(event: ev.MemoryForgotten | ev.MemoryRestored | ev.MemoryErased) -> str:
    if isinstance(event, ev.MemoryRestored):
        return "restored"
    what = "forgotten" if isinstance(event, ev.MemoryForgotten) else "erased: its key was destroyed"
    return f"{what}{_because(event.reason)}"


def _ignition(event: ev.MemoryIgnited | ev.MemoryFaded) -> str:
    if isinstance(event, ev.MemoryFaded):
        return f"faded from the workspace, r = {event.order:.2f}"
    return f"entered the workspace, r = {event.order:.2f}" + (", by force" if event.forced else "")


def _merged(event: ev.MemoriesMerged, memory: UUID) -> str:
    if event.survivor == memory:
        return f"absorbed {', '.join(map(str, event.absorbed))}"
    return f"merged into {event.survivor}, similarity {event.similarities[event.absorbed.index(memory)]:.3f}"


def _salience(salience: Salience, run: str) -> str:
    parts = ", ".join(f"{name} {getattr(salience, name):.2f}" for name in salience.__struct_fields__)
    return f"salience {salience.total:.2f}{run}: {parts}"


def _causes(links: Sequence[CausalLink], memory: UUID) -> Iterator[str]:
    for one in links:
        if memory in {one.source, one.target}:
            end = f"causes {one.target}" if one.source == memory else f"caused by {one.source}"
            yield f"{end} by '{one.rule}', weight {one.weight:.2f}"


def _finished(event: ev.ConsolidationFinished) -> str:
    if event.reason is not None:
        return f"the run was {event.outcome}: {event.reason}"
    counts = event.counts
    done = f"{counts.merged} merged, {counts.pruned} pruned, {counted(counts.clusters, 'group')}, "
    done += f"{counted(counts.patterns, 'pattern')}, {counted(counts.causes, 'cause')}"
    done += f", {counts.moved} moved" if counts.moved else ""
    return f"the run {event.outcome} after {event.milliseconds / 1e3:.1f} s: {done}"


def _requests(event: ev.RequestsCounted) -> str:
    done = [f"called {_times(event.calls)}"] if event.calls else []
    if event.refused:
        done.append(f"was refused {_times({REFUSALS.get(what, what): n for what, n in event.refused.items()})}")
    addresses = f" (from {', '.join(event.addresses)})" if event.addresses else ""
    return f"{event.caller or 'somebody unknown'} {' and '.join(done)}{addresses}"


def _times(counts: Mapping[str, int]) -> str:
    return ", ".join(name if count == 1 else f"{name} {count} times" for name, count in sorted(counts.items()))


def _because(reason: str | None) -> str:
    return f", because: {reason}" if reason else ""


def _hash(digest: bytes) -> str:
    return digest.hex()[:HASH_DIGITS]


def _several(memories: Iterable[UUID]) -> str:
    memories = list(memories)
    if len(memories) == 1:
        return f"memory {memories[0]}"
    return f"{counted(len(memories), 'memory')} ({_ids(memories)})" if memories else "no memory"


def _ids(ids: Iterable[object]) -> str:
    shown = [*map(str, ids)]
    rest = f" and {len(shown) - MAX_IDS} more" if len(shown) > MAX_IDS else ""
    return ", ".join(shown[:MAX_IDS]) + rest


def _edges(links: Sequence[CausalLink]) -> str:
    ends = _ids(f"{link.source} → {link.target}" for link in links)
    return counted(len(links), "edge") + (f" ({ends})" if links else "")
