"""Runs an embedding that yields between slices, without the embedder."""

from collections.abc import Generator
from typing import TypeVar

T = TypeVar("T")


def run_sliced(work: Generator[None, None, T]) -> T:
    """Run to the end, ignoring pauses, and return the result."""
    while True:
        try:
            next(work)
        except StopIteration as done:
            return done.value
