"""What memories tell: the times that they name and who says it, row by row, and nothing of what was erased."""

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import numpy as np
import pytest

from events.vocabulary import MemoryErased, MemoryStored, SpacesDeclared
from events.vocabulary.values import SpaceModel
from projections.registry import ComparatorProjections, ProjectionSet
from projections.time.expressions import find_intervals
from projections.time.periods import Interval
from projections.time.time_mentions import NO_HINTS, TimeMentions, words
from tests.events.samples import DIMENSIONS, random_fingerprint, stored
from tests.projections.dumping import through_bytes, whole
from tests.projections.history import history, memory_id

SAID = datetime(2023, 5, 9, 18, 30, tzinfo=UTC)
FINGERPRINT = random_fingerprint(1)
DECLARED = SpacesDeclared(
    profile="embedded", spaces=tuple(SpaceModel(key, "sample", "ab", size) for key, size in DIMENSIONS.items())
)


def memory(content: str, said: datetime = SAID, **metadata: Any) -> MemoryStored:
    return stored(content, fingerprint=FINGERPRINT, created_at=said, metadata=metadata)


def telling(*memories: MemoryStored | None) -> TimeMentions:
    told = TimeMentions()
    for one in memories:
        told.append(one)
    return told


def asked(question: str) -> tuple[Interval, ...]:
    return tuple(find_intervals(question, SAID, question=True))


def times(told: TimeMentions, question: str) -> list[float]:
    return told.time_scores(asked(question), np.arange(len(told))).tolist()


def speakers(told: TimeMentions, question: str) -> list[int]:
    """Return the rows that somebody says whom a question names."""
    return np.flatnonzero(told.speaker_scores(told.speakers(words(question)), np.arange(len(told)))).tolist()


# ── times ───────────────────────────────────────────────────────────────────────────────────────────


def test_relative_times_count_from_the_day_of_created_at():
    told = telling(memory("I ran yesterday."), memory("I will run tomorrow."), memory("I run."))
    assert np.argmax(times(told, "on 8 May 2023")) == 0
    assert np.argmax(times(told, "on 10 May 2023")) == 1
    assert times(told, "on 8 May 2023")[0] == pytest.approx(1.0)


def test_days_are_those_of_the_calendar_where_it_was_said():
    late = datetime(2023, 5, 9, 1, tzinfo=UTC)  # in the evening of 8 May, seven hours west of Greenwich
    west = [msgspec.structs.replace(memory(text, late), utc_offset=-420) for text in ("I ran yesterday.", "I run.")]
    told = telling(*west, memory("I ran yesterday.", late), memory("I run.", late))
    rows = np.arange(4)
    for day, found in (("7 May", [0]), ("8 May", [0, 1, 2]), ("9 May", [2, 3])):
        assert np.flatnonzero(told.within(asked(f"on {day} 2023"), rows)).tolist() == found


def test_the_day_of_created_at_scores_less_than_a_named_day():
    told = telling(memory("I run."), memory("I run.", SAID - timedelta(days=40)), memory("9 May 2023", SAID))
    near, far, named = times(told, "9 May 2023")
    assert far < near < named == pytest.approx(1.0)
    assert far == pytest.approx(0.0, abs=1e-6)


def test_nearer_and_more_exact_times_score_higher():
    contents = (
        "In 2011 they sailed.",
        "From 2005 to 2019 they sailed.",
        "In 2013 they sailed.",
        "In 1990 they sailed.",
    )
    scores = times(telling(*map(memory, contents)), "in 2011")
    assert scores == sorted(scores, reverse=True)
    assert len({*scores}) == 4
    assert 0 <= min(scores) <= max(scores) <= 1


def test_the_best_of_several_named_times_counts():
    told = telling(memory("In 2011"), memory("In 1950"))
    assert times(told, "in 2011 or in 1950") == pytest.approx([1.0, 1.0])


def test_scores_have_the_order_of_the_given_rows():
    told = telling(memory("In 2011"), None, memory("In 1950"), memory("2011 and 1950"))
    every = told.time_scores(asked("in 1950"), np.arange(4))
    assert every[1] == 0.0
    some = np.array([3, 1, 0])
    assert told.time_scores(asked("in 1950"), some).tolist() == every[some].tolist()
    assert told.time_scores(asked("in 1950"), np.empty(0, np.int64)).tolist() == []


@pytest.mark.parametrize(
    "said",
    [datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, tzinfo=UTC), datetime(1969, 12, 31, 23, tzinfo=UTC)],
)
def test_the_first_and_the_last_representable_day_are_scored(said: datetime):
    told = telling(memory("yesterday, tomorrow, 9999-12-31, 500 decades ago", said))
    midnight = said.replace(hour=0, minute=0)
    day = Interval(midnight, midnight + timedelta(hours=23))
    assert told.time_scores((day,), np.array([0]))[0] > 0.5


# ── speakers ────────────────────────────────────────────────────────────────────────────────────────


def test_the_speaker_is_taken_from_metadata_or_else_from_the_line():
    told = telling(
        memory("I baked.", speaker="Ana Sousa"),
        memory("Ben: Ana baked."),
        memory("Ana: I baked.", speaker="Ben"),
        memory("\n  Ana: I baked."),
        memory("Then ana: nothing"),
        memory("I told Ana: bake!"),
        memory("Ana: I baked.", speaker=7),
        None,
    )
    assert speakers(told, "What did Ana bake?") == [0, 3, 6]
    assert speakers(told, "What is ben's bread?") == [1, 2]
    assert speakers(told, "What is Ben’s bread, and Ana's?") == [0, 1, 2, 3, 6]
    assert speakers(told, "Who is Sousa?") == []


@pytest.mark.parametrize("speaker", ["ana.sousa", "Ana", "J. Ana", "J.R. Ana", "Dr. Ana Sousa"])
def test_a_speaker_is_called_by_the_first_name_also_of_an_account_and_after_initials(speaker: str):
    told = telling(memory("I baked.", speaker=speaker), memory("I baked too.", speaker="李 明"))
    assert speakers(told, "Why can't Ana bake?") == [0]
    assert speakers(told, "Did J or Dr. R bake?") == []
    assert speakers(told, "李 bakes") == [1]


@pytest.mark.parametrize("speaker", ["", " ", "'s", "'s 's", "’s", ".", ". ."])
def test_a_speaker_without_a_name_is_none(speaker: str):
    assert speakers(telling(memory("I baked.", speaker=speaker)), "s 's baked") == []


def test_only_speakers_whose_name_is_a_word_of_the_query_match():
    told = telling(memory("Ana: hello"))
    assert speakers(told, "banana, Anabel, ana_1") == []
    assert len(told.speakers(NO_HINTS.words)) == 0


# ── forgetting ──────────────────────────────────────────────────────────────────────────────────────

KEPT = memory("Ben: in 1950", speaker="Ben")


@pytest.mark.parametrize("other", [KEPT, memory("Zdenka: in 1950"), memory("I go in 1950", speaker="Zdenka Nová")])
def test_a_cleared_row_equals_an_empty_one(other: MemoryStored):
    told = telling(KEPT, memory("Zdenka: On 8 May 2023 I left."), other)
    told.clear(1)
    never = telling(KEPT, None, other)
    assert told.digest() == never.digest()
    assert times(told, "on 8 May 2023") == times(never, "on 8 May 2023")
    assert speakers(told, "What did Zdenka or Ben say?") == speakers(never, "What did Zdenka or Ben say?")


def test_a_deleted_speaker_can_be_added_again():
    told = telling(memory("Zdenka: one"), memory("Ben: two"))
    told.clear(0)
    for content in ("Ana: three", "Zdenka: four"):
        told.append(memory(content))
    assert speakers(told, "Ben") == [1]
    assert speakers(told, "Ana") == [2]
    assert speakers(told, "Zdenka") == [3]


def test_what_is_cleared_leaves_no_bytes():
    told = telling(KEPT, memory("Zdenka: On 8 May 2023 I left."))
    day = np.array([(datetime(2023, 5, 8, tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(days=1)])
    assert "zdenka" in told._numbers
    assert day.tobytes() in told._days.array.tobytes()
    told.clear(1)
    assert "zdenka" not in repr(vars(told))
    assert day.tobytes() not in told._days.array.tobytes()


def test_times_and_speakers_both_change_the_digest():
    digests = {
        telling(*memories).digest()
        for memories in (
            (memory("Ana: hello"),),
            (memory("Ben: hello"),),
            (memory("Ana: hello yesterday"),),
            (memory("Ana: hello", SAID + timedelta(days=1)),),
            (memory("Ana: hello"), None),
            (None, memory("Ana: hello")),
        )
    }
    assert len(digests) == 6


# ── in the atlas ────────────────────────────────────────────────────────────────────────────────────

LIFE = (
    DECLARED,
    memory("Ana: I ran yesterday."),
    KEPT,
    memory("Zdenka: hello", SAID + timedelta(days=400)),
    MemoryErased(memory=memory_id(4)),
)


def telling_of(folds: ProjectionSet) -> TimeMentions:
    assert isinstance(folds, ComparatorProjections)
    assert folds.atlas.atlas is not None
    return folds.atlas.atlas.time_mentions


def test_a_snapshot_restores_time_mentions_without_erased_ones():
    folds = ComparatorProjections()
    log = history(*LIFE)
    for envelope in log[:-1]:
        folds.apply(envelope)
    assert b"zdenka" in whole(folds)
    folds.apply(log[-1])
    assert b"zdenka" not in whole(folds)
    again = through_bytes(folds)
    assert telling_of(again).digest() == telling_of(folds).digest()
    for one in (folds, again):
        one.apply(history(*LIFE, memory("Ana: in 1950"))[-1])
        assert speakers(telling_of(one), "Ana") == [0, 3]
        assert times(telling_of(one), "in 1950")[1] == times(telling_of(one), "in 1950")[3] == pytest.approx(1.0)
