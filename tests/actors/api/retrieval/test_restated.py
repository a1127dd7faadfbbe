"""Of two statements of one frame the later comes first, where a question asks for the value in which they differ."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from actors.embedder.profiles.embedded import EmbeddedProfile
from tests.actors.api.stream import Lasting, Mind, awake
from tests.actors.api.telling import DOG, FOX, kept

pytestmark = pytest.mark.anyio

TIMES = "2025-02-01", "2025-06-01"


@pytest.fixture
async def mind(profile: EmbeddedProfile, tmp_path: Path) -> AsyncIterator[Mind]:
    with awake(profile, tmp_path, Lasting()) as mind:
        yield mind


async def order(mind: Mind, earlier: str, later: str, question: str) -> list[str]:
    """Store two statements among others, and return which comes first for a question."""
    await kept(mind, FOX)
    names = {await kept(mind, earlier, created_at=TIMES[0]): "earlier"}
    await kept(mind, DOG)
    names[await kept(mind, later, created_at=TIMES[1])] = "later"
    found = (await mind("search_graph", query=question))["results"]
    assert all("superseded_by" not in one for one in found), "nothing is marked"
    return [names[one["fingerprintId"]] for one in found if one["fingerprintId"] in names]


@pytest.mark.parametrize(
    ("earlier", "later", "question"),
    [
        (
            "The reading group meets in the library.",
            "The reading group meets in the bakery on the corner.",
            "Where does the reading group meet?",
        ),
        (
            "Thea has a crush on the drummer.",
            "Thea has a crush on the librarian.",
            "Who does Thea have a crush on?",
        ),
    ],
)
async def test_the_later_of_two_statements_of_one_frame_comes_first_however_different_their_values(
    mind: Mind, earlier: str, later: str, question: str
) -> None:
    assert await order(mind, earlier, later, question) == ["later", "earlier"]


@pytest.mark.parametrize(
    ("earlier", "later", "question"),
    [
        ("We visited Rome with the kids.", "We visited Oslo with the kids.", "With whom did we visit Rome?"),
        ("Mara's room has a skylight.", "Mara's room has a bunk bed.", "Whose room has a skylight?"),
        ("Rolf has a sister in the navy.", "Rolf has a brother in the army.", "What does Rolf's sister do?"),
    ],
)
async def test_a_statement_of_the_same_frame_does_not_displace_the_one_that_a_question_names(
    mind: Mind, earlier: str, later: str, question: str
) -> None:
    assert (await order(mind, earlier, later, question))[0] == "earlier"
