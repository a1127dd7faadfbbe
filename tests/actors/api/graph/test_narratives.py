"""The narrative of a path: quoted memories, and the wording of relations in both directions."""

from uuid import UUID

from actors.api.operations.retrieval.graph import MAX_QUOTE, narrative
from actors.comparator.messages.graph import Edge, Path

A, B, C, D = (UUID(int=number) for number in range(1, 5))


def edge(source: UUID, target: UUID, *, relation: str = "causes") -> Edge:
    return Edge(source, target, relation, 1, 1)


def test_a_narrative_words_relations_in_both_directions() -> None:
    texts = {A: "It rained.", B: "The street\n is wet.", C: "Ann slipped.", D: "Ann's diary"}
    walked = Path(A, (edge(A, B), edge(B, C, relation="next"), Edge(D, C, "link_to", 1, 1, forward=False)))
    assert narrative(walked, texts) == (
        '"It rained." -> caused -> "The street is wet." -> is followed by -> "Ann slipped." '
        '-> is linked from -> "Ann\'s diary"'
    )
    returned = Path(C, (Edge(B, C, "next", 1, 1, forward=False), Edge(A, B, "causes", 1, 1, forward=False)))
    assert narrative(returned, texts) == (
        '"Ann slipped." -> follows -> "The street is wet." -> was caused by -> "It rained."'
    )


def test_a_custom_relation_is_quoted_by_its_name() -> None:
    texts = {A: "a", B: "b"}
    assert narrative(Path(A, (edge(A, B, relation="supports"),)), texts) == '"a" -> supports -> "b"'
    back = Edge(B, A, "supports", 1, 1, forward=False)
    assert narrative(Path(A, (back,)), texts) == '"a" -> is target of \'supports\' from -> "b"'


def test_long_texts_are_shortened_even_without_spaces() -> None:
    for text in ("x" * 500, "tide " * 100):
        quoted = narrative(Path(A, ()), {A: text})
        assert quoted.startswith(f'"{text[:40]}')
        assert quoted.endswith('…"')
        assert len(quoted) <= MAX_QUOTE + 2
