"""Comparing memories, with the pair of sentences for which seed 000 says what to expect."""

from uuid import uuid4

import pytest

from actors.api.context import Context
from actors.runtime.settings import Strategy
from events.spaces import INDEX, SEMANTIC, SPACES
from tests.actors.api.conftest import Way
from tests.actors.conftest import store

pytestmark = [pytest.mark.anyio, pytest.mark.numeric]

SYNTH_001 = "The quick brown fox jumps over the lazy dog"
SYNTH_002 = "A fast auburn fox leaps above the sleepy hound"
ELSEWHERE = "Quarterly tax returns are due at the end of the month."
MOMENT = "2026-01-01T12:00:00Z"


async def foxes(context: Context) -> tuple[str, str, str]:
    """Store both sentences and the first one once more, all at one moment."""
    texts = (SYNTH_001, SYNTH_002, SYNTH_001)
    first, second, again = [await store(context, text, created_at=MOMENT) for text in texts]
    return first, second, again


@pytest.mark.requirement(
    "INTEG-001/compare/similar",
    "INTEG-001/synth-002/e1",
    "INTEG-001/synth-002/e6",
    "INTEG-001/synth-002/e12",
    "INTEG-001/compare/per-embedder",
    "INTEG-001/compare/answer",
)
async def test_two_sentences_about_a_fox_have_the_required_similarity(context: Context, way: Way) -> None:
    first, second, _ = await foxes(context)
    answer = await way("memory_compare", memory_a=first, memory_b=second, include_per_embedder=True)
    assert 0.6 <= answer["overall_similarity"] <= 0.8
    scores = answer["per_embedder"]
    assert len(scores) == len(SPACES)
    silent = [space.key for space, score in zip(SPACES, scores, strict=True) if score is None]
    assert silent == ["e4_temporal_positional", "e8_graph"], "no session, no connection"
    assert 0.7 <= scores[INDEX["e1_semantic"]] <= 0.9
    assert 0.3 <= scores[INDEX["e6_sparse"]] <= 0.5
    assert 0.6 <= scores[INDEX["e12_late_interaction"]] <= 0.8
    content = {key: scores[INDEX[key]] for key in SEMANTIC if scores[INDEX[key]] is not None}
    assert answer["dominant_embedder"] == max(content, key=content.__getitem__)
    assert 0 < answer["coherence"] < 1


@pytest.mark.requirement("INTEG-001/compare/identical", "INTEG-001/compare/parameters")
async def test_the_same_text_at_the_same_moment_is_the_same_in_every_space(context: Context, way: Way) -> None:
    first, _, again = await foxes(context)
    answer = await way("memory_compare", memory_a=first, memory_b=again, include_per_embedder=True)
    brief = await way("memory_compare", memory_a=first, memory_b=again)
    assert answer["overall_similarity"] >= 0.99
    assert min(score for score in answer["per_embedder"] if score is not None) >= 0.99
    assert answer["coherence"] >= 0.99
    assert "per_embedder" not in brief


async def test_texts_that_have_nothing_in_common_are_far_apart(context: Context, way: Way) -> None:
    first = await store(context, SYNTH_001, created_at=MOMENT)
    other = await store(context, ELSEWHERE, created_at="2021-03-14T03:00:00Z")
    answer = await way("memory_compare", memory_a=first, memory_b=other, include_per_embedder=True)
    scores = zip(SPACES, answer["per_embedder"], strict=True)
    told = [score for space, score in scores if score is not None and "temporal" not in space.key]
    assert sum(told) / len(told) < 0.2


async def test_memories_of_one_day_are_compared_by_content(context: Context, way: Way) -> None:
    said = await store(context, SYNTH_001, created_at=MOMENT)
    reworded = await store(context, SYNTH_002, created_at="2021-03-14T03:00:00Z")
    elsewhere = await store(context, ELSEWHERE, created_at=MOMENT)
    alike, apart = [await way("memory_compare", memory_a=said, memory_b=one) for one in (reworded, elsewhere)]
    counted = [
        await way("memory_compare", memory_a=said, memory_b=one, strategy="cosine") for one in (reworded, elsewhere)
    ]
    assert alike["overall_similarity"] > 0.6
    assert apart["overall_similarity"] < 0.1
    assert counted[0]["overall_similarity"] < alike["overall_similarity"] - 0.1, "the mean counts the years between"
    assert counted[1]["overall_similarity"] > apart["overall_similarity"] + 0.1, "and the day that they share"


async def test_a_comparison_is_the_same_from_either_side(context: Context, way: Way) -> None:
    first, second, _ = await foxes(context)
    forth = await way("memory_compare", memory_a=first, memory_b=second, include_per_embedder=True)
    back = await way("memory_compare", memory_a=second, memory_b=first, include_per_embedder=True)
    assert forth["per_embedder"] == pytest.approx(back["per_embedder"], abs=1e-3)


@pytest.mark.requirement("INTEG-001/comparator/strategies")
async def test_strategies_give_different_similarities(context: Context, way: Way) -> None:
    first, second, _ = await foxes(context)
    answers = [
        await way("memory_compare", memory_a=first, memory_b=second, strategy=strategy.value) for strategy in Strategy
    ]
    assert (await way.refused("memory_compare", memory_a=first, memory_b=second, strategy="x"))["code"] == -32602
    totals = [answer["overall_similarity"] for answer in answers]
    assert len({round(total, 6) for total in totals}) >= len(Strategy) - 1, "adaptive is one of the others"


@pytest.mark.requirement("INTEG-001/compare/unknown-id", "INTEG-001/compare/parameters")
async def test_an_unknown_memory_is_named_with_its_side(context: Context, way: Way) -> None:
    known = await store(context, SYNTH_001)
    unknown = str(uuid4())
    for sides, name in (((known, unknown), "memory_b"), ((unknown, known), "memory_a")):
        error = await way.refused("memory_compare", memory_a=sides[0], memory_b=sides[1])
        assert error["code"] == -32010
        assert error["message"] == f"Memory not found: {unknown}, named by '{name}'"
        assert error["data"] == {"id": unknown, "parameter": name}
    await way("memory_delete", id=known)
    error = await way.refused("memory_compare", memory_a=known, memory_b=known)
    assert (error["code"], error["message"]) == (-32010, f"Memory is forgotten: {known}, named by 'memory_a'")
    assert (await way.refused("memory_compare", memory_a=known))["message"] == "Missing 'memory_b' parameter"


async def test_in_a_new_store_no_memory_is_known(way: Way) -> None:
    one, other = str(uuid4()), str(uuid4())
    for tool, arguments in (
        ("memory_compare", {"memory_a": one, "memory_b": other}),
        ("memory_batch_compare", {"reference": one, "targets": [other]}),
        ("memory_similarity_matrix", {"memory_ids": [one, other]}),
        ("search_by_purpose", {"memory_id": one}),
    ):
        error = await way.refused(tool, **arguments)
        assert error["code"] == -32010, tool
        assert error["data"]["id"] == one
    assert (await way("search_by_purpose", purpose_vector=[1.0] * 13))["results"] == []


@pytest.mark.requirement("INTEG-001/compare/failure")
async def test_a_comparison_that_breaks_down_is_an_error_and_not_a_zero(
    context: Context, way: Way, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, _ = await foxes(context)

    def broken(*_: object, **__: object) -> None:
        raise ValueError("secret: e7_code is nan")

    with monkeypatch.context() as patch:
        patch.setattr("actors.comparator.compare.similarity.one_to_many", broken)
        for tool, arguments in (
            ("memory_compare", {"memory_a": first, "memory_b": second}),
            ("memory_batch_compare", {"reference": first, "targets": [second]}),
            ("memory_similarity_matrix", {"memory_ids": [first, second]}),
        ):
            error = await way.refused(tool, **arguments)
            assert error["code"] == -32603
            assert "secret" not in str(error)
    assert await way("memory_compare", memory_a=first, memory_b=second), "the comparator lives on"


@pytest.mark.requirement(
    "INTEG-001/batch_compare/ranked", "INTEG-001/batch_compare/same-as-compare", "INTEG-001/batch_compare/threshold"
)
async def test_a_batch_comparison_ranks_by_the_single_comparisons(context: Context, way: Way) -> None:
    first, second, again = await foxes(context)
    other = await store(context, ELSEWHERE, created_at="2021-03-14T03:00:00Z")
    targets = [other, second, again]
    answer = await way("memory_batch_compare", reference=first, targets=targets, include_per_embedder=True)
    assert answer["targetCount"] == len(targets)
    assert [(line["rank"], line["target"]) for line in answer["comparisons"]] == [
        (1, again),
        (2, second),
        (3, other),
    ]
    for line in answer["comparisons"]:
        single = await way("memory_compare", memory_a=first, memory_b=line["target"], include_per_embedder=True)
        assert line["similarity"] == pytest.approx(single["overall_similarity"], abs=1e-3)
        assert line["perEmbedder"] == pytest.approx(single["per_embedder"], abs=1e-3)
    above = await way("memory_batch_compare", reference=first, targets=targets, min_similarity=0.9)
    assert [line["target"] for line in above["comparisons"]] == [again]


@pytest.mark.requirement("INTEG-001/batch_compare/unknown-reference", "INTEG-001/batch_compare/unknown-target")
async def test_a_batch_with_an_unknown_id_is_refused_and_leaves_none_out(context: Context, way: Way) -> None:
    first, second, _ = await foxes(context)
    unknown = str(uuid4())
    error = await way.refused("memory_batch_compare", reference=unknown, targets=[first])
    assert (error["code"], error["message"]) == (-32010, f"Memory not found: {unknown}, named by 'reference'")
    error = await way.refused("memory_batch_compare", reference=first, targets=[second, unknown])
    assert (error["code"], error["message"]) == (-32010, f"Memory not found: {unknown}, named by 'targets'")
    assert (await way.refused("memory_batch_compare", reference=first, targets=[]))["code"] == -32602


@pytest.mark.requirement(
    "INTEG-001/matrix/shape",
    "INTEG-001/matrix/symmetric",
    "INTEG-001/matrix/diagonal",
    "INTEG-001/matrix/repeated",
)
async def test_a_matrix_is_symmetric_with_ones_on_its_diagonal(context: Context, way: Way) -> None:
    first, second, again = await foxes(context)
    for ids in ([first, second, again], [first, second, first]):
        answer = await way("memory_similarity_matrix", memory_ids=ids)
        matrix = answer["matrix"]
        assert answer["memory_ids"] == ids
        assert [len(row) for row in matrix] == [3, 3, 3]
        assert all(matrix[i][j] == matrix[j][i] for i in range(3) for j in range(3))
        assert all(matrix[i][i] == pytest.approx(1, abs=0.01) for i in range(3))
        assert matrix[0][2] >= 0.99
        single = await way("memory_compare", memory_a=first, memory_b=second)
        assert matrix[0][1] == pytest.approx(single["overall_similarity"], abs=1e-3)


@pytest.mark.requirement("INTEG-001/matrix/unknown-id")
async def test_a_matrix_with_an_unknown_id_is_refused_and_drops_no_row(context: Context, way: Way) -> None:
    first, second, _ = await foxes(context)
    unknown = str(uuid4())
    for ids in ([first, second, unknown], [unknown, first]):
        error = await way.refused("memory_similarity_matrix", memory_ids=ids)
        assert (error["code"], error["message"]) == (-32010, f"Memory not found: {unknown}, named by 'memory_ids'")
    error = await way.refused("memory_similarity_matrix", memory_ids=[])
    assert error["code"] == -32602
    assert "memory_ids" in error["message"]
