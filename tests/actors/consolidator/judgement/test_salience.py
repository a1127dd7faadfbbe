from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.consolidator.judgement.salience import ALIGNMENT, protection, salience
from actors.consolidator.messages import SALIENCE_THRESHOLD
from events.vocabulary.values import Salience
from projections.memories.entries import Usage

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
MEMORY = UUID(int=1)


def ago(days: float) -> datetime:
    return NOW - timedelta(days=days)


def judge(**known: Any) -> Salience:
    usage = Usage(importance=0.5, created_at=NOW, stored_at=NOW, accesses=0, alignment=0.0, memories=(MEMORY,))
    ignitions = {MEMORY: known.pop("ignitions", 0)}
    return salience(usage._replace(**known), ignitions, NOW)


def protected(**known: Any) -> str | None:
    return protection(
        **{
            "importance": 0.5,
            "created_at": ago(100),
            "now": NOW,
            "links": 0,
            "in_goal": False,
            "memory_type": None,
            "restored": False,
            "corrects": False,
            **known,
        }
    )


def test_a_memory_of_average_importance_that_nobody_recalls_falls_to_the_threshold_in_two_months():
    assert judge().total == pytest.approx(0.45)
    assert judge(created_at=ago(30), stored_at=ago(30)).total == pytest.approx(0.35)
    assert judge(created_at=ago(60), stored_at=ago(60)).total == pytest.approx(SALIENCE_THRESHOLD)
    assert judge(created_at=ago(61), stored_at=ago(61)).total < SALIENCE_THRESHOLD


def test_an_old_archive_is_not_prunable_on_the_day_of_its_import():
    assert judge(created_at=ago(5_000)).total > SALIENCE_THRESHOLD
    assert judge(created_at=ago(5_000)).recency == pytest.approx(judge().recency / 2)


def test_ignitions_count_as_recalls_and_never_beyond_what_recalls_could_reach():
    recalled = judge(accesses=5)
    assert judge(ignitions=5).ignition == pytest.approx(recalled.access)
    both = judge(accesses=5, ignitions=3)
    assert both.access == recalled.access
    assert both.access + both.ignition == pytest.approx(judge(accesses=8).access)
    assert judge(accesses=9, ignitions=50).total == pytest.approx(judge(accesses=10).total)
    assert judge(accesses=10, ignitions=50).ignition == 0


def test_alignment_counts_and_what_opposes_the_goal_is_no_worse_than_what_has_nothing_to_do_with_it():
    assert judge(alignment=0.5).alignment == pytest.approx(ALIGNMENT / 2)
    assert judge(alignment=-1.0) == judge(alignment=0.0)


def test_a_future_time_counts_as_now():
    assert judge(created_at=ago(-400), stored_at=ago(-1)) == judge()


memories = st.fixed_dictionaries(
    {
        "importance": st.floats(0, 1),
        "created_at": st.floats(-1e3, 1e4).map(ago),
        "stored_at": st.floats(-1e3, 1e4).map(ago),
        "accesses": st.integers(0, 30),
        "alignment": st.floats(-1, 1),
        "ignitions": st.integers(0, 30),
    }
)


@given(memories, memories, st.sampled_from(["importance", "created_at", "stored_at", "accesses", "alignment"]))
def test_no_part_of_salience_lowers_it(one: dict[str, Any], other: dict[str, Any], what: str):
    lesser, greater = sorted((one[what], other[what]))
    assert judge(**one | {what: lesser}).total <= judge(**one | {what: greater}).total + 1e-12


@given(memories, st.integers(0, 30))
def test_more_ignitions_never_lower_salience(one: dict[str, Any], more: int):
    assert judge(**one).total <= judge(**one | {"ignitions": one["ignitions"] + more}).total + 1e-12


@given(memories)
def test_salience_and_each_of_its_parts_lie_between_0_and_1(one: dict[str, Any]):
    score = judge(**one)
    parts = (score.importance, score.recency, score.access, score.alignment, score.ignition)
    assert all(0 <= part <= 1 for part in parts)
    assert sum(parts) == pytest.approx(score.total)
    assert 0 <= score.total <= 1 + 1e-12


def test_a_memory_without_any_protection_may_be_pruned():
    assert protected() is None


def test_a_memory_is_protected_for_a_day_after_the_time_of_its_content():
    assert protected(created_at=ago(0.99)) == "young"
    assert protected(created_at=ago(-3)) == "young"
    assert protected(created_at=ago(1)) is None


def test_importance_protects_above_six_tenths():
    assert protected(importance=0.61) == "important"
    assert protected(importance=0.6) is None


def test_three_links_protect():
    assert protected(links=3) == "linked"
    assert protected(links=2) is None


def test_a_member_of_a_goal_is_protected():
    assert protected(in_goal=True) == "goal"


@pytest.mark.parametrize("kind", ["ego", "self", "identity", " Identity ", "EGO"])
def test_memories_of_the_agents_identity_are_never_pruned(kind: str):
    assert protected(memory_type=kind) == "ego"


@pytest.mark.parametrize("kind", ["fact", "selfish", ""])
def test_other_types_protect_nothing(kind: str):
    assert protected(memory_type=kind) is None
