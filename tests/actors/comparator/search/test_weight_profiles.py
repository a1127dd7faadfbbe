"""The fixed profiles, and the table from which `auto` computes its weights."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.comparator.messages.search import FIXED_PROFILES
from actors.comparator.search.fusion import IMAGES_ALONE, OPENING, WHOLE, WORDING_AROUND
from actors.comparator.search.weights import AUTO, FILE, LIMIT, Ranker
from actors.runtime.settings import SearchProfile
from events.spaces import SPACES
from projections.spaces.directed import Direction
from projections.time.time_mentions import NO_HINTS, QueryHints
from tests.events.samples import NOON

KEYS = [space.key for space in SPACES]
PLAIN = {name: of.mean for name, of in AUTO.measurements.items()}


def shares(hints: QueryHints = NO_HINTS, **measured: float) -> dict[str, float]:
    weights = AUTO.weights(PLAIN | measured, hints)
    return {view: weight / sum(weights.values()) for view, weight in weights.items()}


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
    code = FIXED_PROFILES[SearchProfile.CODE_SEARCH]
    assert max(code, key=code.__getitem__) == "e7_code"


@pytest.mark.parametrize(
    ("space", "measured"),
    [
        ("e5_causal", {"event": 1.0}),
        ("e7_code", {"code": 1.0}),
        ("e8_graph", {"session": 1.0}),
        ("e12_late_interaction/turns", {"session": 1.0}),
        ("e9_hdc", {"unknown_word": 1.0}),
        ("e1_semantic", {"unknown_share": 1.0}),
        ("e11_entity", {"speaker": 1.0}),
        ("e11_entity", {"time": 1.0}),
    ],
)
def test_a_measurement_raises_the_weight_of_its_space_and_half_of_it_raises_it_less(
    space: str, measured: dict[str, float]
) -> None:
    hints = QueryHints(direction=Direction.CAUSE)
    half = {name: value / 2 for name, value in measured.items()}
    assert shares(hints)[space] < shares(hints, **half)[space] < shares(hints, **measured)[space]


@pytest.mark.parametrize(
    ("space", "hints"),
    [
        ("e3_temporal_periodic", QueryHints(recurring=(NOON,))),
        ("e4_temporal_positional", QueryHints(end=True)),
        ("e5_causal", QueryHints(direction=Direction.EFFECT)),
    ],
)
def test_spaces_that_answer_some_questions_have_a_weight_for_these_alone(space: str, hints: QueryHints) -> None:
    assert shares(hints)[space] > 0
    assert space not in shares()


@given(st.fixed_dictionaries({name: st.floats(-1e6, 1e6) for name in AUTO.measurements}))
def test_no_measurement_leads_to_weights_beyond_those_at_the_limit(measured: dict[str, float]) -> None:
    weights = AUTO.weights(measured, NO_HINTS)
    clipped = {
        name: min(of.mean + LIMIT * of.deviation, max(of.mean - LIMIT * of.deviation, measured[name]))
        for name, of in AUTO.measurements.items()
    }
    assert all(weight >= 0 for weight in weights.values())
    assert weights == pytest.approx(AUTO.weights(clipped, NO_HINTS))


def test_every_view_of_the_table_is_known_and_it_says_which_command_wrote_it() -> None:
    assert {*AUTO.views, *AUTO.shares} <= {*KEYS, WHOLE, OPENING, WORDING_AROUND, IMAGES_ALONE}
    assert {name for view in AUTO.views.values() for name in view.effects} <= {*AUTO.measurements}
    assert AUTO.provenance["command"] == "python -m scripts.train.fusion"


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"measurements": {"code": {"mean": 0.0, "deviation": 0.0}}}, "deviation"),
        ({"kinds": {}}, "kinds"),
    ],
)
def test_a_table_with_unknown_fields_is_refused(change: dict[str, object], problem: str) -> None:
    table = msgspec.json.decode(FILE.read_bytes()) | change
    with pytest.raises(msgspec.ValidationError, match=problem):
        msgspec.convert(table, Ranker)
