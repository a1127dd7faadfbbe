"""Reading a damaged log: each event that can be proved, and a spare or an `EventLost` in the place of every other one.

The proof of an event is its own hash and, if it is sealed, its authenticated encryption. A spare comes from a snapshot,
which is authenticated as a whole; the chain doesn't prove it, and its author is `SPARE`. Sequence numbers stay, so the
history, the audit and the past of a salvaged log are those of the log before the damage.
"""

import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, suppress
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias
from uuid import UUID

import duckdb
import msgspec

from events.crypto.chain_key import ChainKey
from events.crypto.keys import KeyRing
from events.recovery.mending import open_mended
from events.storage.chain import Row, envelope_of, read_row, to_utc
from events.storage.database import DATABASE, QUERY_ERRORS, connect, select_pages
from events.storage.durable import latest_head, parse_slots
from events.storage.log import Envelope, Head, LogError
from events.verify.examination import Examination
from events.verify.report import BadRange, Report
from events.vocabulary import EventLost, MemoryForgotten
from events.vocabulary.codec import kind_of

_METADATA: Final = """
SELECT id, CASE WHEN "at" BETWEEN '0001-01-01' AND '9999-12-31' THEN "at" ELSE 'epoch'::TIMESTAMP END,
    kind, actor, correlation_id, causation_id
FROM log.main.log WHERE seq = ?
"""
"""Of a time that Python can't hold, DuckDB would return words."""
_UNKNOWN: Final = "unknown"
_MEMORY: Final = "memory_stored.unknown"
"""The tag of a memory whose version can't be read."""

SPARE: Final = "snapshot"
"""The actor of an event that came from a snapshot instead of the log."""


class Spare(NamedTuple):
    """Reads the snapshot in a folder, given the undamaged keys, which authenticate it."""

    head: Callable[[Path, KeyRing], Head | None]
    """Returns where the log ended when the snapshot was taken, however much of it is left; None without one."""
    memories: Callable[[Path, KeyRing], Mapping[int, Envelope]]
    """Returns events that it holds, by sequence number; the forgetting of a memory at each that may have been it."""
    strays: Callable[[Path, KeyRing], Iterable[Envelope]]
    """Returns memories of snapshots that were set aside, since the log went on without what they hold, and which of
    them were forgotten."""


DAMAGED: Final = "damaged"
"""The name of a file that says what was found in a log that is opened already."""


_Rows: TypeAlias = Mapping[int, Row | None]
"""Of lost events, by number, without data and hashes; None where not even the metadata can be read."""


class Salvage:
    """A readable copy of a damaged log in a temporary folder; nothing in the folder of the log is changed.

    `keys` are without a record for those whose key can't be read. `spare` reads the snapshot, which shows a missing end
    and holds what takes the place of lost events. If DuckDB can't open the file, and there is no spare, this is a
    `LogError`.

    Attributes:
        lost: What stands in the place of each event that can't be proved: a spare, or an `EventLost`.
        bad: The events that are lost, ascending.
        spared: The events that spares replace, ascending.
    """

    def __init__(self, folder: Path, keys: KeyRing, spare: Spare | None) -> None:
        self._folder = folder
        self._keys = keys
        self._spare = spare
        with ExitStack() as stack:
            copy = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="context-graph-"))) / DATABASE
            head = acknowledged(folder, keys.chain)
            witness = None if spare is None else spare.head(folder, keys)
            try:
                self.database = open_mended(folder / DATABASE, copy)
            except LogError:
                if spare is None or not spare.memories(folder, keys):
                    raise
                self.database = connect(copy.with_name("empty.duckdb"))
            stack.enter_context(closing(self.database))
            self.report: Final[Report] = Examination(self.database, keys, head, [], witness=witness).run(None)
            spares: Mapping[int, Envelope] = spare.memories(folder, keys) if spare and self.report.bad else {}
            last = max([self.report.head.seq, *(bad.last for bad in self.report.bad)])
            rows = {seq: self._metadata(seq) for bad in self.report.bad for seq in range(bad.first, bad.last + 1)}
            ids = frozenset(self._ids())
            placeholders = dict(self._placeholders(self.report.bad, rows, ids, spares))
            used = dict(_used(spares, rows, ids))
            self.lost: Final[Mapping[int, Envelope]] = placeholders | used
            self.bad: Final = tuple(_parts(self.report.bad, placeholders, rows.keys() - used.keys()))
            self.spared: Final = tuple(_parts(self.report.bad, placeholders, used.keys()))
            self.head: Final = Head(last, bytes(32) if last in self.lost else self.report.head.hash)
            self._resources = stack.pop_all()

    def rows(self, cursor: duckdb.DuckDBPyConnection, first: int, last: int) -> Iterator[Row | Envelope]:
        """Yield the row of each event from `first` to `last`, or the placeholder of a lost one."""
        while first <= last:
            stop = next((seq for seq in range(first, last + 1) if seq in self.lost), last + 1)
            yield from select_pages(cursor, first, stop - 1)
            if stop <= last:
                yield self.lost[stop]
            first = stop + 1

    def read(self, cursor: duckdb.DuckDBPyConnection, after: int, last: int) -> Iterator[Envelope]:
        """Yield the events after `after` up to `last`."""
        for found in self.rows(cursor, after + 1, last):
            yield read_row(found, self._keys) if isinstance(found, Row) else found

    def strays(self) -> list[Envelope]:
        """Return the memories that a snapshot holds that was set aside, and neither the log nor its spares.

        A memory that was forgotten is followed by the event of that.
        """
        if self._spare is None:
            return []
        here = {*self._ids(), *(one.id for one in self.lost.values())}
        return [one for one in self._spare.strays(self._folder, self._keys) if memory_of(one) not in here]

    def close(self) -> None:
        """Delete the copy."""
        self._resources.close()

    def _placeholders(
        self, bad: Iterable[BadRange], rows: _Rows, ids: Iterable[UUID], spares: Mapping[int, Envelope]
    ) -> Iterator[tuple[int, Envelope]]:
        """Yield an envelope for each lost event, with its metadata as far as they can be read.

        A memory whose id is damaged takes one from the keys, which later events name: each sealed event has a key. Of
        what precedes the last spare, every memory is a spare, or was erased.
        """
        named = {*ids, *(row.id for row in rows.values() if row is not None), *(one.id for one in spares.values())}
        shown = max(spares, default=0)
        orphans = self._orphans(named)
        at = datetime.fromtimestamp(0)  # noqa: DTZ006 -- in UTC without a zone, as rows have it
        for one in bad:
            for seq in range(one.first, one.last + 1):
                row = rows[seq]
                if row is None:
                    orphan = next(orphans, None) if seq > shown else None
                    id_, kind = (UUID(int=seq), _UNKNOWN) if orphan is None else (orphan, _MEMORY)
                    row = Row(seq, id_, at, kind, _UNKNOWN, UUID(int=0), None, b"", b"", b"")
                at = row.at
                yield seq, envelope_of(row, EventLost(kind=row.kind, why=one.why))

    def _orphans(self, named: Collection[UUID]) -> Iterator[UUID]:
        """Yield the ids of keys that belong to no row and no snapshot, destroyed ones last."""
        snapshots = {path.stem for path in (self._folder / "snapshot").glob("*")}
        found = [id_ for id_ in self._keys.ids() if id_ not in named and id_.hex not in snapshots]
        yield from sorted(found, key=lambda id_: not self._keys.has(id_))

    def _metadata(self, seq: int) -> Row | None:
        with suppress(*QUERY_ERRORS):
            fields = self.database.execute(_METADATA, [seq]).fetchone()
            return None if fields is None else Row._make((seq, *fields, b"", b"", b""))
        return None

    def _ids(self) -> list[UUID]:
        with suppress(*QUERY_ERRORS):
            return [id_ for (id_,) in self.database.execute("SELECT id FROM log.main.log").fetchall()]
        return []


def memory_of(spare: Envelope) -> UUID:
    """Return the memory that an event from a snapshot stores, or forgets."""
    return spare.event.memory if isinstance(spare.event, MemoryForgotten) else spare.id


def _used(spares: Mapping[int, Envelope], rows: _Rows, ids: Iterable[UUID]) -> Iterator[tuple[int, Envelope]]:
    """Yield the spares of lost events; what can be read of a row names the request, so that it isn't repeated."""
    known = set(ids)
    for seq in sorted(rows.keys() & spares.keys(), reverse=True):
        row, spare = rows[seq], spares[seq]
        if isinstance(spare.event, MemoryForgotten) and row is not None:
            if (row.kind, row.at) != (kind_of(spare.event), to_utc(spare.at)):
                continue  # another event of the memory
            spare = msgspec.structs.replace(spare, id=row.id)
        if row is not None and row.id == spare.id:
            yield seq, msgspec.structs.replace(spare, correlation_id=row.correlation_id, causation_id=row.causation_id)
        elif spare.id not in known:
            known.add(spare.id)
            yield seq, spare


def _parts(
    bad: Iterable[BadRange], placeholders: Mapping[int, Envelope], wanted: Collection[int]
) -> Iterator[BadRange]:
    """Yield the parts of ranges of lost events that are wanted; memories are counted by their placeholders."""
    for one in bad:
        seqs = [seq for seq in range(one.first, one.last + 1) if seq in wanted]
        if len(seqs) == one.last - one.first + 1:
            yield one
            continue
        for _, run in groupby(enumerate(seqs), lambda pair: pair[1] - pair[0]):
            part = [seq for _, seq in run]
            kinds = [event.kind for seq in part if isinstance(event := placeholders[seq].event, EventLost)]
            memories = None if _UNKNOWN in kinds else sum(kind.startswith("memory_stored.") for kind in kinds)
            yield BadRange(part[0], part[-1], one.why, memories)


def describe_damage(damage: str) -> str:
    """Return why a damaged store is read-only, and what a person can do."""
    return (
        f"the store is damaged and therefore read-only ({damage}); put a backup in its place, or make a sound store of "
        "all that can be read by: context-graph repair NEW_FOLDER"
    )


def mark_damaged(folder: Path, damage: str) -> None:
    """Record that the log in a folder is damaged, which its last rows don't show."""
    (folder / DAMAGED).write_text(damage)


def marked_damage(folder: Path) -> str | None:
    """Return what `mark_damaged` recorded."""
    path = folder / DAMAGED
    return path.read_text() if path.exists() else None


def unmark_damaged(folder: Path) -> None:
    """Forget the record, since the log is intact."""
    (folder / DAMAGED).unlink(missing_ok=True)


def acknowledged(folder: Path, chain: ChainKey | None) -> Head | None:
    """Return the last head in the head file; None if no slot can be read."""
    path = folder / "head"
    return latest_head(parse_slots(path.read_bytes(), chain)) if path.is_file() else None


def readable_keys(folder: Path, passphrase: str | None) -> KeyRing:
    """Return the undamaged keys in memory (`PassphraseError`); none if the file or its header is lost."""
    path = folder / "keys"
    return KeyRing.of(path.read_bytes(), passphrase).undamaged() if path.is_file() else KeyRing()
