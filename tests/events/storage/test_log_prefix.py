from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pytest

from events.storage.duckdb_log import DuckDBLog
from events.storage.log import Log, LogCorruptError, LogError
from events.storage.log_prefix import LogPrefix
from events.vocabulary import MemoryErased, Shredded
from tests.events.log_suite import fill, forgotten
from tests.events.memory_log import MemoryLog
from tests.events.samples import NOON, draft, stored


@pytest.fixture(params=["memory", "duckdb"])
def log(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Log]:
    log = MemoryLog() if request.param == "memory" else DuckDBLog(tmp_path / "log")
    yield log
    log.close()


def test_the_past_ends_where_it_was_asked_to(log: Log):
    envelopes = fill(log, 3)
    then = log.head
    past = LogPrefix(log, 3)
    fill(log, 2)
    assert past.head == then
    assert list(past.read()) == envelopes
    assert list(past.read(after=1)) == envelopes[1:]
    assert list(past.read(last=99)) == envelopes
    assert list(past.read(last=2)) == envelopes[:2]
    assert past.get([2, 3]) == envelopes[1:]
    assert past.head_at(1) == log.head_at(1)


def test_what_comes_later_is_not_seen(log: Log):
    fill(log, 4)
    past = LogPrefix(log, 2)
    with pytest.raises(LogCorruptError, match="event 3"):
        past.get([1, 3])
    with pytest.raises(LogCorruptError, match="event 3"):
        past.head_at(3)
    assert [envelope.seq for envelope in past.read()] == [1, 2]


def test_before_the_first_event_there_is_nothing(log: Log):
    fill(log, 2)
    past = LogPrefix(log, 0)
    assert past.head.seq == 0
    assert list(past.read()) == []
    assert past.seq_at(NOON + timedelta(days=1)) == 0


@pytest.mark.parametrize("seq", [-1, 3])
def test_a_number_that_the_log_does_not_have_is_refused(log: Log, seq: int):
    fill(log, 2)
    with pytest.raises(ValueError, match=f"no event {seq}: it ends at 2"):
        LogPrefix(log, seq)


def test_moments_are_looked_up_within_the_past(log: Log):
    for minute in (0, 1, 9, 2):
        log.append([draft(forgotten(), at=NOON + timedelta(minutes=minute))])
    assert LogPrefix(log, 3).seq_at(NOON + timedelta(minutes=5)) == 2
    assert LogPrefix(log, 4).seq_at(NOON + timedelta(minutes=5)) == 4
    assert LogPrefix(log, 4).seq_at(NOON + timedelta(minutes=5), last=3) == 2


def test_what_was_erased_since_is_erased_in_the_past_too(log: Log):
    kept, erased = log.append([draft(stored("kept")), draft(stored("erased"))])
    past = LogPrefix(log, 2)
    assert past.get([2]) == [erased]
    log.append([draft(MemoryErased(memory=erased.id))])
    log.shred([erased.id])
    assert [envelope.event for envelope in past.read()] == [kept.event, Shredded(kind="memory_stored.3")]
    assert past.get([2])[0].event == Shredded(kind="memory_stored.3")


def test_the_past_cannot_be_changed(log: Log):
    (memory,) = log.append([draft(stored())])
    past = LogPrefix(log, 1)
    with pytest.raises(LogError, match="past can't be changed"):
        past.append([draft(forgotten())])
    with pytest.raises(LogError, match="past can't be changed"):
        past.shred([memory.id])
    past.close()
    assert list(log.read()) == [memory]
    assert fill(log, 1)[0].seq == 2


def test_any_thread_may_read_the_past_while_the_log_goes_on(log: Log):
    envelopes = fill(log, 30)
    past = LogPrefix(log, 20)
    with ThreadPoolExecutor(3) as pool:
        readers = [pool.submit(lambda: list(past.read())) for _ in range(9)]
        fill(log, 30)
        assert all(reader.result(timeout=60) == envelopes[:20] for reader in readers)


def test_a_past_of_a_past_is_one(log: Log):
    envelopes = fill(log, 4)
    past = LogPrefix(LogPrefix(log, 3), 2)
    assert list(past.read()) == envelopes[:2]
    with pytest.raises(ValueError, match="ends at 2"):
        LogPrefix(past, 3)
    assert UUID(int=1) == past.get([1])[0].correlation_id
