"""Random histories of a few memories: what people, runs of the consolidator and the workspace do to them."""

from collections.abc import Iterable
from typing import Final
from uuid import UUID

import msgspec
from hypothesis import strategies as st

from events import vocabulary as ev
from events.storage.log import Envelope
from events.vocabulary.values import DriftLevel, GoalLevel, Group, Pruned, Salience, Shortcut, Step, Strengthened
from tests.events.samples import stored
from tests.projections.history import history, memory_id, read_later

COUNT = 7
STORED = [stored(f"memory {n}", tags=(f"t{n}",), session="s", position=n) for n in range(1, COUNT + 1)]
"""The memories, with a tag of its own each: the first events of every history."""
IDS = [memory_id(n) for n in range(1, COUNT + 1)]
RUNS = [UUID(int=n) for n in range(1_001, 1_005)]
NOTHING: Final = ev.WorkspaceEmptied()
"""Takes the place of an event that doesn't happen, so that all others keep their numbers and times."""
GOALS = [UUID(int=n) for n in range(2_001, 2_005)]
SALIENCE = Salience(importance=0.1, recency=0.05, access=0.04, alignment=0.02, ignition=0.0)


def pruned(run: UUID, *memories: UUID) -> ev.MemoriesPruned:
    return ev.MemoriesPruned(run=run, pruned=tuple(Pruned(memory, SALIENCE) for memory in memories))


def merged(run: UUID, survivor: UUID, *absorbed: UUID) -> ev.MemoriesMerged:
    return ev.MemoriesMerged(run=run, survivor=survivor, absorbed=absorbed, similarities=(1.0,) * len(absorbed))


def undone(run: UUID, *memories: UUID) -> ev.ConsolidationUndone:
    return ev.ConsolidationUndone(run=run, memories=memories)


def erased(memory: UUID) -> ev.MemoryErased:
    return ev.MemoryErased(memory=memory)


def forgotten(memory: UUID) -> ev.MemoryForgotten:
    return ev.MemoryForgotten(memory=memory)


def restored(memory: UUID) -> ev.MemoryRestored:
    return ev.MemoryRestored(memory=memory)


def linked(source: UUID, target: UUID, weight: float = 0.5, relation: str = "link_to") -> ev.MemoriesLinked:
    return ev.MemoriesLinked(source=source, targets=(target,), relation=relation, weight=weight)


def group(*members: UUID) -> Group:
    return Group(members, tuple(round(0.95 - 0.1 * place, 2) for place in range(len(members))))


def formed(run: UUID, *groups: Group, namespace: str = "default") -> ev.ClustersFormed:
    return ev.ClustersFormed(run=run, namespace=namespace, clusters=groups)


def goal(identity: UUID, members: tuple[UUID, ...], run: UUID | None = None) -> ev.GoalDiscovered:
    return ev.GoalDiscovered(
        goal=identity,
        namespace="default",
        level=GoalLevel.TACTICAL,
        description="tides",
        terms=("tide",),
        members=members,
        centrality=tuple(round(0.9 - 0.1 * place, 2) for place in range(len(members))),
        coherence=0.8,
        confidence=0.7,
        spaces=("e1_semantic",),
        run=run,
    )


def adjusted(run: UUID, chosen: UUID) -> ev.GoalAdjusted:
    return ev.GoalAdjusted(run=run, namespace="default", previous=GOALS[0], goal=chosen, level=DriftLevel.HIGH)


def choose(chosen: UUID) -> ev.NorthStarChosen:
    return ev.NorthStarChosen(namespace="default", goal=chosen)


def moved(
    source: str, target: str, *memories: UUID, run: UUID | None = None, renamed: bool = False
) -> ev.MemoriesMoved:
    return ev.MemoriesMoved(run=run, source=source, target=target, memories=memories, renamed=renamed)


def log_of(*events: ev.Event) -> list[Envelope]:
    """Wrap the memories and then these events.

    A goal that was discovered before isn't again, and only memories that are in a namespace form clusters and leave it.
    """
    seen: set[UUID] = set()
    places = dict.fromkeys(IDS, "default")
    kept: list[ev.Event] = []
    for event in events:
        happens = True
        if isinstance(event, ev.GoalDiscovered):
            happens = event.goal not in seen
            seen.add(event.goal)
        if isinstance(event, ev.MemoriesMoved):
            there = [memory for memory, place in places.items() if place == event.source]
            leaving = there if event.renamed else [memory for memory in there if memory in event.memories]
            happens = bool(leaving) and event.source != event.target
            if happens:
                event = msgspec.structs.replace(event, memories=tuple(leaving))  # noqa: PLW2901 -- the event as it is kept
                places |= dict.fromkeys(leaving, event.target)
        if isinstance(event, ev.ClustersFormed):
            named = event.namespace
            there = [[one for one in each.members if places[one] == named] for each in event.clusters]
            happens = any(there)
            event = formed(event.run, *(group(*one) for one in there if one), namespace=named)  # noqa: PLW2901 -- as above
        kept.append(event if happens else NOTHING)
    return history(*STORED, *kept)


def read_last(log: Iterable[Envelope]) -> list[Envelope]:
    """Return what a reader of the log gets once also the goals are shredded of which every member is erased."""
    log = read_later(log)
    gone = {envelope.event.memory for envelope in log if isinstance(envelope.event, ev.MemoryErased)}
    shredded = ev.Shredded(kind="goal_discovered.1")
    return [
        msgspec.structs.replace(envelope, event=shredded)
        if isinstance(envelope.event, ev.GoalDiscovered) and gone.issuperset(envelope.event.members)
        else envelope
        for envelope in log
    ]


_id, _run, _goal = st.sampled_from(IDS), st.sampled_from(RUNS), st.sampled_from(GOALS)
_some = st.lists(_id, min_size=1, max_size=3, unique=True).map(tuple)
_set = st.lists(_id, min_size=2, max_size=4, unique=True)
_namespace = st.sampled_from(["default", "sea", "land"])
_weight = st.sampled_from([0.2, 0.5, 0.8])
_step = st.builds(Step, source=_id, target=_id, relation=st.sampled_from(["link_to", "cluster", "next"]))
_shortcut = st.builds(
    Shortcut,
    step=st.builds(Step, source=_id, target=_id, relation=st.sampled_from(["shortcut", "causal_shortcut"])),
    weight=_weight,
    confidence=_weight,
    via=st.just(()),
)
_groups = st.tuples(st.permutations(IDS), st.integers(1, COUNT - 1)).map(
    lambda drawn: (group(*drawn[0][: drawn[1]]), group(*drawn[0][drawn[1] :]))
)

OF_A_RUN = st.one_of(
    st.builds(lambda run, memories: pruned(run, *memories), _run, _some),
    st.builds(lambda run, memories: merged(run, *memories), _run, _set),
    st.builds(lambda run, groups, namespace: formed(run, *groups, namespace=namespace), _run, _groups, _namespace),
    st.builds(
        lambda run, step, weight: ev.LinksStrengthened(run=run, links=(Strengthened(step, weight, 0.9),)),
        _run,
        _step,
        _weight,
    ),
    st.builds(lambda run, shortcut: ev.ShortcutsDrawn(run=run, shortcuts=(shortcut,)), _run, _shortcut),
    st.builds(goal, _goal, _set.map(tuple), _run),
    st.builds(adjusted, _run, _goal),
)
"""What runs do, and the undoing of a run takes back."""
NEUTRAL = st.one_of(
    st.builds(linked, _id, _id, _weight),
    st.builds(lambda steps: ev.LinksTraversed(steps=tuple(steps)), st.lists(_step, min_size=1, max_size=4)),
    st.builds(lambda memories: ev.MemoryRecalled(memories=memories, query_sha256=b""), _some),
)
"""What happens to memories whatever their state, and does the same whether a run is undone later or not."""
OF_A_LIFE = st.one_of(
    OF_A_RUN,
    NEUTRAL,
    st.builds(undone, _run),
    st.builds(lambda run, memories: undone(run, *memories), _run, _some),
    st.builds(erased, _id),
    st.builds(forgotten, _id),
    st.builds(restored, _id),
    st.builds(goal, _goal, _set.map(tuple)),
    st.builds(choose, _goal),
    st.builds(
        lambda source, target, memories, renamed: moved(source, target, *memories, renamed=renamed),
        _namespace,
        _namespace,
        _some,
        st.booleans(),
    ),
    st.builds(lambda memory: ev.MemoryIgnited(memory=memory, order=0.9), _id),
    st.builds(lambda memory: ev.MemoryFaded(memory=memory, order=0.5), _id),
    st.builds(lambda run, memories: ev.MemoriesReplayed(run=run, memories=memories), _run, _some),
)
"""All that can happen."""
