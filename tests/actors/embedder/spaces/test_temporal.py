from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pytest

from actors.embedder.spaces import temporal
from actors.embedder.spaces.temporal import Float64, order
from actors.embedder.spaces.vectors import mean_direction
from events.fingerprint import Dense
from events.quantization import Float32

BASES = [datetime(2026, 3, 1, 9, 30, 17, 250_000, UTC), datetime(1999, 12, 31, 23, 59, tzinfo=UTC)]
MINUTE, HOUR, DAY, YEAR = 60.0, 3_600.0, 86_400.0, 365.25 * 86_400.0


def recency(at: datetime) -> Float32:
    return temporal.recency([at])[0]


def periodicity(at: datetime) -> Float32:
    return temporal.periodicity([at])[0]


def kernel(seconds: float | Float64):
    return np.mean([np.exp(-seconds / tau) for tau in (HOUR, DAY, 7 * DAY, 30 * DAY)], axis=0)


def similarity(embed: Callable[[Any], Float32], first: datetime | int, second: datetime | int):
    """The inner product after rounding to float16, as a store keeps it."""
    return float(Dense.of(embed(first)).array.astype(float) @ Dense.of(embed(second)).array.astype(float))


def worst_error(differences: Float64):
    base = BASES[0]
    here = recency(base).astype(np.float16).astype(float)
    there = np.stack([recency(base - timedelta(seconds=float(d))) for d in differences]).astype(np.float16)
    return np.abs(there.astype(float) @ here - kernel(differences)).max()


def test_recency_follows_its_kernel_for_a_year():
    rng = np.random.default_rng(71)
    uniform = rng.uniform(0, YEAR, 15_000)
    logarithmic = np.exp(rng.uniform(0, np.log(YEAR), 15_000))
    assert worst_error(np.concatenate([uniform, logarithmic])) < 0.052


def test_recency_stays_near_its_kernel_for_five_years():
    assert worst_error(np.random.default_rng(72).uniform(YEAR, 5 * YEAR, 20_000)) < 0.11


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize(
    ("seconds", "tolerance"),
    [(s, 0.052) for s in (0, 1, MINUTE, 10 * MINUTE, HOUR, 3 * HOUR)]
    + [(days * DAY, 0.052) for days in (1, 3, 7, 14, 30, 60, 90, 180, 365)]
    + [(years * YEAR, 0.11) for years in (2, 5)],
)
def test_recency_of_round_differences_is_the_same_from_any_base_and_in_both_directions(
    base: datetime, seconds: float, tolerance: float
):
    later = base + timedelta(seconds=seconds)
    assert similarity(recency, base, later) == pytest.approx(float(kernel(seconds)), abs=tolerance)
    assert similarity(recency, later, base) == similarity(recency, base, later)


def test_recency_separates_an_hour_a_day_and_a_month():
    base = BASES[0]
    falling = [similarity(recency, base, base + timedelta(seconds=d)) for d in (1, HOUR, DAY, 7 * DAY, 30 * DAY, YEAR)]
    assert falling == sorted(falling, reverse=True)
    assert falling[0] > 0.99


def test_a_time_has_one_embedding_in_every_time_zone():
    moment = BASES[0]
    elsewhere = moment.astimezone(timezone(timedelta(hours=-7)))
    for embed in (recency, periodicity):
        assert np.array_equal(embed(moment), embed(elsewhere))


@pytest.mark.parametrize("embed", [recency, periodicity])
def test_a_timestamp_without_a_time_zone_is_refused(embed: Callable[[datetime], Float32]):
    with pytest.raises(ValueError, match="time zone"):
        embed(datetime(2026, 3, 1))


@pytest.mark.parametrize(
    ("difference", "low", "high"),
    [
        (timedelta(seconds=1), 0.999, 1.001),
        (timedelta(minutes=1), 0.95, 1.0),
        (timedelta(hours=1), 0.6, 0.75),
        (timedelta(hours=12), 0.25, 0.45),
        (timedelta(days=1), 0.65, 0.8),
        (timedelta(days=3), 0.6, 0.75),
        (timedelta(days=3, hours=5), 0.1, 0.3),
        (timedelta(days=7), 0.75, 0.9),
        (timedelta(days=100, hours=7, minutes=30), -0.2, 0.1),
    ],
)
def test_periodicity_matches_the_hour_of_another_day(difference: timedelta, low: float, high: float):
    for base in BASES:
        assert low <= similarity(periodicity, base, base + difference) <= high


@pytest.mark.parametrize("embed", [temporal.recency, temporal.periodicity])
def test_the_mean_of_one_time_is_its_own_vector(embed: Callable[[list[datetime]], Float32]):
    (one,) = embed([BASES[0]])
    assert mean_direction(embed([BASES[0]])) == pytest.approx(one, abs=1e-3)
    assert mean_direction(embed([BASES[0]] * 3)) == pytest.approx(one, abs=1e-3)
    with pytest.raises(ValueError, match="time zone"):
        embed([BASES[0], BASES[0].replace(tzinfo=None)])


def test_the_mean_recency_of_several_times_is_similar_to_each_of_them_and_to_no_other():
    week = [BASES[0] + timedelta(days=day) for day in range(7)]
    vector = mean_direction(temporal.recency(week))
    inside = [float(vector @ recency(moment)) for moment in week]
    outside = [float(vector @ recency(BASES[0] + timedelta(days=days))) for days in (-60, -30, 60, 200)]
    assert min(inside) > 2 * max(outside)


def test_the_mean_periodicity_of_many_mornings_encodes_the_morning_and_no_weekday():
    mornings = [BASES[0] + timedelta(days=day) for day in range(0, 364, 5)]
    vector = mean_direction(temporal.periodicity(mornings))
    by_day = [float(vector @ periodicity(BASES[0] + timedelta(days=2_001 + day))) for day in range(7)]
    evening = float(vector @ periodicity(BASES[0] + timedelta(days=2_001, hours=10)))
    assert max(by_day) - min(by_day) < 0.1
    assert min(by_day) > evening + 0.3


def test_neighbouring_turns_are_similar_and_distant_ones_are_not():
    falling = [similarity(order, 40, 40 + step) for step in (1, 10, 100, 1_000, 5_000)]
    assert falling == sorted(falling, reverse=True)
    assert falling[0] > 0.99
    assert falling[2] < 0.6
    assert falling[3] < 0.25


def test_all_positions_of_a_long_session_differ():
    start = order(0)
    assert max(float(order(position) @ start) for position in range(10, 8_000)) < 0.8


def test_a_negative_position_is_refused():
    with pytest.raises(ValueError, match="from 0"):
        order(-1)


@pytest.mark.parametrize(
    "vector",
    [
        recency(BASES[0]),
        periodicity(BASES[1]),
        order(7),
        mean_direction(temporal.recency(BASES)),
        mean_direction(temporal.periodicity(BASES)),
    ],
)
def test_temporal_embeddings_are_512_wide_unit_vectors(vector: Float32):
    assert vector.shape == (512,)
    assert vector.dtype == np.float32
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-6)
