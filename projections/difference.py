"""What changed between two moments of a log: the net effect on memories, links, goals and the schedule."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from uuid import UUID

import msgspec

from events.storage.log import Envelope
from events.vocabulary import (
    ConsolidationUndone,
    Event,
    GoalAdjusted,
    GoalDiscovered,
    MemoriesLinked,
    MemoryErased,
    MemoryRestored,
    MemoryStored,
    NorthStarChosen,
    ShortcutsDrawn,
)
from events.vocabulary.values import Mode, Step
from projections.memories.lifecycle import Lifecycle
from projections.mind.goals import Goals
from projections.mind.schedule import Schedule
from projections.projection import MemoryState, is_shredded_memory, name_of


class Standing(msgspec.Struct, frozen=True):
    """Where a memory is in its life."""

    state: MemoryState
    into: UUID | None = None
    """What absorbed it, of a merged one."""


class Return(StrEnum):
    """How a memory came back that couldn't be found."""

    RESTORED = "restored"
    """Somebody restored it."""
    UNDONE = "undone"
    """The run that had hidden it was undone."""
    FREED = "freed"
    """What had absorbed it was erased."""


class Rules(msgspec.Struct, frozen=True):
    """When the store sleeps, and what it may do then."""

    when: dict[Mode, str | None]
    paused: bool
    permitted: bool


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """Net effects between two moments, each list in the order in which the memories were stored.

    A memory stands in `stored` if it was stored in between, and in one of the other lists at most: by how it stands at
    the later moment, if that isn't how it stood at the earlier one, or how a new memory begins.
    """

    stored: tuple[UUID, ...]
    moved: dict[MemoryState, tuple[UUID, ...]]
    """Memories that went to each state but live."""
    into: dict[UUID, UUID]
    """What absorbed each of those that were merged."""
    returned: dict[Return, tuple[UUID, ...]]
    links: tuple[Step, ...]
    """Drawn in between, and neither undone nor erased with one of their ends."""
    goals: tuple[GoalDiscovered, ...]
    """Found in between and known still."""
    stars: dict[str, tuple[GoalDiscovered | None, GoalDiscovered | None]]
    """The North Star of each namespace before and after, where it isn't the same."""
    rules: tuple[Rules, Rules]
    """The schedule before and after."""
    kinds: Counter[str]
    """How many events there were of each kind (`name_of`)."""


class _Ledger:
    """What has to be known at either moment, folded over the log."""

    def __init__(self) -> None:
        self.presence = Lifecycle()
        self.goals = Goals()
        self.schedule = Schedule()
        self.stored: dict[UUID, None] = {}
        self.returns: dict[UUID, Return] = {}
        """How each memory came back that did; a later way takes the place of an earlier one."""
        self.found: dict[UUID, None] = {}
        self.namespaces: set[str] = set()

    def apply(self, envelope: Envelope) -> None:
        event = envelope.event
        if isinstance(event, MemoryStored) or is_shredded_memory(event):
            self.stored[envelope.id] = None
        if isinstance(event, GoalDiscovered):
            self.found[event.goal] = None
        if isinstance(event, NorthStarChosen | GoalAdjusted):
            self.namespaces.add(event.namespace)
        for change in self.presence.apply(envelope):
            if change.after is MemoryState.LIVE:
                self.returns[change.memory] = _way_back(event)
        self.goals.apply(envelope)
        self.schedule.apply(envelope)

    def standings(self) -> dict[UUID, Standing]:
        return {one: Standing(self.presence.state(one), self.presence.survivor(one)) for one in self.stored}

    def stars(self) -> dict[str, GoalDiscovered | None]:
        return {namespace: self.goals.star(namespace) for namespace in sorted(self.namespaces)}

    def rules(self) -> Rules:
        return Rules(dict(self.schedule.when), self.schedule.paused, self.schedule.permitted)


def difference(envelopes: Iterable[Envelope], earlier: int) -> Difference:
    """Return what changed between event `earlier` and the last one, in one pass.

    Args:
        envelopes: Every event of the log in order, up to the later moment.
        earlier: Sequence number of the earlier moment; 0 for the empty log.
    """
    ledger = _Ledger()
    before, stars, rules, found = ledger.standings(), ledger.stars(), ledger.rules(), dict(ledger.found)
    drawn: dict[Step, UUID | None] = {}
    kinds: Counter[str] = Counter()
    for envelope in envelopes:
        ledger.apply(envelope)
        if envelope.seq == earlier:
            before, stars, rules, found = ledger.standings(), ledger.stars(), ledger.rules(), dict(ledger.found)
        elif envelope.seq > earlier:
            kinds[name_of(envelope.event)] += 1
            _draw(drawn, envelope.event)
    after = ledger.standings()
    moved, into, returned = _moves(before, after, ledger.returns)
    return Difference(
        stored=tuple(one for one in after if one not in before),
        moved=moved,
        into=into,
        returned=returned,
        links=tuple(drawn),
        goals=tuple(goal for one in ledger.found if one not in found and (goal := ledger.goals.get(one)) is not None),
        stars={
            namespace: (stars.get(namespace), star)
            for namespace, star in ledger.stars().items()
            if _goal(star) != _goal(stars.get(namespace))
        },
        rules=(rules, ledger.rules()),
        kinds=kinds,
    )


def _goal(star: GoalDiscovered | None) -> UUID | None:
    return None if star is None else star.goal


def _moves(
    before: Mapping[UUID, Standing], after: Mapping[UUID, Standing], returns: Mapping[UUID, Return]
) -> tuple[dict[MemoryState, tuple[UUID, ...]], dict[UUID, UUID], dict[Return, tuple[UUID, ...]]]:
    """Return which memories went to which state, what absorbed the merged ones, and which came back by which way."""
    new = Standing(MemoryState.LIVE)
    changed = {one: standing for one, standing in after.items() if standing != before.get(one, new)}
    moved = {
        state: tuple(one for one, standing in changed.items() if standing.state is state)
        for state in MemoryState
        if state is not MemoryState.LIVE
    }
    into = {one: standing.into for one, standing in changed.items() if standing.into is not None}
    back = [one for one, standing in changed.items() if standing.state is MemoryState.LIVE]
    return moved, into, {way: tuple(one for one in back if returns[one] is way) for way in Return}


def _way_back(event: Event) -> Return:
    match event:
        case MemoryRestored():
            return Return.RESTORED
        case MemoryErased():
            return Return.FREED
        case _:
            return Return.UNDONE


def _draw(drawn: dict[Step, UUID | None], event: Event) -> None:
    """Take in the links that an event draws, with the run that did, and let go of those that it takes away."""
    drawn.update(_links(event))
    match event:
        case ConsolidationUndone(run=undone, memories=()):
            gone = [step for step, run in drawn.items() if run == undone]
        case MemoryErased(memory=memory):
            gone = [step for step in drawn if memory in {step.source, step.target}]
        case _:
            return
    for step in gone:
        del drawn[step]


def _links(event: Event) -> Iterator[tuple[Step, UUID | None]]:
    match event:
        case MemoriesLinked(source=source, targets=targets, relation=relation):
            for target in targets:
                yield Step(source, target, relation), None
        case ShortcutsDrawn(run=run, shortcuts=shortcuts):
            for shortcut in shortcuts:
                yield shortcut.step, run
        case _:
            pass
