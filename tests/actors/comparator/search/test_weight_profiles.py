"""The profiles: the seeds' rows, and the table by which `auto` goes."""

from itertools import combinations

import pytest

from actors.comparator.messages.profiles import FIXED_PROFILES
from actors.comparator.search.weight_profiles import AUTO, profile_weights
from actors.runtime.settings import SearchProfile
from actors.text.query_classifier import QueryKind
from events.spaces import SPACES

KEYS = [space.key for space in SPACES]
MAIN = [QueryKind.GENERAL, QueryKind.CODE, QueryKind.CAUSE]
MORE = [kind for kind in QueryKind if kind not in MAIN]


@pytest.mark.parametrize("profile", FIXED_PROFILES)
def test_each_profile_weighs_thirteen_spaces_and_sums_to_one(profile: SearchProfile) -> None:
    row = FIXED_PROFILES[profile]
    assert list(row) == KEYS
    assert sum(row.values()) == pytest.approx(1.0, abs=0.01)
    assert min(row.values()) >= 0


def test_the_fixed_profiles_equal_the_published_rows_except_for_the_weight_of_e13() -> None:
    semantic = FIXED_PROFILES[SearchProfile.SEMANTIC_SEARCH]
    assert semantic["e1_semantic"] == pytest.approx(0.30)
    assert semantic["e7_code"] == pytest.approx(0.18)
    assert semantic["e13_splade"] == pytest.approx(0.02)
    assert FIXED_PROFILES[SearchProfile.CAUSAL_REASONING]["e5_causal"] == pytest.approx(0.43)
    assert FIXED_PROFILES[SearchProfile.FACT_CHECKING]["e11_entity"] == pytest.approx(0.41)
    assert (
        max(FIXED_PROFILES[SearchProfile.CODE_SEARCH], key=FIXED_PROFILES[SearchProfile.CODE_SEARCH].__getitem__)
        == "e7_code"
    )


@pytest.mark.parametrize("profile", FIXED_PROFILES)
def test_a_fixed_profile_does_not_depend_on_the_query(profile: SearchProfile) -> None:
    assert (
        profile_weights(profile, frozenset({QueryKind.CODE, QueryKind.TIME}))
        == profile_weights(profile, frozenset())
        == FIXED_PROFILES[profile]
    )


def test_the_table_of_auto_has_a_row_for_each_kind_of_question() -> None:
    assert {*AUTO} == {*QueryKind}
    for row in AUTO.values():
        assert {*row} <= {*KEYS}
        assert all(weight > 0 for weight in row.values())
    for kind in MAIN:
        assert sum(AUTO[kind].values()) == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize(
    ("kind", "space"),
    [
        (QueryKind.CODE, "e7_code"),
        (QueryKind.CAUSE, "e5_causal"),
        (QueryKind.TIME, "e2_temporal_recent"),
        (QueryKind.RECURRING, "e3_temporal_periodic"),
        (QueryKind.POSITION, "e4_temporal_positional"),
        (QueryKind.SPEAKER, "e11_entity"),
        (QueryKind.UNKNOWN_WORD, "e9_hdc"),
    ],
)
def test_each_kind_of_query_raises_the_weight_of_its_space(kind: QueryKind, space: str) -> None:
    assert AUTO[kind][space] > AUTO[QueryKind.GENERAL].get(space, 0.0)


@pytest.mark.parametrize("main", MAIN)
@pytest.mark.parametrize("more", [*combinations(MORE, 0), *combinations(MORE, 1), *combinations(MORE, 3)])
def test_kinds_add_up_and_weights_sum_to_one(main: QueryKind, more: tuple[QueryKind, ...]) -> None:
    found = profile_weights(SearchProfile.AUTO, frozenset({main, *more}))
    assert list(found) == KEYS
    assert sum(found.values()) == pytest.approx(1.0)
    rows = [AUTO[kind] for kind in (main, *more)]
    total = sum(weight for row in rows for weight in row.values())
    for key, weight in found.items():
        assert weight == pytest.approx(sum(row.get(key, 0.0) for row in rows) / total)
