"""Embeddings that pause, made in one go."""

from collections.abc import Generator
from typing import TypeVar

T = TypeVar("T")


def finished(work: Generator[None, None, T]) -> T:
    """Do a piece of work to its end without minding its pauses, and return what it made."""
    while True:
        try:
            next(work)
        except StopIteration as done:
            return done.value
