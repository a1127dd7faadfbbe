"""A kill -9 before a chosen step of what a test lets happen."""

from collections.abc import Callable


class Killed(BaseException):
    """Stands for a kill -9: nothing catches it."""


class Fuse:
    """Kills before one of the steps that are counted.

    Args:
        step: Its number, from 0.
    """

    def __init__(self, step: int) -> None:
        self._left = step

    def __call__(self, act: Callable[..., object]) -> Callable[..., object]:
        """Return a function that does the same and counts as a step."""

        def acts(*arguments: object, **named: object) -> object:
            if not self._left:
                raise Killed
            self._left -= 1
            return act(*arguments, **named)

        return acts
