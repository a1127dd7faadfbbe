"""Which hub of a shared log consolidates, and which of its runs may still change something."""

from uuid import UUID

import msgspec

from events.storage.log import Envelope
from events.vocabulary import ConsolidationFinished, ConsolidationStarted, ConsolidatorChanged
from projections.projection import digest_of


class ConsolidatorLease:
    """The latest `ConsolidatorChanged`, and the unfinished runs that began after it.

    A hub that was stopped during a run and goes on after another one has taken over finds its run missing here.
    """

    latest: ConsolidatorChanged | None
    """None where the log isn't shared, or nothing was consolidated yet."""
    _runs: set[UUID]

    def __init__(self) -> None:
        self.latest = None
        self._runs = set()

    def apply(self, envelope: Envelope) -> None:
        """Fold the next event of the log."""
        match envelope.event:
            case ConsolidatorChanged() as changed:
                self.latest = changed
                self._runs = set()
            case ConsolidationStarted(run=run):
                self._runs.add(run)
            case ConsolidationFinished(run=run):
                self._runs.discard(run)
            case _:
                pass

    def may_finish(self, run: UUID) -> bool:
        """Tell whether a run began after the latest change and hasn't finished."""
        return run in self._runs

    def digest(self) -> bytes:
        """Return the SHA-256 of the change and the runs."""
        return digest_of(msgspec.msgpack.encode((self.latest, sorted(self._runs))))
