"""The goal against which purposes are measured in each namespace, as last chosen or adjusted."""

from uuid import UUID

import msgspec

from events.storage.log import Envelope
from events.vocabulary import ConsolidationUndone, GoalAdjusted, MemoriesMoved, NorthStarChosen
from projections.memories.placement import swap_keys
from projections.projection import digest_of


class NorthStars:
    """The goal of each namespace, whether or not it still has members."""

    chosen: dict[str, UUID]
    _before: dict[UUID, dict[str, UUID]]
    """For each run that adjusted goals, those that it replaced."""

    def __init__(self) -> None:
        self.chosen = {}
        self._before = {}

    def apply(self, envelope: Envelope) -> None:
        """Fold the next event of the log."""
        match envelope.event:
            case NorthStarChosen(namespace=namespace, goal=goal):
                self.chosen[namespace] = goal
            case GoalAdjusted(run=run, namespace=namespace, previous=previous, goal=goal):
                self.chosen[namespace] = goal
                self._before.setdefault(run, {})[namespace] = previous
            case ConsolidationUndone(run=run, memories=()):
                self.chosen |= self._before.get(run, {})
            case MemoriesMoved(source=source, target=target, renamed=True):
                for goals in (self.chosen, *self._before.values()):
                    swap_keys(goals, source, target)
            case _:
                pass

    def digest(self) -> bytes:
        """Return the SHA-256 of the whole state."""
        before = sorted((run, sorted(goals.items())) for run, goals in self._before.items())
        return digest_of(msgspec.msgpack.encode((sorted(self.chosen.items()), before)))
