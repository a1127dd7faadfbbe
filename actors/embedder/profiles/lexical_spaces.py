"""The embeddings that need no model: E6, E9, E11, and the two blocks of E7 for identifiers and syntax."""

from collections.abc import Generator
from typing import NamedTuple

from actors.embedder.jobs import Rows
from actors.embedder.messages import Lexemes
from actors.embedder.profiles.formula_spaces import timed, timed_slices
from actors.embedder.spaces.code import code_features
from actors.embedder.spaces.hypervector import hypervector
from actors.embedder.spaces.lexical import entity_vector, find_lexemes
from actors.runtime.metrics import Latencies
from events.fingerprint import Bits, Dense, Sparse
from events.quantization import Float32
from events.spaces import E6, E7, E9, E11
from projections.spaces.lexical import term_frequencies


class LexicalEmbeddings(NamedTuple):
    """The lexical embeddings of a text."""

    terms: Sparse
    """E6."""
    trigrams: Bits
    """E9."""
    entities: Dense
    """E11."""
    lexemes: Lexemes
    code: Float32
    """Identifiers and syntax of E7, shape (1152,)."""


def embed_in_slices(
    content: str, latencies: Latencies, *, is_code: bool, pausing: bool = False
) -> Generator[Rows, list[Float32], LexicalEmbeddings]:
    """Compute the lexical embeddings; yields within spaces of a long text, and with `pausing` between spaces too."""
    terms = timed(latencies, E6, lambda: term_frequencies(content))
    if pausing:
        yield []
    code = timed(latencies, E7, lambda: code_features(content, is_code=is_code))
    if pausing:
        yield []
    trigrams = yield from timed_slices(latencies, E9, hypervector(content))
    if pausing:
        yield []
    entities, lexemes = yield from timed_slices(latencies, E11, _entities(content))
    return LexicalEmbeddings(terms, trigrams, Dense.of(entities), lexemes, code)


def _entities(content: str) -> Generator[None, None, tuple[Float32, Lexemes]]:
    lexemes = yield from find_lexemes(content)
    return entity_vector(lexemes), lexemes


def embed_at_once(content: str, latencies: Latencies, *, is_code: bool) -> LexicalEmbeddings:
    """Compute the lexical embeddings without a pause."""
    work = embed_in_slices(content, latencies, is_code=is_code)
    while True:
        try:
            next(work)
        except StopIteration as done:
            return done.value
