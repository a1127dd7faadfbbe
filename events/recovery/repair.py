"""Repair: a new store from all that can be proved of a damaged one, which stays as it is."""

from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import Final

import msgspec

from events.crypto.images import ImageFiles
from events.recovery.backup import new_store, write_log
from events.recovery.salvage import Salvage, Spare, readable_keys
from events.storage.chain import relink
from events.storage.database import exclusive
from events.storage.format import check_format
from events.storage.log import LogError
from events.verify.examination import Progress
from events.verify.report import BadRange
from events.vocabulary import MemoryStored

STRAY: Final = "a snapshot that was set aside holds it, and the log doesn't"


class Repaired(msgspec.Struct, frozen=True):
    """The result of a repair."""

    events: int
    """Events of the new store, placeholders among them."""
    lost: tuple[BadRange, ...]
    """Events that a placeholder replaces (`events.vocabulary.EventLost`)."""
    spared: tuple[BadRange, ...] = ()
    """Events from a snapshot, which the chain of the damaged store didn't prove; at the end, those set aside."""


def repair(
    folder: Path,
    target: Path,
    passphrase: str | None = None,
    progress: Progress | None = None,
    spare: Spare | None = None,
) -> Repaired:
    """Write a new store with every event of `folder` that can be proved, under the same numbers, ids and keys.

    `folder` stays as it is; `target` has its name only once it is complete.

    Raises:
        LogInUseError: the store is open.
        LogError: DuckDB can't read the file at all, the keys' header is damaged, or the target can't be written.
    """
    check_format(folder)
    with exclusive(folder):
        keys = readable_keys(folder, passphrase)
        with closing(Salvage(folder, keys, spare)) as found, new_store(target) as building:
            if not found.head.seq:
                raise LogError(f"{folder} holds no event that can be read")
            strays, spared = found.strays(), found.spared
            last = found.head.seq + len(strays)
            with closing(found.database.cursor()) as cursor:
                rows = relink(chain(found.rows(cursor, 1, found.head.seq), strays), keys)
                write_log(building, rows, last, lambda: keys, progress, ImageFiles(folder, lambda: keys))
            if strays:
                memories = sum(isinstance(one.event, MemoryStored) for one in strays)
                spared += (BadRange(found.head.seq + 1, last, STRAY, memories),)
            return Repaired(last, found.bad, spared)
