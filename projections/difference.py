"""Net effect of a section of the log on memories, links, goals and the schedule."""

from collections import Counter
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import NamedTuple
from uuid import UUID

import msgspec

from events import vocabulary as ev
from events.storage.log import Envelope
from events.vocabulary.values import Mode, Step
from projections.graph.relations import drawn_links
from projections.memories.lifecycle import Lifecycle
from projections.mind.goals import Goals
from projections.mind.schedule import Schedule
from projections.projection import MemoryState, event_name, is_shredded_memory


class Recovery(StrEnum):
    """How a memory became live again."""

    RESTORED = "restored"
    UNDONE = "undone"
    """The run that excluded it was undone."""
    FREED = "freed"
    """Its survivor was erased."""


class ScheduleSettings(msgspec.Struct, frozen=True):
    """Times of consolidation runs, and what these may do."""

    when: dict[Mode, str | None]
    paused: bool
    permitted: bool


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """Net effects between two moments, memories in the order in which they were stored.

    A memory appears in `stored` if it was stored in between. It appears in at most one of the other lists, if its state
    at the later moment differs from that at the earlier one, or from live if it is new.
    """

    stored: tuple[UUID, ...]
    moved: dict[MemoryState, tuple[UUID, ...]]
    """Memories by their new state, all but live."""
    survivors: dict[UUID, UUID]
    """Which memory absorbed each of the merged ones."""
    recovered: dict[Recovery, tuple[UUID, ...]]
    links: tuple[Step, ...]
    """Added in between; without those that were undone, or lost an end by erasure."""
    goals: tuple[ev.GoalDiscovered, ...]
    """Discovered in between and still existing."""
    north_stars: dict[str, tuple[ev.GoalDiscovered | None, ev.GoalDiscovered | None]]
    """Of each namespace where it differs, before and after."""
    schedule: tuple[ScheduleSettings, ScheduleSettings]
    event_counts: Counter[str]
    """Number of events in between by `event_name`."""


class _Status(NamedTuple):
    state: MemoryState
    survivor: UUID | None


class _Moment(NamedTuple):
    statuses: dict[UUID, _Status]
    north_stars: dict[str, ev.GoalDiscovered | None]
    schedule: ScheduleSettings
    goals: frozenset[UUID]


class _Fold:
    """The projections that a `Difference` compares."""

    def __init__(self) -> None:
        self.lifecycle = Lifecycle()
        self.goals = Goals()
        self.schedule = Schedule()
        self.stored: dict[UUID, None] = {}
        self.discovered: dict[UUID, None] = {}
        self.recoveries: dict[UUID, Recovery] = {}
        """The latest of each memory that has one."""
        self.namespaces: set[str] = set()

    def apply(self, envelope: Envelope) -> None:
        event = envelope.event
        if isinstance(event, ev.MemoryStored) or is_shredded_memory(event):
            self.stored[envelope.id] = None
        if isinstance(event, ev.GoalDiscovered):
            self.discovered[event.goal] = None
        if isinstance(event, ev.NorthStarChosen | ev.GoalAdjusted):
            self.namespaces.add(event.namespace)
        for change in self.lifecycle.apply(envelope):
            if change.after is MemoryState.LIVE:
                self.recoveries[change.memory] = _recovery(event)
        self.goals.apply(envelope)
        self.schedule.apply(envelope)

    def moment(self) -> _Moment:
        return _Moment(
            {one: _Status(self.lifecycle.state(one), self.lifecycle.survivor(one)) for one in self.stored},
            {namespace: self.goals.north_star(namespace) for namespace in sorted(self.namespaces)},
            ScheduleSettings(dict(self.schedule.when), self.schedule.paused, self.schedule.permitted),
            frozenset(self.discovered),
        )


def difference(envelopes: Iterable[Envelope], earlier: int) -> Difference:
    """Return what changed between event `earlier` and the last one, in one pass."""
    fold = _Fold()
    before = fold.moment()
    links: dict[Step, UUID | None] = {}
    event_counts: Counter[str] = Counter()
    for envelope in envelopes:
        fold.apply(envelope)
        if envelope.seq == earlier:
            before = fold.moment()
        elif envelope.seq > earlier:
            event_counts[event_name(envelope.event)] += 1
            _update_links(links, envelope.event)
    after = fold.moment()
    initial = _Status(MemoryState.LIVE, None)
    changed = {one: status for one, status in after.statuses.items() if status != before.statuses.get(one, initial)}
    discovered = (fold.goals.get(one) for one in fold.discovered if one not in before.goals)
    return Difference(
        stored=tuple(one for one in after.statuses if one not in before.statuses),
        moved={state: _in_state(changed, state) for state in MemoryState if state is not MemoryState.LIVE},
        survivors={one: status.survivor for one, status in changed.items() if status.survivor is not None},
        recovered={
            way: tuple(one for one in _in_state(changed, MemoryState.LIVE) if fold.recoveries[one] is way)
            for way in Recovery
        },
        links=tuple(links),
        goals=tuple(goal for goal in discovered if goal is not None),
        north_stars={
            namespace: (old, new)
            for namespace, new in after.north_stars.items()
            if _goal_id(new) != _goal_id(old := before.north_stars.get(namespace))
        },
        schedule=(before.schedule, after.schedule),
        event_counts=event_counts,
    )


def _in_state(statuses: Mapping[UUID, _Status], state: MemoryState) -> tuple[UUID, ...]:
    return tuple(memory for memory, status in statuses.items() if status.state is state)


def _goal_id(goal: ev.GoalDiscovered | None) -> UUID | None:
    return None if goal is None else goal.goal


def _recovery(event: ev.Event) -> Recovery:
    match event:
        case ev.MemoryRestored():
            return Recovery.RESTORED
        case ev.MemoryErased():
            return Recovery.FREED
        case _:
            return Recovery.UNDONE


def _update_links(links: dict[Step, UUID | None], event: ev.Event) -> None:
    """Add the links that an event draws, each with its run, and remove those that it takes away."""
    links.update((link.step, run) for link, run in drawn_links(event))
    match event:
        case ev.ConsolidationUndone(run=undone, memories=()):
            removed = [step for step, run in links.items() if run == undone]
        case ev.MemoryErased(memory=memory):
            removed = [step for step in links if memory in {step.source, step.target}]
        case _:
            return
    for step in removed:
        del links[step]
