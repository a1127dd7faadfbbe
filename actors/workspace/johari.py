"""Johari windows: what each space knows of a memory, from its entropy and coherence (facts 4)."""

from collections.abc import Sequence

from events.spaces import INDEX, SEMANTIC
from events.vocabulary.values import JohariRow, Quadrant

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


def insights(rows: Sequence[JohariRow]) -> tuple[str, ...]:
    """Return what the windows of several spaces say together, one sentence each (facts 4); often nothing.

    Args:
        rows: one for each space. Those of the temporal spaces have no say.
    """
    quadrants = {key: rows[INDEX[key]].quadrant for key in SEMANTIC}
    meaning, causes, code = (quadrants[key] for key in ("e1_semantic", "e5_causal", "e7_code"))
    everywhere = {*quadrants.values()}
    found: list[str] = []
    if meaning is Quadrant.OPEN and causes is Quadrant.BLIND:
        found.append(
            "Knows what, not why: meaning (E1) is familiar and well tied in, cause and effect (E5) are neither."
        )
    if meaning is Quadrant.BLIND and code is Quadrant.OPEN:
        found.append("Code without context: code (E7) is familiar and well tied in, meaning (E1) is neither.")
    if everywhere == {Quadrant.UNKNOWN}:
        found.append("Frontier: in all that it is about, it is news that ties in with what is known.")
    if everywhere == {Quadrant.HIDDEN}:
        found.append("Obsolete: in all that it is about, it is old news that ties in with nothing.")
    return tuple(found)
