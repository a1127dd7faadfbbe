"""The purpose vector: how far each space of a memory serves the North Star (seeds 000, 001 and 004)."""

from events.vocabulary import WIDTH

NEUTRAL: tuple[float, ...] = (0.0,) * WIDTH
"""Of every memory while no North Star has emerged: zeros, to be computed again once one has (facts 3.1)."""
