from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from events.vocabulary import MemoryStored
from events.vocabulary.values import JohariRow, Modality, Quadrant
from projections.atlas.facets import Facets, Filter
from projections.projection import MemoryState
from tests.events.samples import NOON, stored

SAMPLE = stored()


def memory(**fields: Any) -> MemoryStored:
    return msgspec.structs.replace(SAMPLE, **fields)


def facets_of(*memories: MemoryStored | None) -> Facets:
    facets = Facets()
    for one in memories:
        facets.append(one)
    return facets


def found(facets: Facets, **wanted: Any) -> list[int]:
    return np.flatnonzero(facets.eligible(Filter(**wanted))).tolist()


@pytest.mark.parametrize(
    ("fields", "wanted"),
    [
        ({"namespace": "work"}, {"namespace": "work"}),
        ({"session": "monday"}, {"session": "monday"}),
        ({"metadata": {"speaker": "Ada"}}, {"speaker": "Ada"}),
        ({"modality": Modality.CODE}, {"modality": Modality.CODE}),
        ({"tags": ("blue", "red")}, {"tags": ("red", "blue")}),
        ({"created_at": NOON + timedelta(days=2)}, {"since": NOON + timedelta(days=2)}),
        ({"created_at": NOON - timedelta(days=2)}, {"until": NOON - timedelta(days=2)}),
        ({"utc_offset": 540}, {"since": NOON.replace(hour=21, tzinfo=None)}),
        ({"utc_offset": -420}, {"until": NOON.replace(hour=5, tzinfo=None)}),
        (
            {"johari": (JohariRow((0.1, 0.1, 0.7, 0.1), 1.0), *SAMPLE.johari[1:])},
            {"quadrant": Quadrant.BLIND},
        ),
    ],
)
def test_each_condition_filters(fields: dict[str, Any], wanted: dict[str, Any]):
    facets = facets_of(memory(), memory(**fields), memory(tags=("red",)))
    assert found(facets, **wanted) == [1]
    assert found(facets) == [0, 1, 2]


def test_all_conditions_must_hold_together():
    facets = facets_of(
        memory(namespace="work", session="a"), memory(namespace="home", session="a"), memory(namespace="work")
    )
    assert found(facets, namespace="work", session="a") == [0]


def test_an_unknown_value_excludes_all():
    facets = facets_of(memory(), memory())
    assert found(facets, namespace="elsewhere") == []
    assert found(facets, tags=("unheard",)) == []
    assert found(facets, speaker="Nobody") == []


def test_a_speaker_that_is_no_name_is_none():
    assert found(facets_of(memory(metadata={"speaker": 7})), speaker="7") == []


def test_hidden_rows_are_not_eligible_until_they_are_shown():
    facets = facets_of(memory(), memory())
    facets.hide(0)
    assert found(facets) == [1]
    facets.show(0)
    assert found(facets) == [0, 1]


def test_a_cleared_row_leaves_what_a_row_without_content_leaves():
    told = memory(namespace="secret", session="s", tags=("hidden", "red"), metadata={"speaker": "Eve"}, created_at=NOON)
    others = [memory(tags=("red",), session="s", position=place) for place in (1, 2)]
    facets = facets_of(told, *others)
    facets.clear(0)
    assert facets.digest() == facets_of(None, *others).digest()
    assert found(facets, namespace="secret") == []
    assert found(facets, tags=("red",)) == [1, 2]
    facets.append(told)
    assert found(facets, namespace="secret") == [3]


def neighbours(facets: Facets, row: int, reach: int) -> dict[int, int]:
    rows, distances = facets.turns(np.array([row]), reach)
    return {int(near): int(far) for near, far in zip(rows[0], distances[0], strict=True) if near >= 0}


def test_turns_are_the_rows_of_the_same_session_within_reach():
    order = [4, 0, 1, 3, 2, 9]
    facets = facets_of(
        *(memory(session="a", position=position) for position in order),
        memory(session="b", position=2),
        memory(session="a", position=2, namespace="other"),
        memory(),
        memory(),
    )
    middle = order.index(2)
    expected = {order.index(position): abs(position - 2) for position in (0, 1, 3, 4)}
    assert neighbours(facets, middle, 2) == expected
    assert neighbours(facets, order.index(9), 3) == {}
    assert neighbours(facets, order.index(9), 5) == {order.index(4): 5}
    assert neighbours(facets, 6, 3) == {}
    assert neighbours(facets, 8, 3) == {}
    assert neighbours(facets, middle, 0) == {}


def test_turns_of_many_rows_are_those_of_each():
    rng = np.random.default_rng(0)
    places = [(str(rng.integers(5)), int(rng.integers(40))) for _ in range(120)]
    places = list(dict.fromkeys(places))
    facets = facets_of(*(memory(session=session, position=position) for session, position in places))
    rows, distances = facets.turns(np.arange(len(places)), 3)
    for row, (session, position) in enumerate(places):
        expected = {
            other: abs(place - position)
            for other, (name, place) in enumerate(places)
            if other != row and name == session and abs(place - position) <= 3
        }
        assert {int(n): int(d) for n, d in zip(rows[row], distances[row], strict=True) if n >= 0} == expected


def test_hidden_and_cleared_rows_are_no_neighbours():
    facets = facets_of(*(memory(session="a", position=position) for position in range(5)))
    facets.hide(1)
    assert neighbours(facets, 2, 2) == {0: 2, 3: 1, 4: 2}
    facets.clear(3)
    assert neighbours(facets, 2, 2) == {0: 2, 4: 2}
    facets.clear(4)
    facets.append(memory(session="a", position=5))
    assert neighbours(facets, 5, 3) == {2: 3}


# ── time and namespace ──────────────────────────────────────────────────────────────────────────────


def in_time(facets: Facets, moment: datetime, count: int, **wanted: Any) -> list[int]:
    return facets.nearest_in_time(moment, count, facets.eligible(Filter(**wanted))).tolist()


def test_the_nearest_in_time_lie_on_either_side_and_the_nearest_comes_first():
    facets = facets_of(*(memory(created_at=NOON + timedelta(hours=hours)) for hours in (5, -1, 2, -9, 3)))
    assert in_time(facets, NOON, 3) == [1, 2, 4]
    assert in_time(facets, NOON + timedelta(hours=6), 2) == [0, 4]
    assert in_time(facets, NOON, 9) == [1, 2, 4, 0, 3]
    assert in_time(facets, NOON, 0) == []


def test_of_those_equally_near_in_time_the_earlier_row_comes_first():
    facets = facets_of(*(memory(created_at=NOON + timedelta(hours=hours)) for hours in (1, -1, 1)))
    assert in_time(facets, NOON, 2) == [0, 1]


def test_only_eligible_rows_are_near_in_time():
    facets = facets_of(memory(), memory(namespace="other"), memory(), memory(), memory())
    facets.hide(0)
    facets.clear(2)
    assert in_time(facets, NOON, 9) == [1, 3, 4]
    assert in_time(facets, NOON, 9, namespace="default") == [3, 4]
    assert in_time(facets, NOON, 9, namespace="nobody's") == []


@given(
    st.lists(st.integers(-10_000, 10_000), max_size=30),
    st.integers(-10_000, 10_000),
    st.integers(0, 40),
)
def test_no_other_row_is_nearer_in_time(minutes: list[int], now: int, count: int):
    facets = facets_of(*(memory(created_at=NOON + timedelta(minutes=minute)) for minute in minutes))
    named = in_time(facets, NOON + timedelta(minutes=now), count)
    apart = [abs(minute - now) for minute in minutes]
    assert len(named) == len({*named}) == min(count, len(minutes))
    assert [apart[row] for row in named] == sorted(apart)[:count]


@given(st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31), timezones=st.just(UTC)))
def test_created_at_is_exact_to_the_microsecond(moment: datetime):
    facets = facets_of(memory(created_at=moment), memory(created_at=moment), None)
    facets.clear(1)
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    assert [facets.created_at(row) for row in range(3)] == [moment, epoch, epoch]


def test_a_namespace_includes_forgotten_rows_but_no_erased_ones():
    facets = facets_of(*(memory(namespace=name) for name in "abaaba"))
    assert facets.within("a").tolist() == [0, 2, 3, 5]
    facets.hide(2)
    facets.clear(3)
    assert facets.within("a").tolist() == [0, 2, 5]
    assert facets.within("b").tolist() == [1, 4]
    assert facets.within("c").tolist() == []
    assert Facets().within("a").tolist() == []


# ── sleep ───────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("state", [MemoryState.FORGOTTEN, MemoryState.PRUNED, MemoryState.MERGED])
def test_every_excluded_state_hides_a_row(state: MemoryState):
    facets = facets_of(memory(), memory())
    before = facets.digest()
    facets.hide(0, state)
    assert (facets.state(0), facets.state(1)) == (state, MemoryState.LIVE)
    assert found(facets) == [1]
    assert facets.digest() != before
    facets.show(0)
    assert facets.digest() == before


def test_a_survivor_is_found_by_the_tags_of_all_that_it_absorbed():
    facets = facets_of(*(memory(tags=(tag,)) for tag in "abc"))
    facets.hide(0, MemoryState.MERGED, 1)
    facets.hide(1, MemoryState.MERGED, 2)
    assert found(facets, tags=("a", "b", "c")) == [2]
    facets.hide(2)
    assert found(facets, tags=("a",)) == []
    facets.show(2)
    facets.show(0)
    assert found(facets, tags=("a",)) == [0]
    assert found(facets, tags=("b",)) == [2]
    facets.clear(1)
    assert found(facets, tags=("b",)) == []


@pytest.mark.parametrize(
    ("fields", "wanted"),
    [
        ({"session": "monday"}, {"session": "monday"}),
        ({"metadata": {"speaker": "Ada"}}, {"speaker": "Ada"}),
        ({"modality": Modality.CODE}, {"modality": Modality.CODE}),
        ({"created_at": NOON + timedelta(days=2)}, {"since": NOON + timedelta(days=2)}),
        ({"created_at": NOON - timedelta(days=2)}, {"until": NOON - timedelta(days=2)}),
        (
            {"johari": (JohariRow((0.1, 0.1, 0.7, 0.1), 1.0), *SAMPLE.johari[1:])},
            {"quadrant": Quadrant.BLIND},
        ),
    ],
)
def test_a_survivor_passes_a_filter_by_what_it_absorbed_until_that_is_undone(
    fields: dict[str, Any], wanted: dict[str, Any]
):
    facets = facets_of(memory(**fields), memory(), memory(), memory())
    facets.hide(0, MemoryState.MERGED, 1)
    facets.hide(1, MemoryState.MERGED, 2)
    assert found(facets, **wanted) == [2], "by what its absorbed one had absorbed"
    facets.show(0)
    assert found(facets, **wanted) == [0]
    assert found(facets) == [0, 2, 3]


def test_one_absorbed_memory_must_pass_all_filters_together_and_tags_are_united():
    facets = facets_of(
        memory(session="a", metadata={"speaker": "Ada"}, tags=("red",)),
        memory(session="b", metadata={"speaker": "Ben"}, tags=("blue",)),
        memory(session="c", metadata={"speaker": "Cem"}),
    )
    facets.hide(0, MemoryState.MERGED, 2)
    facets.hide(1, MemoryState.MERGED, 2)
    for session, speaker in (("a", "Ada"), ("b", "Ben"), ("c", "Cem")):
        assert found(facets, session=session, speaker=speaker, tags=("red", "blue")) == [2]
    assert found(facets, session="a", speaker="Ben") == []
    assert found(facets, session="c", speaker="Ada") == []


@pytest.mark.parametrize("state", [MemoryState.FORGOTTEN, MemoryState.PRUNED, MemoryState.ERASED])
def test_a_hidden_survivor_does_not_pass_by_what_it_absorbed(state: MemoryState):
    facets = facets_of(memory(session="a"), memory(session="b"))
    facets.hide(0, MemoryState.MERGED, 1)
    facets.hide(1, state)
    assert found(facets, session="a") == []


def test_pruned_and_forgotten_rows_make_no_other_row_pass():
    facets = facets_of(memory(session="a"), memory(session="a"), memory(session="b"))
    facets.hide(0, MemoryState.PRUNED)
    facets.hide(1, MemoryState.FORGOTTEN)
    assert found(facets, session="a") == []
