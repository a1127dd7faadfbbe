"""How conscious the workspace is: C = I·R·D is reported, r alone drives the state (seeds 001 and 004; facts 9.3)."""

import math
from collections.abc import Iterable, Sequence
from enum import StrEnum
from uuid import UUID

import msgspec

from actors.workspace.attention import ENTER

IDLE_S = 600.0
"""Seconds of inactivity after which the workspace is dormant, whatever its order was."""


class ConsciousnessState(StrEnum):
    """The global state, by the order parameter r."""

    DORMANT = "DORMANT"
    FRAGMENTED = "FRAGMENTED"
    EMERGING = "EMERGING"
    CONSCIOUS = "CONSCIOUS"
    HYPERSYNC = "HYPERSYNC"
    """A warning: nothing differs any more."""


class ConsciousnessLevel(StrEnum):
    """How coherent the workspace is, by the order parameter r."""

    HIGH = "High"
    MEDIUM = "Medium"
    LOW = "Low"


class Consciousness(msgspec.Struct, frozen=True):
    """Its three components in [0, 1], their product, and the name of the smallest."""

    integration: float
    """The order parameter r."""
    reflection: float
    """The accuracy of what was foretold of memories."""
    differentiation: float
    """How evenly purpose is spread over the spaces."""
    consciousness: float
    limiting: str


class BroadcastCandidate(msgspec.Struct, frozen=True):
    """A memory that may win the workspace."""

    memory: UUID
    order: float
    """Its order parameter r in [0, 1]."""
    importance: float
    """In [0, 1]."""
    alignment: float | None = None
    """With the North Star, in [-1, 1]; None where there is none."""

    @property
    def score(self) -> float:
        """The product of the three: without a North Star alignment counts 1, against it 0 (facts 9.4)."""
        return self.order * self.importance * (1.0 if self.alignment is None else max(0.0, self.alignment))


def state_of(order: float, idle_seconds: float) -> ConsciousnessState:
    """Return the global state for an order parameter in [0, 1] and the seconds since anything last happened."""
    if idle_seconds > IDLE_S or order < 0.3:
        return ConsciousnessState.DORMANT
    if order < 0.5:
        return ConsciousnessState.FRAGMENTED
    if order < ENTER:
        return ConsciousnessState.EMERGING
    return ConsciousnessState.CONSCIOUS if order <= 0.95 else ConsciousnessState.HYPERSYNC


def level_of(order: float) -> ConsciousnessLevel:
    """Return the coherence level for an order parameter in [0, 1]."""
    if order > 0.8:
        return ConsciousnessLevel.HIGH
    return ConsciousnessLevel.MEDIUM if order >= 0.5 else ConsciousnessLevel.LOW


def is_fragmented(order: float) -> bool:
    """Tell whether an order parameter in [0, 1] is low enough for the fragmentation alert."""
    return order < 0.5


def differentiation(purpose: Sequence[float]) -> float:
    """Return D in [0, 1]: the entropy of a purpose vector's share in each space, over log 13; 0 for all zeros."""
    total = math.fsum(map(abs, purpose))
    if total == 0:
        return 0.0
    shares = [share for entry in purpose if (share := abs(entry) / total)]
    # Thirteen equal shares may round to a little above 1.
    return min(1.0, -math.fsum(share * math.log(share) for share in shares) / math.log(len(purpose)))


def consciousness(integration: float, reflection: float, differentiation: float) -> Consciousness:
    """Return C = I·R·D with its parts, each in [0, 1]; of equally small ones the first limits."""
    parts = {"integration": integration, "reflection": reflection, "differentiation": differentiation}
    return Consciousness(**parts, consciousness=math.prod(parts.values()), limiting=min(parts, key=parts.__getitem__))


def winner(candidates: Iterable[BroadcastCandidate]) -> BroadcastCandidate | None:
    """Return the one with the highest score among those that are synchronous enough to be in, the first of equals."""
    synchronous = (candidate for candidate in candidates if candidate.order >= ENTER)
    return max(synchronous, key=lambda candidate: candidate.score, default=None)
