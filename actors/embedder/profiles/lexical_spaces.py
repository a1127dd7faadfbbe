"""What the letters of a text tell, without a model: E6, E9, E11, and the names and the syntax that E7 sees."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from actors.embedder.profiles import formula_spaces as formulas
from actors.embedder.spaces import code, hypervector
from actors.text import entities, lexical
from events.fingerprint import Bits, Dense, Float32, Sparse

if TYPE_CHECKING:
    from collections.abc import Generator

    from actors.embedder.jobs import Rows
    from actors.runtime.metrics import Latencies


class Wording(NamedTuple):
    """The letters of a text in each space that looks at them."""

    terms: Sparse
    """E6."""
    trigrams: Bits
    """E9."""
    entities: Dense
    """E11."""
    signs: Float32
    """What E7 consists of beside meaning, shape (1152,)."""


def wording(
    content: str, latencies: Latencies, *, is_code: bool, pausing: bool = False
) -> Generator[Rows, list[Float32], Wording]:
    """Read a content, and return what was read; a long one pauses within spaces, and if asked to after each of them."""
    terms = formulas.timed(latencies, "e6_sparse", lambda: lexical.terms(content))
    yield from _pause(pausing=pausing)
    signs = formulas.timed(latencies, "e7_code", lambda: code.signs(content, is_code=is_code))
    yield from _pause(pausing=pausing)
    trigrams = yield from formulas.paused(latencies, "e9_hdc", hypervector.hypervector(content))
    yield from _pause(pausing=pausing)
    named = yield from formulas.paused(latencies, "e11_entity", entities.entity_vector(content))
    return Wording(terms, trigrams, Dense.of(named), signs)


def _pause(*, pausing: bool) -> Generator[Rows, list[Float32], None]:
    if pausing:
        yield []


def finished(content: str, latencies: Latencies, *, is_code: bool) -> Wording:
    """Return the same without a pause."""
    reading = wording(content, latencies, is_code=is_code)
    while True:
        try:
            next(reading)
        except StopIteration as done:
            return done.value
