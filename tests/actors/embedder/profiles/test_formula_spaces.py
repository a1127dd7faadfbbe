"""The position of a query in time and in its session, by its hints."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from actors.embedder.messages import EmbedQuery
from actors.embedder.profiles.formula_spaces import complete_query
from actors.embedder.spaces import temporal
from actors.embedder.spaces.vectors import mean_direction
from actors.runtime.metrics import Latencies
from events.fingerprint import Dense, Embedding
from events.quantization import Float32
from events.spaces import E2, E3, E4
from projections.memories.sessions import Sessions
from projections.time.expressions import find_intervals
from projections.time.time_mentions import QueryHints

ASKED = datetime(2023, 8, 17, 15, 20, tzinfo=UTC)


def completed(hints: QueryHints, session: str | None = None, turns: int = 0) -> dict[str, Embedding]:
    sessions = Sessions()
    for _ in range(turns):
        sessions.advance("n", "s")
    request = EmbedQuery(text="", at=ASKED, namespace="n", session=session, hints=hints)
    asked = {
        E2: Dense.of_each(temporal.recency([ASKED]))[0],
        E3: Dense.of_each(temporal.periodicity([ASKED]))[0],
    }
    return complete_query(request, asked, sessions=sessions, latencies=Latencies()).embeddings


def when(text: str) -> QueryHints:
    return QueryHints(intervals=tuple(find_intervals(text, ASKED, question=True)))


def near(embedding: Embedding, vector: Float32) -> float:
    assert isinstance(embedding, Dense)
    return float(embedding.array.astype(np.float32) @ vector)


def test_a_query_without_a_time_has_its_own():
    embeddings = completed(QueryHints())
    assert {*embeddings} == {E2, E3}
    assert near(embeddings[E2], temporal.recency([ASKED])[0]) == pytest.approx(1.0, abs=1e-3)
    assert near(embeddings[E3], temporal.periodicity([ASKED])[0]) == pytest.approx(1.0, abs=1e-3)


def test_a_query_that_names_a_day_has_no_hour():
    embeddings = completed(when("on 8 May 2023"))
    day = datetime(2023, 5, 8, tzinfo=UTC)
    hours = [near(embeddings[E2], temporal.recency([day + timedelta(hours=hour)])[0]) for hour in (1, 7, 13, 19, 23)]
    assert min(hours) > 0.7
    assert max(hours) - min(hours) < 0.12
    assert min(hours) > near(embeddings[E2], temporal.recency([day + timedelta(days=4)])[0])
    rhythm = [near(embeddings[E3], temporal.periodicity([day + timedelta(hours=hour)])[0]) for hour in range(24)]
    assert max(rhythm) - min(rhythm) < 0.35, "noon of that day is little nearer than its midnight"


def test_a_query_that_names_two_times_is_similar_to_both():
    embedding = completed(when("on 8 May 2022 or 8 May 2023"))[E2]
    both = [near(embedding, temporal.recency([datetime(year, 5, 8, 12, tzinfo=UTC)])[0]) for year in (2022, 2023)]
    assert both[0] == pytest.approx(both[1], abs=0.1)
    assert min(both) > 2 * abs(near(embedding, temporal.recency([datetime(2022, 11, 8, tzinfo=UTC)])[0]))


@pytest.mark.parametrize(
    ("text", "has_rhythm"), [("on 8 May 2023", True), ("in May 2023", True), ("in 2023", False), ("since May", False)]
)
def test_only_an_interval_of_at_most_a_month_has_a_periodicity(text: str, *, has_rhythm: bool):
    assert (E3 in completed(when(text))) == has_rhythm


def test_a_named_recurrence_overrides_the_interval():
    mornings = tuple(datetime(2023, 1, 1, 8, tzinfo=UTC) + timedelta(days=day) for day in range(100))
    hints = QueryHints(intervals=when("in 2010").intervals, recurring=mornings)
    vector = mean_direction(temporal.periodicity(mornings))
    assert near(completed(hints)[E3], vector) == pytest.approx(1.0, abs=1e-3)


def test_a_query_of_a_session_has_the_next_position_or_the_first():
    assert E4 not in completed(QueryHints(start=True))
    assert near(completed(QueryHints(), "s", turns=5)[E4], temporal.order(5)) == pytest.approx(1.0, abs=1e-3)
    assert near(completed(QueryHints(start=True), "s", turns=5)[E4], temporal.order(0)) == pytest.approx(1.0, abs=1e-3)
