import pytest
from msgspec.structs import replace

from events.spaces import INDEX, SEMANTIC, TEMPORAL
from events.vocabulary.values import WIDTH, JohariRow, Quadrant
from projections.mind.johari import classify, insights, rows_of_memory
from tests.events.samples import stored

JUDGED = {
    Quadrant.OPEN: (0.2, 0.8),
    Quadrant.HIDDEN: (0.2, 0.2),
    Quadrant.BLIND: (0.8, 0.2),
    Quadrant.UNKNOWN: (0.8, 0.8),
}
"""Entropy and coherence in the middle of each window."""


def windows(others: Quadrant, **spaces: Quadrant) -> tuple[JohariRow, ...]:
    """Return one row for each space: that of `others` but in the spaces named."""
    quadrants = [others] * WIDTH
    for key, quadrant in spaces.items():
        quadrants[INDEX[key]] = quadrant
    return tuple(classify(*JUDGED[quadrant]) for quadrant in quadrants)


def phrases(judged: tuple[JohariRow, ...]) -> list[str]:
    return [sentence.partition(":")[0] for sentence in insights(judged)]


@pytest.mark.parametrize(
    ("judged", "expected"),
    [
        (windows(Quadrant.OPEN, e5_causal=Quadrant.BLIND), ["Knows what, not why"]),
        (windows(Quadrant.BLIND, e7_code=Quadrant.OPEN), ["Code without context"]),
        (windows(Quadrant.UNKNOWN), ["Frontier"]),
        (windows(Quadrant.HIDDEN), ["Obsolete"]),
        (windows(Quadrant.OPEN), []),
        (windows(Quadrant.BLIND), []),
        (windows(Quadrant.BLIND, e5_causal=Quadrant.OPEN), []),
        (windows(Quadrant.OPEN, e7_code=Quadrant.BLIND), []),
    ],
)
def test_notable_combinations_of_quadrants_are_reported(judged: tuple[JohariRow, ...], expected: list[str]):
    assert phrases(judged) == expected


@pytest.mark.parametrize(("quadrant", "phrase"), [(Quadrant.UNKNOWN, "Frontier"), (Quadrant.HIDDEN, "Obsolete")])
def test_one_different_semantic_space_ends_an_insight_about_all_and_temporal_spaces_are_ignored(
    quadrant: Quadrant, phrase: str
):
    for key in SEMANTIC:
        assert phrases(windows(quadrant, **{key: Quadrant.OPEN})) == []
    assert phrases(windows(quadrant, **dict.fromkeys(TEMPORAL, Quadrant.OPEN))) == [phrase]


def test_each_insight_is_one_sentence():
    for others in Quadrant:
        for sentence in insights(windows(others, e5_causal=Quadrant.BLIND, e1_semantic=Quadrant.OPEN)):
            assert sentence.count(".") == 1
            assert sentence.endswith(".")


def test_every_space_is_classified_by_its_own_entropy_and_coherence():
    memory = stored()
    learning = replace(memory.learning, delta_s=(0.2,) * (WIDTH - 1) + (0.8,), delta_c=(0.8,) * WIDTH)
    judged = rows_of_memory(learning, memory.fingerprint)
    assert [row.quadrant for row in judged] == [Quadrant.OPEN] * (WIDTH - 1) + [Quadrant.UNKNOWN]
    assert judged[0] == classify(0.2, 0.8)
