"""All projections together: a replay equals the live state."""

from collections.abc import Iterable

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from events.storage.log import Envelope
from events.vocabulary import Event, SpacesDeclared
from events.vocabulary.values import SpaceModel
from projections.registry import PROJECTION_SETS, ProjectionSet, digests, rebuild
from tests.events.samples import DIMENSIONS, SLEEP
from tests.projections.history import history
from tests.projections.sleeps import OF_A_LIFE, RUNS, log_of, read_last

DECLARED = SpacesDeclared(
    profile="embedded", spaces=tuple(SpaceModel(key, "sample", "ab", size) for key, size in DIMENSIONS.items())
)
STARTED = SLEEP[0]
LIFE = st.lists(OF_A_LIFE, min_size=4, max_size=16)


def folded(log: Iterable[Envelope]) -> list[ProjectionSet]:
    owned = [folds() for folds in PROJECTION_SETS]
    for envelope in log:
        for folds in owned:
            folds.apply(envelope)
    return owned


def declared_and(*events: Event) -> list[Envelope]:
    """Return a log whose memories have the ids of `sleeps`, with the spaces declared before and all runs begun."""
    starts = [msgspec.structs.replace(STARTED, run=run) for run in RUNS]
    log = log_of(*starts, *events)
    declared = history(*[DECLARED] * (len(log) + 1))[-1]
    return [declared, *log]


def test_projection_names_are_unique_across_owners():
    names = [name for folds in PROJECTION_SETS for name in folds().by_name()]
    assert len(names) == len(set(names)) == len(rebuild([]))


@settings(max_examples=25)
@given(LIFE)
def test_a_replay_gives_the_live_digests_whatever_was_erased(events: list[Event]):
    log = declared_and(*events)
    living = {name: digest for folds in folded(log) for name, digest in folds.digests().items()}
    assert digests(rebuild(log)) == living
    assert digests(rebuild(read_last(log))) == living
