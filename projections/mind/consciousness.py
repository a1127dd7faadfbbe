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
    """D, the spread of the fingerprint over its spaces (TOOL-INJECT-001/differentiation)."""
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


def differentiation(agreement: Sequence[float]) -> float:
    """Return D in [0, 1]: the share of a fingerprint's spaces that take part in its agreement with the focus.

    D = exp(H) / n, where H = -sum(p_i * ln p_i) is the entropy over the n spaces that have something to say, with
    p_i = s_i / sum s_j: 1 if all agree alike, 1 / n if one alone agrees. exp(H) is the number of spaces that alike
    shares would have; H / ln n, which is above .9 for nearly every memory, would not tell memories apart.

    `agreement` is s_i in [0, 1] of each space; NaN where it has nothing to say.
    """
    known = [entry for entry in agreement if not math.isnan(entry)]
    total = math.fsum(known)
    if total == 0:
        return 0.0
    shares = [share for entry in known if (share := entry / total)]
    # Rounding may exceed 1 for equal shares.
    return min(1.0, math.exp(-math.fsum(share * math.log(share) for share in shares)) / len(known))


def measure_consciousness(integration: float, reflection: float, differentiation: float) -> Consciousness:
    """Return C = I * R * D with its factors; of equal factors the first one limits."""
    parts = {"integration": integration, "reflection": reflection, "differentiation": differentiation}
    return Consciousness(**parts, consciousness=math.prod(parts.values()), limiting=min(parts, key=parts.__getitem__))


def winner(candidates: Iterable[BroadcastCandidate]) -> BroadcastCandidate | None:
    """Return the candidate with the highest score among those with r >= `IGNITION_THRESHOLD`, the first of equals."""
    synchronous = (candidate for candidate in candidates if candidate.order >= IGNITION_THRESHOLD)
    return max(synchronous, key=lambda candidate: candidate.score, default=None)
