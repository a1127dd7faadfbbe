"""The log up to an event."""

from collections.abc import Collection, Iterator

from events.storage.log import Envelope, Log, LogError
from events.storage.log_prefix import LogPrefix


class LogUntil(LogPrefix):
    """The log up to an event, followed by later erasures, and for some callers moves, of memories stored in it.

    An erased memory can't be read as of any time, so the view shows it as erased, with the time and the reason. A
    caller of some namespaces sees each memory in its present one.
    """

    def __init__(self, log: Log, seq: int, later: tuple[Envelope, ...]) -> None:
        super().__init__(log, seq)
        self._later = later
        self.position = 0
        """Sequence number of the event read last."""
        self.cancelled = False
        """Set to end a read under way with a `LogError`."""

    def read(self, after: int = 0, last: int | None = None) -> Iterator[Envelope]:
        """Yield the events after `after`, up to `last` or the end, then the later events."""
        for envelope in super().read(after, last):
            if self.cancelled:
                raise LogError("the view of this moment was closed")
            self.position = envelope.seq
            yield envelope
        yield from self._later

    def get(self, seqs: Collection[int]) -> list[Envelope]:
        """Return the events with these sequence numbers, ascending, without the later ones that `read` adds."""
        later = {one.seq for one in self._later}
        return super().get([seq for seq in seqs if seq not in later])
