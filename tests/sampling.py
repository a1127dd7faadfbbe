"""Long lists of cases, of which a run takes some and the slow tests take all."""

from collections.abc import Sequence
from typing import Any

import pytest


def sampled(names: str | tuple[str, ...], cases: Sequence[Any], every: int = 3, **options: Any) -> pytest.MarkDecorator:
    """Parametrize a test as `pytest.mark.parametrize` does, with all but each third (`every`-th) case as slow tests."""
    values = [(case,) if isinstance(names, str) else case for case in cases]
    marked = [
        pytest.param(*value, marks=[pytest.mark.slow] if number % every else []) for number, value in enumerate(values)
    ]
    return pytest.mark.parametrize(names, marked, **options)
