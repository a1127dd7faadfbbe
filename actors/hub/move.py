"""Moving a log between a folder and a PostgreSQL server: the same rows and keys, compared by what follows from them."""

from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TypeVar

import msgspec

from actors.proxy.endpoint import Report
from actors.runtime.settings import passphrase
from actors.store.spare_memories import SNAPSHOT
from events.postgres.address import is_url, without_password
from events.recovery.backup import new_store, write_log
from events.storage.chain import GENESIS, Row, StoredLog, verify_chain
from events.storage.database import DATABASE
from events.storage.duckdb_log import DuckDBLog
from events.storage.format import FORMAT, format_of
from events.storage.log import Envelope, Log, LogError, SharedLog
from events.verify.verification import verify
from projections.registry import digests, rebuild

E = TypeVar("E", Row, Envelope)


def open_log(folder: Path, address: str | None) -> StoredLog:
    """Open the log in a folder, or else that of the hub of the folder, as a source (`LogError`: it can't be opened)."""
    from events.postgres.log import PostgresLog

    if address is None or (folder / DATABASE).exists():
        return _open_source(folder)
    return PostgresLog(address, folder, passphrase())


def _open_source(folder: Path) -> StoredLog:
    """Open the log of a store; of one of an earlier format, which opening would upgrade, a copy once it is verified."""
    if format_of(folder) >= FORMAT:
        return DuckDBLog(folder, passphrase(), spare=SNAPSHOT)
    if problems := verify(folder, passphrase(), spare=SNAPSHOT).problems:
        raise LogError(f"{problems[0].file}: {problems[0].what}; run: context-graph verify --data {folder}")
    return DuckDBLog(folder, passphrase(), read_only="it is of an earlier version, and only read here")


class Moved(msgspec.Struct, frozen=True):
    """A log in its new place."""

    target: str
    """Without a password."""
    events: int
    hash: str
    """The hash of the last event, in hexadecimal."""
    projections: dict[str, str]
    """Digest of each, which both logs lead to."""


def move(source: StoredLog, target: str, report: Report) -> Moved:
    """Copy a log with its keys to a folder that doesn't exist, or into a database without a log.

    The target appears once it is complete and leads to the same projections as the source, which stays as it is.

    Raises:
        LogError: a log is damaged, the target can't be written, or events were appended meanwhile.
    """
    if is_url(target) and source.images is not None and source.images.files():
        raise LogError("the log has images, which a log on a PostgreSQL server can't keep: nothing was moved")
    head = source.head
    verified = verify_chain(GENESIS, head, source.rows(1, head.seq), source.keys)
    rows = _reported(verified, head.seq, report, "events copied")
    wanted = digests(rebuild(_reported(source.read(), head.seq, report)))
    if is_url(target):
        from events.postgres.moving import new_log

        with new_log(target, source.keys) as copy:
            copy.write(rows)
            _compare(copy.read(), wanted, head.seq, report)
            check_unchanged(source)
    else:
        with new_store(Path(target)) as partial:
            write_log(partial, rows, head.seq, lambda: source.keys, None, source.images)
            with closing(DuckDBLog(partial, passphrase())) as log:
                _compare(log.read(), wanted, head.seq, report)
            check_unchanged(source)
    return Moved(without_password(target), head.seq, head.hash.hex(), wanted)


def _compare(envelopes: Iterable[Envelope], wanted: dict[str, str], last: int, report: Report) -> None:
    found = digests(rebuild(_reported(envelopes, last, report)))
    if found != wanted:
        other = ", ".join(name for name in wanted if found[name] != wanted[name])
        raise LogError(f"the copy leads to other projections than the log ({other}); nothing was moved")


def check_unchanged(source: Log) -> None:
    """Refuse a copy that lacks what other hubs appended to a shared log while it was made (`LogError`)."""
    if isinstance(source, SharedLog) and source.follow():
        raise LogError("other hubs appended events meanwhile: nothing was done; stop them and start again")


def _reported(events: Iterable[E], last: int, report: Report, what: str = "events replayed") -> Iterator[E]:
    for event in events:
        yield event
        report(event.seq, last, what)
