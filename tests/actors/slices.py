"""Work in slices, gone through without the actor that would execute it."""

from collections.abc import Generator
from typing import Any, TypeVar

T = TypeVar("T")


def worked_off(work: Generator[Any, None, T]) -> tuple[int, T]:
    """Go through all slices; return after how many it ended, and with what."""
    slices = 0
    while True:
        try:
            next(work)
        except StopIteration as done:
            return slices, done.value
        slices += 1
