"""Search: what an agent would find, why, and what other weights would find."""

from itertools import zip_longest

from starlette.requests import Request
from starlette.responses import Response

from actors.api.params.fields import MAX_QUERY
from actors.api.parts import PARTS, SPACE_NAMES, reasons
from actors.dashboard.comparisons import why_above
from actors.dashboard.page import chosen, number, operate, render
from actors.runtime.faults import InvalidParamsFault
from actors.runtime.settings import Confidence, SearchProfile
from actors.runtime.types import JsonObject
from events.spaces import SPACES

CUSTOM = "custom"
RESULTS = 10
"""Results of a page."""
MOST = 100
"""Results of all pages together: as many as one search returns."""
CONFIDENCE = {
    Confidence.CONFIDENT.value: ("The answer is probably among them", "high enough to rely on"),
    Confidence.UNCERTAIN.value: ("The answer may be among them", "too low to rely on"),
    Confidence.NOTHING.value: ("None of them clearly answers the question", "too low to count as an answer"),
}
"""What each class says of the results, and of their relevance: the bounds between classes are no round numbers."""
FULL = 100
"""Position of a slider that stands for the largest weight."""


async def search(request: Request) -> Response:
    """Show the results of a question, and how each came to its place."""
    query = chosen(request, "q")
    profile = chosen(request, "profile") or SearchProfile.AUTO.value
    namespace = chosen(request, "namespace")
    offset = number(chosen(request, "offset"), "offset", 0, 0, MOST - RESULTS)
    calendar = await operate(request, "store/calendar", sessions=0)
    places = _places(request) if profile == CUSTOM else {}
    answer: JsonObject | None = None
    if query is not None:
        if len(query) > MAX_QUERY:
            raise InvalidParamsFault(f"Invalid 'q': a question has at most {MAX_QUERY} characters", parameter="q")
        if not places:
            answer = await _by_profile(request, query, profile, namespace, offset)
        elif any(places.values()):
            answer = await _by_weights(request, query, places, namespace, offset)
    return render(
        request,
        "search.html",
        query=query or "",
        profile=profile,
        profiles=[*(one.value for one in SearchProfile), CUSTOM],
        namespace=namespace,
        namespaces=calendar["namespaces"],
        total=calendar["total"],
        answer=answer,
        sliders=places or _sliders(answer),
        offset=offset,
        page_size=RESULTS,
        most=MOST,
        here={"q": query, "profile": profile, "namespace": namespace, **{f"w_{key}": at for key, at in places.items()}},
    )


async def _by_profile(request: Request, query: str, profile: str, namespace: str | None, offset: int) -> JsonObject:
    found = await operate(
        request, "search/graph", query=query, profile=profile, namespace=namespace, top_k=_reach(offset), explain=True
    )
    results = [
        one | {"id": one["fingerprintId"], "similarities": one["embedderScores"]}
        for one in found["results"][offset : offset + RESULTS]
    ]
    return _answer(found, results, found["profile"], found["weightsApplied"], found["stages"], found["queryLatencyMs"])


def _reach(offset: int) -> int:
    """Return how many results to search for: those up to the end of a page, and one that shows if there are more."""
    return min(offset + RESULTS + 1, MOST)


async def _by_weights(
    request: Request, query: str, places: dict[str, int], namespace: str | None, offset: int
) -> JsonObject:
    """Rank by exactly the weights of the sliders."""
    moved = sum(places.values())
    weights = {key: place / moved for key, place in places.items()}
    found = await operate(
        request,
        "search/multi",
        query=query,
        query_type=CUSTOM,
        weights=list(weights.values()),
        namespace=namespace,
        top_k=_reach(offset),
        min_similarity=0.0,
    )
    meta = found["query_metadata"]
    applied = dict(zip(weights, meta["weights_applied"], strict=True))
    results: list[JsonObject] = []
    for one in found["results"][offset : offset + RESULTS]:
        scores = {key: score for key, score in one["per_embedder_scores"].items() if score is not None}
        total = sum(applied[key] for key in scores) or 1.0
        parts = {key: applied[key] * score / total for key, score in scores.items()}
        results.append(one | {"similarities": one["per_embedder_scores"], "contributions": parts})
    stage = {"name": "all memories by these weights", "candidates": meta["total_candidates_scanned"]}
    milliseconds = meta["search_time_ms"]
    return _answer(found, results, CUSTOM, applied, [stage | {"milliseconds": milliseconds}], milliseconds)


def _answer(
    found: JsonObject,
    results: list[JsonObject],
    profile: str,
    weights: JsonObject,
    stages: list[JsonObject],
    milliseconds: float,
) -> JsonObject:
    """Return what the page shows: each result with why it is above the next one, and the parts of its score.

    Of a result, `raising` are the parts that are the reasons for it, `views` all spaces, `others` the remaining
    parts by size.
    """
    top = max((abs(value) for one in results for value in one["contributions"].values()), default=0.0) or 1.0
    told = reasons([one["contributions"] for one in results])
    for one, following, keys in zip_longest(results, results[1:], told):
        parts: dict[str, float] = one["contributions"]
        largest = sorted((part for part in parts.items() if part[1]), key=lambda part: -abs(part[1]))
        one["above"] = None if following is None else why_above(parts, following["contributions"])
        one["raising"] = [(part, parts[part]) for part in keys]
        one["views"] = [
            _part(name, parts.get(key, 0.0), top) | {"compares": compares, "similarity": one["similarities"][key]}
            for key, (name, compares) in SPACE_NAMES.items()
        ]
        one["others"] = [_part(PARTS.get(part, part), value, top) for part, value in largest if part not in SPACE_NAMES]
        one.setdefault("excerpt", None)
    return {
        "results": results,
        "reached": len(found["results"]),
        "profile": profile,
        "weights": weights,
        "stages": stages,
        "milliseconds": milliseconds,
        "read_as": found.get("read_as"),
        "confidence": CONFIDENCE.get(found.get("confidence", "")),
        "relevance": found.get("relevance"),
    }


def _part(name: str, value: float, top: float) -> JsonObject:
    return {"name": name, "part": value, "share": abs(value) / top}


def _places(request: Request) -> dict[str, int]:
    """Return the position of each slider, up to `FULL`; 0 for one that the request doesn't name."""
    names = {space.key: f"w_{space.key}" for space in SPACES}
    return {key: number(chosen(request, name), name, 0, 0, FULL) for key, name in names.items()}


def _sliders(answer: JsonObject | None) -> dict[str, int]:
    """Return the position of each slider as the profile weighs."""
    weights = {space.key: 1.0 for space in SPACES} if answer is None else answer["weights"]
    top = max(weights.values(), default=0.0) or 1.0
    return {space.key: round(FULL * max(weights.get(space.key, 0.0), 0.0) / top) for space in SPACES}
