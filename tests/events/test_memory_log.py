import pytest

from events.chain import Row
from events.log import LogCorruptError
from events.memory_log import MemoryLog
from tests.events.log_suite import LogSuite, fill
from tests.events.samples import draft, stored


@pytest.fixture
def log() -> MemoryLog:
    return MemoryLog()


class TestMemoryLog(LogSuite):
    """The whole contract."""


@pytest.mark.parametrize("column", Row._fields)
def test_a_change_in_any_column_is_found(log: MemoryLog, column: str):
    fill(log, 1)
    log.append([draft(stored(), causation_id=draft(stored()).id)])
    fill(log, 1)
    row, other = log._rows[1], log._rows[2]
    value = getattr(row, column)
    changed = value[:-1] + bytes([value[-1] ^ 1]) if isinstance(value, bytes) else None
    if column == "seq":
        changed = 7
    elif changed is None:
        changed = "changed" if isinstance(value, str) else getattr(other, column)
    if changed == value:  # all samples happen at noon and share a correlation id
        changed = row.id if column == "correlation_id" else value.replace(hour=13)
    log._rows[1] = row._replace(**{column: changed})
    with pytest.raises(LogCorruptError, match="event 2"):
        list(log.read())


def test_an_event_that_was_taken_out_is_missed(log: MemoryLog):
    fill(log, 3)
    del log._rows[1]
    with pytest.raises(LogCorruptError, match="event 2: it is missing"):
        list(log.read())
