"""What is asked of the store before, during and after a run, and how the answers compare."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean
from time import perf_counter
from typing import Any

import msgspec

from actors.api.context import Context
from actors.api.operations.retrieval.search import search_graph
from actors.api.params.memories import SearchGraph
from actors.api.params.parsing import parse
from actors.api.params.search import SearchGraph
from actors.api.tools.agent_tools import BY_NAME
from actors.runtime import ask as actors
from actors.store.messages import ReadStatus
from actors.workspace.messages import ReadAttention
from benchmarks.retrieval.corpora import DEPTH

Ranking = tuple[tuple[str, float], ...]
"""Memories and their scores, best first."""

Question = dict[str, Any]
"""Arguments of a search. The time stands in it, so that the same question finds the same later on."""


class Answers(msgspec.Struct, frozen=True):
    """What a list of questions was answered."""

    rankings: tuple[Ranking, ...]
    milliseconds: tuple[float, ...]


class Query(msgspec.Struct, frozen=True):
    """A question with the memories that answer it."""

    corpus: str
    question: Question
    relevant: tuple[str, ...]


async def call(context: Context, name: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool as a client does, without the wire."""
    tool = BY_NAME[name]
    return await tool.run(context, parse(arguments, tool.params))


async def search(context: Context, question: Question) -> tuple[Ranking, float]:
    """Ask one question, and return the milliseconds that it took too."""
    start = perf_counter()
    answer = await search_graph(context, parse({"top_k": DEPTH, **question}, SearchGraph))
    took = (perf_counter() - start) * 1e3
    return tuple((result["fingerprintId"], result["score"]) for result in answer["results"]), took


async def ask(context: Context, queries: Sequence[Query]) -> Answers:
    """Ask one question after the other, and wait until all that follows from them is in the log."""
    found = [await search(context, query.question) for query in queries]
    await actors.ask(context.hub.workspace, ReadAttention())
    await actors.ask(context.hub.store, ReadStatus())
    return Answers(tuple(ranking for ranking, _ in found), tuple(took for _, took in found))


def identical(before: Answers, after: Answers) -> int:
    """Return how many questions were answered with the same memories, in the same order, with the same scores."""
    return sum(one == other for one, other in zip(before.rankings, after.rankings, strict=True))


def recall(answers: Answers, queries: Sequence[Query], heirs: Mapping[str, str]) -> dict[str, float]:
    """Return Recall@10 by corpus; an absorbed memory is found where the one is that answers to its id.

    Args:
        answers: What was answered.
        queries: What was asked.
        heirs: The survivor of each absorbed memory.
    """
    by_corpus: dict[str, list[float]] = defaultdict(list)
    for query, ranking in zip(queries, answers.rankings, strict=True):
        found = {memory for memory, _ in ranking}
        reached = sum(_heir(memory, heirs) in found for memory in query.relevant)
        by_corpus[query.corpus].append(reached / len(query.relevant))
    return {corpus: fmean(recalls) for corpus, recalls in sorted(by_corpus.items())}


def _heir(memory: str, heirs: Mapping[str, str]) -> str:
    """Return which memory answers to an id, after any number of runs."""
    while memory in heirs:
        memory = heirs[memory]
    return memory
