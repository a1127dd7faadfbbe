"""Measures of the global workspace: C = I * R * D, the state by r, and the winner (STORE-001/consciousness)."""

import math
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Final
from uuid import UUID

import msgspec

from projections.mind.workspace import IGNITION_THRESHOLD

DORMANT_S: Final = 600.0
"""Seconds of inactivity after which the state is dormant at any r."""


class ConsciousnessState(StrEnum):
    """The global state by the order parameter r."""

    DORMANT = "DORMANT"
    FRAGMENTED = "FRAGMENTED"
    EMERGING = "EMERGING"
    CONSCIOUS = "CONSCIOUS"
    HYPERSYNC = "HYPERSYNC"
    """A warning: the spaces are hardly differentiated."""


class CoherenceLevel(StrEnum):
    """The coherence of the workspace by the order parameter r; Low raises the fragmentation alert."""

    HIGH = "High"
    MEDIUM = "Medium"
    LOW = "Low"


class Consciousness(msgspec.Struct, frozen=True):
    """C with its three factors in [0, 1], and the name of the smallest."""

    integration: float
    """I, the order parameter r."""
    reflection: float
    """R, the accuracy of the usefulness forecasts (TOOL-INJECT-001/meta-utl)."""
    differentiation: float
    """D, the normalized entropy of the purpose vector (TOOL-INJECT-001/differentiation)."""
    consciousness: float
    limiting: str


class BroadcastCandidate(msgspec.Struct, frozen=True):
    """A memory in the workspace that may win the broadcast."""

    memory: UUID
    order: float
    """Its order parameter r in [0, 1]."""
    importance: float
    """In [0, 1]."""
    alignment: float | None = None
    """With the North Star, in [-1, 1]; None without a North Star."""

    @property
    def score(self) -> float:
        """R * importance * max(0, alignment); alignment is 1 without a North Star."""
        return self.order * self.importance * (1.0 if self.alignment is None else max(0.0, self.alignment))


def state_of(order: float, idle_seconds: float) -> ConsciousnessState:
    """Return the global state for r in [0, 1] and the seconds since the last focus."""
    if idle_seconds > DORMANT_S or order < 0.3:
        return ConsciousnessState.DORMANT
    if order < 0.5:
        return ConsciousnessState.FRAGMENTED
    if order < IGNITION_THRESHOLD:
        return ConsciousnessState.EMERGING
    return ConsciousnessState.CONSCIOUS if order <= 0.95 else ConsciousnessState.HYPERSYNC


def level_of(order: float) -> CoherenceLevel:
    """Return the coherence level for r in [0, 1]."""
    if order > 0.8:
        return CoherenceLevel.HIGH
    return CoherenceLevel.MEDIUM if order >= 0.5 else CoherenceLevel.LOW


def differentiation(purpose: Sequence[float]) -> float:
    """Return D = -sum(p_i * ln p_i) / ln 13 in [0, 1] with p_i = |purpose_i| / sum |purpose_j|; 0 if all are 0."""
    total = math.fsum(map(abs, purpose))
    if total == 0:
        return 0.0
    shares = [share for entry in purpose if (share := abs(entry) / total)]
    # Rounding may exceed 1 for thirteen equal shares.
    return min(1.0, -math.fsum(share * math.log(share) for share in shares) / math.log(len(purpose)))


def measure_consciousness(integration: float, reflection: float, differentiation: float) -> Consciousness:
    """Return C = I * R * D with its factors; of equal factors the first one limits."""
    parts = {"integration": integration, "reflection": reflection, "differentiation": differentiation}
    return Consciousness(**parts, consciousness=math.prod(parts.values()), limiting=min(parts, key=parts.__getitem__))


def winner(candidates: Iterable[BroadcastCandidate]) -> BroadcastCandidate | None:
    """Return the candidate with the highest score among those with r >= `IGNITION_THRESHOLD`, the first of equals."""
    synchronous = (candidate for candidate in candidates if candidate.order >= IGNITION_THRESHOLD)
    return max(synchronous, key=lambda candidate: candidate.score, default=None)
