"""One answer out of those of several hubs.

Scores are standardised among the candidates of one hub, so two hubs' can't be compared. Two other figures can: the
`relevance` of an answer is a calibrated probability that it bears on the query, and the `similarity` of a result is a
weighted mean of calibrated similarities. A result counts as much as the relevance of its answer, times its similarity
as a share of the best one in that answer. Answers without a relevance are compared by similarity alone.

A hub's own order stays, which knows more than similarities: a correction comes above what it corrects. So a result
counts at least as much as any that its hub ranks below it.
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from actors.router.table import HubAddress
    from actors.runtime.types import JsonObject

RESULTS: Final = "results"
SIMILARITIES: Final = ("similarity", "aggregate_similarity", "rrfScore")
"""Fields that hold the similarity of a result, of which each tool has one."""
OF_ONE_HUB: Final = ("next_cursor", "weightsApplied", "stages", "_cognitive_pulse")
"""Fields that mean nothing in a merged answer."""


def merge(answers: Sequence[tuple[HubAddress, JsonObject]], limit: int | None) -> JsonObject:
    """Merge the answers of a tool to the best `limit` results, beside the other fields of the most relevant answer.

    A single answer stays as it is. Where a tool answers something else than ranked results, the answers stand side by
    side.
    """
    if len(answers) == 1:
        return answers[0][1]
    if not all(RESULTS in answer for _, answer in answers):
        return {"hubs": [{"hub": hub.url, "namespaces": list(hub.namespaces)} | answer for hub, answer in answers]}
    ranked = [one for _, answer in answers for one in _weighed(answer)]
    ranked.sort(key=lambda one: -one[0])
    results = [result for _, result in ranked[:limit]]
    best = max((answer for _, answer in answers), key=lambda answer: answer.get("relevance", 0.0))
    merged = {name: value for name, value in best.items() if name not in OF_ONE_HUB}
    return merged | {RESULTS: results} | ({"count": len(results)} if "count" in best else {})


def _weighed(answer: JsonObject) -> list[tuple[float, JsonObject]]:
    results: list[JsonObject] = answer[RESULTS]
    similarities = [_similarity(result) for result in results]
    relevance, highest = answer.get("relevance"), max(similarities, default=0.0)
    scale = 1.0 if relevance is None or highest <= 0 else relevance / highest
    least = [*accumulate(reversed(similarities), max)][::-1]
    return [(similarity * scale, result) for similarity, result in zip(least, results, strict=True)]


def _similarity(result: JsonObject) -> float:
    return float(next((result[name] for name in SIMILARITIES if result.get(name) is not None), 0.0))
