"""A consolidator without models."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.actors.consolidator.asleep import Night, asleep


@pytest.fixture
def night(tmp_path: Path) -> Iterator[Night]:
    with asleep(tmp_path) as night:
        yield night
