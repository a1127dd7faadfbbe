"""The contract of `events.storage.log.Log`, which every backend passes: subclass `LogSuite` with a `log` fixture."""

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from uuid import UUID, uuid4

import pytest

from events.storage.log import Envelope, Log, LogCorruptError, LogError
from events.vocabulary import MemoryErased, MemoryForgotten, MemoryRestored, MemoryStored, Shredded, SpacesDeclared
from events.vocabulary.codec import UnknownKindError, decompress
from tests.events.samples import NOON, draft, stored


def forgotten(number: int = 0) -> MemoryForgotten:
    return MemoryForgotten(memory=UUID(int=number), reason=f"reason {number}")


def fill(log: Log, count: int) -> list[Envelope]:
    """Append small events one by one."""
    return [envelope for number in range(count) for envelope in log.append([draft(forgotten(number))])]


def erase(log: Log, memory: UUID) -> None:
    """Erase a memory as the store does: an event that says so, then its key."""
    log.append([draft(MemoryErased(memory=memory))])
    log.shred([memory])


class LogSuite:
    def test_an_empty_log_ends_at_zero_and_yields_nothing(self, log: Log):
        assert log.head.seq == 0
        assert list(log.read()) == []
        assert log.get([]) == []

    def test_what_was_appended_is_read_back_in_order_and_equal(self, log: Log):
        first = log.append([draft(SpacesDeclared(profile="sample", spaces=())), draft(stored("one"))])
        second = log.append([draft(MemoryForgotten(memory=first[1].id)), draft(MemoryRestored(memory=first[1].id))])
        assert [envelope.seq for envelope in first + second] == [1, 2, 3, 4]
        assert list(log.read()) == [*first, *second]

    def test_an_envelope_keeps_every_field_of_its_draft(self, log: Log):
        east = timezone(timedelta(hours=5, minutes=30))
        at = datetime(2026, 2, 3, 4, 5, 6, 789_012, tzinfo=east)
        want = draft(forgotten(), at=at, actor="scheduler", correlation_id=uuid4(), causation_id=uuid4())
        log.append([want])
        (got,) = log.read()
        assert (got.id, got.at, got.actor, got.correlation_id, got.causation_id, got.event) == (
            want.id,
            want.at,
            want.actor,
            want.correlation_id,
            want.causation_id,
            want.event,
        )
        assert got.at.utcoffset() == timedelta(0)

    def test_a_memory_comes_back_with_its_content_fingerprint_and_metadata(self, log: Log):
        memory = stored("Ebbe und Flut 🌊", metadata={"a": [1, 2.5, None, {"deep": True}], "ü": "ß"}, tags=("x", "y"))
        log.append([draft(memory)])
        (got,) = log.read()
        assert isinstance(got.event, MemoryStored)
        assert got.event == memory
        assert decompress(got.event.content) == "Ebbe und Flut 🌊"

    def test_appending_nothing_changes_nothing(self, log: Log):
        before = log.head
        assert log.append([]) == ()
        assert log.head == before

    def test_the_head_moves_with_every_append(self, log: Log):
        heads = [log.head]
        for _ in range(2):
            fill(log, 1)
            heads.append(log.head)
        assert [head.seq for head in heads] == [0, 1, 2]
        assert len({head.hash for head in heads}) == 3

    def test_reading_starts_after_the_number_asked_for(self, log: Log):
        envelopes = fill(log, 5)
        assert list(log.read(after=3)) == envelopes[3:]
        assert list(log.read(after=5)) == []
        assert list(log.read(after=99)) == []

    def test_reading_stops_after_the_number_asked_for(self, log: Log):
        envelopes = fill(log, 5)
        assert list(log.read(last=3)) == envelopes[:3]
        assert list(log.read(after=1, last=3)) == envelopes[1:3]
        assert list(log.read(after=3, last=3)) == []
        assert list(log.read(last=0)) == []
        with pytest.raises(LogCorruptError, match="event 6"):
            list(log.read(last=6))

    def test_every_earlier_end_is_known(self, log: Log):
        heads = [log.head]
        for _ in range(3):
            fill(log, 1)
            heads.append(log.head)
        assert [log.head_at(seq) for seq in range(4)] == heads
        with pytest.raises(LogCorruptError, match="event 4"):
            log.head_at(4)

    def test_the_last_event_until_a_moment_is_found(self, log: Log):
        for minute in range(4):
            log.append([draft(forgotten(), at=NOON + timedelta(minutes=minute))])
        assert log.seq_at(NOON - timedelta(microseconds=1)) == 0
        assert log.seq_at(NOON) == 1
        assert log.seq_at(NOON + timedelta(seconds=90)) == 2
        assert log.seq_at(NOON + timedelta(days=1)) == 4
        assert log.seq_at(NOON + timedelta(days=1), last=3) == 3
        east = timezone(timedelta(hours=14))
        assert log.seq_at((NOON + timedelta(minutes=2)).astimezone(east)) == 3

    def test_events_are_found_by_the_names_of_their_kinds(self, log: Log):
        kept, erased = MemoryRestored(memory=uuid4()), MemoryErased(memory=uuid4())
        for event in (forgotten(), kept, forgotten(), erased, kept):
            log.append([draft(event)])
        assert [*log.seqs_of({"memory_forgotten"}, 1, 5)] == [1, 3]
        assert [*log.seqs_of({"memory_restored", "memory_erased"}, 1, 5)] == [2, 4, 5]
        assert [*log.seqs_of({"memory_restored", "memory_forgotten"}, 2, 3)] == [2, 3]
        assert [*log.seqs_of({"memory_forgotten.1", "memory_merged"}, 1, 5)] == []
        assert [*log.seqs_of((), 1, 5)] == []

    def test_a_clock_that_went_backwards_hides_no_later_event(self, log: Log):
        for minute in (0, 9, 1, 8):
            log.append([draft(forgotten(), at=NOON + timedelta(minutes=minute))])
        assert log.seq_at(NOON + timedelta(minutes=2)) == 3
        assert log.seq_at(NOON + timedelta(minutes=2), last=2) == 1

    def test_a_moment_needs_a_zone(self, log: Log):
        with pytest.raises(ValueError, match="zone"):
            log.seq_at(NOON.replace(tzinfo=None))

    def test_a_reader_sees_what_was_there_when_it_began(self, log: Log):
        envelopes = fill(log, 3)
        reader = log.read()
        assert next(reader) == envelopes[0]
        fill(log, 2)
        assert list(reader) == envelopes[1:]

    def test_events_are_got_ascending_and_once(self, log: Log):
        envelopes = fill(log, 5)
        assert log.get([4, 2, 4]) == [envelopes[1], envelopes[3]]

    def test_getting_an_event_that_is_not_there_names_it(self, log: Log):
        fill(log, 2)
        with pytest.raises(LogCorruptError, match="event 3"):
            log.get([1, 3])

    def test_any_thread_may_get_while_the_writer_appends(self, log: Log):
        envelopes = fill(log, 8)
        with ThreadPoolExecutor(4) as pool:
            answers = [pool.submit(log.get, [1 + number % 8]) for number in range(64)]
            later = fill(log, 16)
            assert [answer.result(timeout=60) for answer in answers] == [[envelopes[n % 8]] for n in range(64)]
        assert list(log.read(after=8)) == later

    def test_a_batch_with_an_event_that_cannot_be_written_leaves_no_trace(self, log: Log):
        before = log.head
        with pytest.raises(UnknownKindError, match="Shredded"):
            log.append([draft(forgotten()), draft(Shredded(kind="memory_stored.1"))])
        with pytest.raises(TypeError):
            log.append([draft(forgotten()), draft(stored(metadata={"odd": object()}))])
        with pytest.raises(ValueError, match="zone"):
            log.append([draft(forgotten()), draft(forgotten(), at=NOON.replace(tzinfo=None))])
        assert log.head == before
        assert list(log.read()) == []
        assert fill(log, 1)[0].seq == 1

    def test_an_erased_memory_cannot_be_read_again(self, log: Log):
        kept, erased = log.append([draft(stored("kept")), draft(stored("erased"))])
        log.append([draft(MemoryErased(memory=erased.id))])
        log.shred([erased.id])
        assert [envelope.event for envelope in log.read()] == [
            kept.event,
            Shredded(kind="memory_stored.3"),
            MemoryErased(memory=erased.id),
        ]
        assert log.get([erased.seq])[0].event == Shredded(kind="memory_stored.3")

    def test_shredding_leaves_the_chain_and_the_head_as_they_were(self, log: Log):
        (memory,) = log.append([draft(stored())])
        before = log.head
        log.shred([memory.id])
        assert log.head == before
        assert len(list(log.read())) == 1
        assert fill(log, 1)[0].seq == 2
        assert len(list(log.read())) == 2

    def test_shredding_twice_or_what_has_no_key_is_no_error(self, log: Log):
        memory, plain = log.append([draft(stored()), draft(forgotten())])
        for _ in range(2):
            log.shred([memory.id, plain.id, uuid4()])
        assert log.get([plain.seq]) == [plain]

    def test_the_id_of_an_erased_memory_cannot_be_used_again(self, log: Log):
        (memory,) = log.append([draft(stored())])
        log.shred([memory.id])
        with pytest.raises(ValueError, match="erased"):
            log.append([draft(stored("again"), id=memory.id)])
        assert log.head.seq == 1

    def test_a_closed_log_refuses_everything_but_closing(self, log: Log):
        fill(log, 1)
        log.close()
        log.close()
        with pytest.raises(LogError, match="closed"):
            log.append([draft(forgotten())])
        with pytest.raises(LogError, match="closed"):
            list(log.read())
        with pytest.raises(LogError, match="closed"):
            log.get([1])
        with pytest.raises(LogError, match="closed"):
            log.head_at(1)
        with pytest.raises(LogError, match="closed"):
            log.seq_at(NOON)
        with pytest.raises(LogError, match="closed"):
            log.shred([uuid4()])
