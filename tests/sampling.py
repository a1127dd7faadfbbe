"""Long lists of cases, of which a run takes some and the slow tests take all."""

from collections.abc import Sequence
from typing import Any

import pytest


def sampled(cases: Sequence[Any], every: int = 3) -> list[Any]:
    """Return the cases for `parametrize`, all but each third (or `every`-th) of them as slow tests."""
    return [
        case if number % every == 0 else pytest.param(*_arguments(case), marks=pytest.mark.slow)
        for number, case in enumerate(cases)
    ]


def _arguments(case: object) -> tuple[object, ...]:
    return case if isinstance(case, tuple) else (case,)
