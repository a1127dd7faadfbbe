"""Johari windows: what each space knows of a memory, from its entropy and coherence (facts 4)."""

from collections.abc import Sequence

from events.vocabulary import JohariRow, Quadrant

THRESHOLD = 0.5
"""Low entropy is below it, high coherence above it."""

BOUNDARY = 0.1
"""Width of the fuzzy boundary between two windows."""

ACTIONS = {
    Quadrant.OPEN: "DirectRecall",
    Quadrant.HIDDEN: "GetNeighborhood",
    Quadrant.BLIND: "TriggerDream",
    Quadrant.UNKNOWN: "EpistemicAction",
}
"""What each window suggests to do (seed 001; facts 4)."""


def classify(entropy: float, coherence: float) -> JohariRow:
    """Return the soft weights of the four windows, and as confidence the distance to the nearer boundary.

    Open is low entropy and high coherence, Hidden low and low, Blind high and low, Unknown high and high.
    """
    known = min(1.0, max(0.0, 0.5 + (THRESHOLD - entropy) / BOUNDARY))
    tied = min(1.0, max(0.0, 0.5 + (coherence - THRESHOLD) / BOUNDARY))
    return JohariRow(
        weights=(known * tied, known * (1 - tied), (1 - known) * (1 - tied), (1 - known) * tied),
        confidence=min(1.0, min(abs(entropy - THRESHOLD), abs(coherence - THRESHOLD)) / BOUNDARY),
    )


def rows(delta_s: Sequence[float], delta_c: Sequence[float]) -> tuple[JohariRow, ...]:
    """Classify every space."""
    return tuple(classify(s, c) for s, c in zip(delta_s, delta_c, strict=True))
