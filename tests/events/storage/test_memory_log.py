from datetime import datetime
from typing import Any
from uuid import UUID

import pytest

from events.crypto.keys import KeyUnreadableError
from events.storage.chain import Row
from events.storage.log import LogCorruptError
from tests.events.log_suite import LogSuite, fill
from tests.events.memory_log import MemoryLog
from tests.events.samples import draft, stored

CHANGES = {
    "seq": 7,
    "id": UUID(int=9),
    "at": datetime(2026, 1, 1, 12, 0, 0, 1),
    "kind": "memory_restored.1",
    "actor": "somebody",
    "correlation_id": UUID(int=9),
    "causation_id": None,
    "data": b"\x80",
    "prev_hash": bytes(32),
    "hash": bytes(32),
}


@pytest.fixture
def log() -> MemoryLog:
    return MemoryLog()


class TestMemoryLog(LogSuite):
    """The whole contract."""


def test_every_column_has_a_change_to_try():
    assert tuple(CHANGES) == Row._fields


@pytest.mark.parametrize(("column", "value"), CHANGES.items())
def test_a_change_in_any_column_is_found(log: MemoryLog, column: str, value: Any):
    fill(log, 1)
    log.append([draft(stored(), causation_id=UUID(int=8))])
    fill(log, 1)
    log._rows[1] = log._rows[1]._replace(**{column: value})
    with pytest.raises(LogCorruptError, match="event 2"):
        list(log.read())


def test_an_event_that_was_taken_out_is_missed(log: MemoryLog):
    fill(log, 3)
    del log._rows[1]
    with pytest.raises(LogCorruptError, match="event 2: it is missing"):
        list(log.read())


def test_two_sealed_bodies_cannot_change_places(log: MemoryLog):
    one, two = log.append([draft(stored("one")), draft(stored("two"))])
    body = log._rows[0].data
    assert log._keys.open(one.id, one.id.bytes + b"memory_stored.3", body) is not None
    with pytest.raises(KeyUnreadableError, match="doesn't open"):
        log._keys.open(one.id, two.id.bytes + b"memory_stored.3", body)
