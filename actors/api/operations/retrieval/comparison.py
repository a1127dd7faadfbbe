"""Comparisons of memories with each other."""

from time import perf_counter
from uuid import UUID

from actors.api.context import Context
from actors.api.operations.retrieval.search import milliseconds_since
from actors.api.params.memories import MemoryBatchCompare, MemoryCompare, MemorySimilarityMatrix
from actors.comparator.messages import Compare, Comparison
from actors.runtime.ask import ask
from actors.runtime.settings import Strategy
from actors.runtime.types import JsonObject

ROWS_AT_ONCE = 8
"""Rows of a matrix between two progress reports."""


async def memory_compare(context: Context, params: MemoryCompare) -> JsonObject:
    (found,) = await _compare(context, params.memory_a, (params.memory_b,), params.strategy)
    answer = {"overall_similarity": found.similarity, "coherence": found.coherence, "dominant_embedder": found.dominant}
    return answer | ({"per_embedder": list(found.spaces)} if params.include_per_embedder else {})


async def memory_batch_compare(context: Context, params: MemoryBatchCompare) -> JsonObject:
    start = perf_counter()
    compared = await _compare(context, params.reference, params.targets, params.strategy)
    pairs = zip(params.targets, compared, strict=True)
    similar = (pair for pair in pairs if pair[1].similarity >= params.min_similarity)
    ranked = sorted(similar, key=lambda pair: -pair[1].similarity)
    return {
        "reference": str(params.reference),
        "comparisons": [
            {
                "target": str(target),
                "rank": rank,
                "similarity": found.similarity,
                "coherence": found.coherence,
                "dominantEmbedder": found.dominant,
            }
            | ({"perEmbedder": list(found.spaces)} if params.include_per_embedder else {})
            for rank, (target, found) in enumerate(ranked, start=1)
        ],
        "targetCount": len(params.targets),
        "comparisonLatencyMs": milliseconds_since(start),
    }


async def memory_similarity_matrix(context: Context, params: MemorySimilarityMatrix) -> JsonObject:
    """Compare memories all with each other. Each pair is compared once, so the matrix is symmetric to the bit."""
    start = perf_counter()
    memories = params.memory_ids
    size = len(memories)
    matrix = [[0.0] * size for _ in memories]
    for row, memory in enumerate(memories):
        # One row a message, so that a concurrent search waits for no more than that.
        found = await _compare(context, memory, memories[row:], params.strategy)
        for column, comparison in enumerate(found, start=row):
            matrix[row][column] = matrix[column][row] = comparison.similarity
        if row % ROWS_AT_ONCE == ROWS_AT_ONCE - 1:
            await context.progress(row + 1, size, "rows compared")
    return {
        "matrix": matrix,
        "memory_ids": [str(memory) for memory in memories],
        "dimensions": size,
        "computationLatencyMs": milliseconds_since(start),
    }


async def _compare(
    context: Context, reference: UUID, targets: tuple[UUID, ...], strategy: Strategy
) -> tuple[Comparison, ...]:
    return await ask(context.hub.comparator, Compare(reference=reference, targets=targets, strategy=strategy))
