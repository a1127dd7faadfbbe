"""Johari windows: the quadrant of a memory in each space, by entropy and coherence (Luft and Ingham 1955).

Open: low entropy, high coherence. Hidden: low, low. Blind: high, low. Unknown: high, high.
"""

from collections.abc import Sequence
from typing import Final

import msgspec

from events.fingerprint import Dense, Fingerprint
from events.spaces import E1, E5, E7, INDEX, SEMANTIC
from events.vocabulary.values import JohariRow, Learning, Quadrant

THRESHOLD: Final = 0.5
"""Entropy below it is low, coherence above it is high."""

BOUNDARY: Final = 0.1
"""Width of the fuzzy boundary between two quadrants."""

ACTIONS: Final = {
    Quadrant.OPEN: "DirectRecall",
    Quadrant.HIDDEN: "GetNeighborhood",
    Quadrant.BLIND: "TriggerDream",
    Quadrant.UNKNOWN: "EpistemicAction",
}
"""The action that each quadrant suggests (STORE-001/pulse-action)."""


def classify(entropy: float, coherence: float) -> JohariRow:
    """Return the soft weights of the quadrants, and the distance to the nearer boundary as confidence.

    With e = clamp(1/2 + (THRESHOLD - entropy) / BOUNDARY) and c = clamp(1/2 + (coherence - THRESHOLD) / BOUNDARY), both
    in [0, 1]: Open = e * c, Hidden = e * (1 - c), Blind = (1 - e) * (1 - c), Unknown = (1 - e) * c.
    """
    low_entropy = min(1.0, max(0.0, 0.5 + (THRESHOLD - entropy) / BOUNDARY))
    coherent = min(1.0, max(0.0, 0.5 + (coherence - THRESHOLD) / BOUNDARY))
    return JohariRow(
        weights=(
            low_entropy * coherent,
            low_entropy * (1 - coherent),
            (1 - low_entropy) * (1 - coherent),
            (1 - low_entropy) * coherent,
        ),
        confidence=min(1.0, min(abs(entropy - THRESHOLD), abs(coherence - THRESHOLD)) / BOUNDARY),
    )


def rows_of_memory(learning: Learning, fingerprint: Fingerprint) -> tuple[JohariRow, ...]:
    """Classify every space of a memory by its entropy and coherence; one that says nothing has no confidence."""
    rows = map(classify, learning.delta_s, learning.delta_c)
    return tuple(
        msgspec.structs.replace(row, confidence=0.0) if isinstance(own, Dense) and own.is_null else row
        for row, own in zip(rows, fingerprint.embeddings, strict=True)
    )


def insights(rows: Sequence[JohariRow]) -> tuple[str, ...]:
    """Return one sentence for each notable combination of quadrants across the non-temporal spaces; often none.

    A space without confidence doesn't count, as where it says nothing.
    """
    meaning, causes, code = (rows[INDEX[key]].quadrant for key in (E1, E5, E7))
    everywhere = {rows[INDEX[key]].quadrant for key in SEMANTIC if rows[INDEX[key]].confidence > 0}
    found: list[str] = []
    if meaning is Quadrant.OPEN and causes is Quadrant.BLIND:
        found.append(
            "Knows what, not why: meaning (E1) is familiar and well connected, cause and effect (E5) are neither."
        )
    if meaning is Quadrant.BLIND and code is Quadrant.OPEN:
        found.append("Code without context: code (E7) is familiar and well connected, meaning (E1) is neither.")
    if everywhere == {Quadrant.UNKNOWN}:
        found.append("Frontier: in every space new, and well connected with what is known.")
    if everywhere == {Quadrant.HIDDEN}:
        found.append("Obsolete: in every space familiar, and connected with nothing.")
    return tuple(found)
