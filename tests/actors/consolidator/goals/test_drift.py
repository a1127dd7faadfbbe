import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.consolidator.goals.drift import (
    LEAST_USUAL,
    MAX_SAMPLES,
    TREND_SAMPLES,
    WINDOW,
    DriftStrategy,
    Trend,
    history,
    level_of,
    measure,
    recommendations,
    strategy,
    trend,
    usual_nearness,
    windows_until_critical,
)
from events.spaces import INDEX, SEMANTIC, TEMPORAL
from events.vocabulary.values import WIDTH, DriftLevel


def alike(similarity: float, memories: int = 1, **spaces: float) -> np.ndarray:
    """Return alignments that are the same everywhere but in the spaces named."""
    rows = np.full((memories, WIDTH), similarity, np.float32)
    for key, value in spaces.items():
        rows[:, INDEX[key]] = value
    return rows


@pytest.mark.parametrize(
    ("similarity", "level"),
    [
        (1.0, DriftLevel.NONE),
        (0.85, DriftLevel.NONE),
        (0.84, DriftLevel.LOW),
        (0.70, DriftLevel.LOW),
        (0.69, DriftLevel.MEDIUM),
        (0.55, DriftLevel.MEDIUM),
        (0.54, DriftLevel.HIGH),
        (0.40, DriftLevel.HIGH),
        (0.39, DriftLevel.CRITICAL),
        (0.0, DriftLevel.CRITICAL),
    ],
)
def test_levels_are_those_of_the_table(similarity: float, level: DriftLevel):
    assert level_of(similarity) is level


def test_similarity_is_the_mean_over_memories_and_then_over_the_spaces_that_say_what_they_are_about():
    rows = np.random.default_rng(0).random((7, WIDTH), np.float32)
    drift = measure(rows)
    about = rows[:, [INDEX[key] for key in SEMANTIC]].mean()
    assert drift.spaces == pytest.approx(rows.mean(axis=0))
    assert drift.similarity == pytest.approx(about)
    assert drift.similarity != pytest.approx(rows.mean()), "the temporal spaces have no say"
    assert drift.level is level_of(drift.similarity)
    assert drift.memories == 7


def test_a_space_that_points_the_other_way_counts_as_unlike():
    drift = measure(alike(1.0, e5_causal=-0.5))
    assert drift.spaces[INDEX["e5_causal"]] == 0.0
    assert drift.similarity == pytest.approx((len(SEMANTIC) - 1) / len(SEMANTIC))


def test_temporal_spaces_do_not_count_as_drift():
    drift = measure(alike(0.9, **dict.fromkeys(TEMPORAL, 0.0)))
    assert drift.level is DriftLevel.NONE
    assert drift.similarity == pytest.approx(0.9)
    assert drift.drifted == ()
    assert [drift.spaces[INDEX[key]] for key in TEMPORAL] == [0.0] * len(TEMPORAL), "it is measured all the same"


def test_the_spaces_that_moved_most_are_named_worst_first():
    moved = measure(alike(0.9, e7_code=0.1, e11_entity=0.6, e5_causal=0.45)).drifted
    assert [one.space for one in moved] == ["e7_code", "e5_causal", "e11_entity"]
    assert [one.level for one in moved] == [DriftLevel.CRITICAL, DriftLevel.HIGH, DriftLevel.MEDIUM]
    assert [one.similarity for one in moved] == pytest.approx([0.1, 0.45, 0.6])
    assert len(measure(alike(0.2)).drifted) == 5
    assert measure(alike(0.9)).drifted == ()


@pytest.mark.parametrize("rows", [np.empty((0, WIDTH)), np.ones((3, WIDTH - 1)), np.ones(WIDTH)])
def test_drift_of_no_memories_is_refused(rows: np.ndarray):
    with pytest.raises(ValueError, match="shape"):
        measure(rows)


def test_a_space_that_says_nothing_has_no_similarity_and_no_vote():
    drift = measure(alike(0.9, 3, e8_graph=np.nan))
    assert np.isnan(drift.spaces[INDEX["e8_graph"]])
    assert drift.similarity == pytest.approx(0.9)
    assert drift.drifted == ()
    assert measure(np.vstack([alike(0.9, e8_graph=np.nan), alike(0.5)])).spaces[INDEX["e8_graph"]] == pytest.approx(0.5)


def test_drift_is_measured_by_what_is_usual_and_at_most_by_the_nearness_of_members():
    usual = usual_nearness(np.vstack([alike(0.3, e8_graph=np.nan), alike(0.7, e8_graph=np.nan)]))
    assert measure(alike(0.5, 3, e8_graph=np.nan), usual).similarity == pytest.approx(1)
    assert measure(alike(0.25, 3, e8_graph=np.nan), usual).similarity == pytest.approx(0.5)
    assert usual[INDEX["e8_graph"]] == 1
    assert usual_nearness(alike(1.4)).max() == 1
    assert measure(alike(0.05), usual_nearness(alike(0.0))).similarity == pytest.approx(0.05 / LEAST_USUAL)
    assert (usual_nearness(np.empty((0, WIDTH))) == 1).all()


def test_a_history_is_made_of_the_latest_full_windows_oldest_first():
    rows = np.vstack([alike(0.1, 7), alike(0.9, WINDOW), alike(0.5, WINDOW)])
    assert [drift.similarity for drift in history(rows)] == pytest.approx([0.9, 0.5])
    assert [drift.memories for drift in history(rows)] == [WINDOW, WINDOW]
    assert history(alike(0.9, WINDOW - 1)) == ()
    long = history(np.repeat(np.linspace(0, 1, MAX_SAMPLES + 10), WINDOW * WIDTH).reshape(-1, WIDTH))
    assert len(long) == MAX_SAMPLES
    assert long[-1].similarity == pytest.approx(1)


@pytest.mark.parametrize(
    ("samples", "course"),
    [
        ([], None),
        ([0.9, 0.1], None),
        ([0.9, 0.9, 0.9], Trend.STABLE),
        ([0.9, 0.895, 0.89], Trend.STABLE),
        ([0.9, 0.88, 0.86], Trend.WORSENING),
        ([0.5, 0.9, 0.8], Trend.IMPROVING),
    ],
)
def test_a_trend_needs_three_samples_and_a_slope(samples: list[float], course: Trend | None):
    assert trend(samples) is course


def test_the_trend_follows_the_latest_samples_only():
    assert trend([0.8] * 90 + [0.5] * 5) is Trend.WORSENING


@given(st.lists(st.floats(0, 1), min_size=3, max_size=TREND_SAMPLES))
def test_the_trend_of_the_reverse_is_the_reverse(samples: list[float]):
    slope = np.polyfit(np.arange(len(samples)), samples, 1)[0]
    if abs(abs(slope) - 0.01) > 1e-9:
        turned = {Trend.STABLE: Trend.STABLE, Trend.IMPROVING: Trend.WORSENING, Trend.WORSENING: Trend.IMPROVING}
        course = trend(samples)
        assert course is not None
        assert trend(samples[::-1]) is turned[course]


def test_a_worsening_line_is_followed_down_to_the_critical_level():
    assert windows_until_critical([0.8, 0.7, 0.6]) == 2
    assert windows_until_critical([0.8, 0.6, 0.37, 0.2]) == 0
    assert windows_until_critical([0.6, 0.7, 0.8]) is None
    assert windows_until_critical([0.3, 0.3, 0.3]) is None
    assert windows_until_critical([0.8, 0.7]) is None


def test_memories_of_another_topic_worsen_the_level_and_the_trend():
    before = np.vstack([alike(0.9, 60)])
    later = np.vstack(
        [before, alike(0.9, 100, e1_semantic=0.1, e6_sparse=0.1, e11_entity=0.0, e7_code=0.3, e5_causal=0)]
    )
    assert measure(before[-60:]).level is DriftLevel.NONE
    assert measure(later[-60:]).similarity == pytest.approx((0.1 + 0.1 + 0.0 + 0.3 + 0.0 + 5 * 0.9) / 10)
    assert measure(later[-60:]).level is DriftLevel.HIGH
    assert trend([drift.similarity for drift in history(before)]) is Trend.STABLE
    assert trend([drift.similarity for drift in history(later)]) is Trend.WORSENING


SEVERITY = list(DriftLevel)
URGENCY = [Trend.IMPROVING, Trend.STABLE, Trend.WORSENING]
EFFORT = list(DriftStrategy)


def test_the_worse_the_level_and_the_trend_the_more_is_done():
    effort = np.array([[EFFORT.index(strategy(level, course)) for course in URGENCY] for level in SEVERITY])
    assert (np.diff(effort, axis=0) >= 0).all()
    assert (np.diff(effort, axis=1) >= 0).all()
    assert strategy(DriftLevel.NONE, Trend.WORSENING) is DriftStrategy.NO_ACTION
    assert strategy(DriftLevel.LOW, Trend.WORSENING) is DriftStrategy.REINFORCE
    assert strategy(DriftLevel.MEDIUM, Trend.IMPROVING) is DriftStrategy.NO_ACTION
    assert strategy(DriftLevel.CRITICAL, Trend.WORSENING) is DriftStrategy.REFINE


@pytest.mark.parametrize("level", DriftLevel)
def test_a_trend_that_is_not_known_yet_counts_as_stable(level: DriftLevel):
    assert strategy(level, None) is strategy(level, Trend.STABLE)


@pytest.mark.parametrize("course", Trend)
def test_from_medium_on_there_is_advice_that_fits_the_strategy(course: Trend):
    for level in SEVERITY[:2]:
        assert recommendations(level, course) == ()
    for level in SEVERITY[2:]:
        advice = " ".join(recommendations(level, course))
        assert ("trigger_drift_correction" in advice) is (strategy(level, course) is not DriftStrategy.NO_ACTION)
        assert ("discover_goals" in advice) is (strategy(level, course) is DriftStrategy.REFINE)
        assert advice
