"""Properties of every projection over random histories: replays agree after erasures, and undoing is exact."""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from events.fingerprint import Sparse
from events.spaces import SPACES
from events.storage.log import Envelope
from events.vocabulary import Event
from projections.atlas.atlas import Atlas
from projections.atlas.facets import Filter
from projections.graph.links import Links
from projections.memories.catalog import Catalog
from projections.memories.entries import Entry
from projections.memories.lifecycle import Lifecycle
from projections.mind.goals import Goals
from projections.mind.workspace import WorkspaceState
from projections.projection import Projection
from tests.events.samples import DIMENSIONS
from tests.projections.sleeps import IDS, NEUTRAL, NOTHING, OF_A_LIFE, OF_A_RUN, RUNS, STORED, log_of, read_last, undone

FOLDS: dict[str, Callable[[], Projection]] = {
    "catalog": Catalog,
    "goals": Goals,
    "links": Links,
    "presence": Lifecycle,
    "workspace": WorkspaceState,
}
ANYTHING = st.lists(OF_A_LIFE, min_size=8, max_size=24)
P = TypeVar("P", bound=Projection)
TAGS = [tag for one in STORED for tag in one.tags]


def fold(projection: P, log: Iterable[Envelope]) -> P:
    for envelope in log:
        projection.apply(envelope)
    return projection


@settings(max_examples=60)
@given(ANYTHING)
@pytest.mark.parametrize("name", FOLDS)
def test_a_replay_after_erasures_gives_the_same_digest(name: str, events: list[Event]):
    log = log_of(*events)
    assert fold(FOLDS[name](), log).digest() == fold(FOLDS[name](), read_last(log)).digest()


@settings(max_examples=30)
@given(ANYTHING)
@pytest.mark.parametrize("connected", [False, True])
def test_a_replay_after_erasures_gives_the_same_search_results(connected: bool, events: list[Event]):
    log = log_of(*events)
    live, later = (fold(Atlas(DIMENSIONS, connected=connected), one) for one in (log, read_last(log)))
    assert live.digest() == later.digest()
    assert scores(live) == scores(later)


def scores(atlas: Atlas) -> list[Any]:
    """Return all that a search may ask: live rows' scores in every space, sparse recall, filters, and turns."""
    rows, queries = np.flatnonzero(atlas.facets.live), STORED[:3]
    told: list[Any] = [rows.tolist()]
    for query in queries:
        asked = {space.key: query.fingerprint[space.key] for space in SPACES}
        told += [atlas.ranking_scores(space.key, asked, rows).tobytes() for space in SPACES]
        told += [atlas.scores(space.key, query.fingerprint[space.key], rows).tobytes() for space in SPACES]
        for key in ("e6_sparse", "e13_splade"):
            wanted = query.fingerprint.take(key, Sparse)
            told.append(atlas.recall_sparse(key, wanted, 9, atlas.facets.live).tolist())
    told += [np.flatnonzero(atlas.facets.eligible(Filter(tags=(tag,)))).tolist() for tag in TAGS]
    told.append(atlas.facets.turns(rows, 2)[0].tolist())
    return told


def entries(catalog: Catalog) -> list[Entry]:
    """Return all entries without the traces that an undone run must leave."""
    return [msgspec.structs.replace(catalog.get(memory), events=(), state_since=None) for memory in IDS]


def links(held: Links) -> list[Any]:
    return [(sorted(held.outgoing(memory)), sorted(held.incoming(memory))) for memory in IDS]


def goals(held: Goals) -> list[Any]:
    found = held.current("default")
    return [held.north_star("default"), *((one, held.exemplars(one.goal)) for one in found)]


Lives = tuple[list[Event], list[Event]]


@st.composite
def undone_runs(draw: st.DrawFn) -> Lives:
    """Draw a life without some runs, and the same with them, all undone at last."""
    before = [*draw(ANYTHING), *map(undone, RUNS)]
    steps = draw(st.lists(st.tuples(st.booleans(), OF_A_RUN, NEUTRAL), min_size=4, max_size=12))
    never = [NOTHING if is_run else other for is_run, _, other in steps]
    both = [run if is_run else other for is_run, run, other in steps]
    return before + never, before + both + [undone(run) for run in draw(st.permutations(RUNS))]


@settings(max_examples=60)
@given(undone_runs())
def test_undoing_all_runs_restores_everything_but_the_event_numbers(lives: Lives):
    never, undone_ = (log_of(*life) for life in lives)
    for fresh in (Lifecycle, Links, Goals):
        assert fold(fresh(), undone_).digest() == fold(fresh(), never).digest(), fresh
    first, second = fold(Catalog(), never), fold(Catalog(), undone_)
    assert entries(first) == entries(second)
    assert (first.states(), first.namespaces()) == (second.states(), second.namespaces())
    assert links(fold(Links(), never)) == links(fold(Links(), undone_))
    assert goals(fold(Goals(), never)) == goals(fold(Goals(), undone_))


@settings(max_examples=25)
@given(undone_runs())
@pytest.mark.parametrize("connected", [False, True])
def test_undoing_all_runs_restores_search_results(connected: bool, lives: Lives):
    never, undone_ = (fold(Atlas(DIMENSIONS, connected=connected), log_of(*life)) for life in lives)
    assert undone_.digest() == never.digest()
    assert scores(undone_) == scores(never)
