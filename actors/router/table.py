"""Which hub gets a request, by the namespaces or the memories that it names; and how answers of several are merged."""

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from actors.api.confinement import RUN, memories_named
from actors.api.context import NAMESPACE
from actors.api.mcp.server import PULSE
from actors.api.operations.retrieval.pagination import FRAME, fit, tokens
from actors.api.params.fields import DEFAULT_NAMESPACE
from actors.api.params.memories import MemoryInjectBatch
from actors.api.params.parsing import Params, invalid
from actors.api.tools.dispatch import RESULTS
from actors.api.tools.tool import Tool
from actors.proxy.namespaces import EVERYWHERE, SHARED
from actors.proxy.serve_command import names
from actors.runtime.types import JsonObject

SIMILARITIES: Final = ("similarity", "aggregate_similarity", "rrfScore")
"""Fields that hold the similarity of a result, of which each tool has one."""
OF_ONE_HUB: Final = ("next_cursor", "weightsApplied", "stages", PULSE)
"""Fields that mean nothing in a merged answer."""


class HubAddress(NamedTuple):
    """A hub and what it serves."""

    namespaces: tuple[str, ...]
    url: str
    """The URL of its HTTP server, without `/mcp`."""

    @property
    def shown(self) -> str:
        """The hub as messages name it."""
        return f"the hub of {', '.join(self.namespaces)} at {self.url}"


class Destination(NamedTuple):
    """Where a request goes."""

    hubs: tuple[HubAddress, ...]
    together: bool = False
    """Whether all of them answer; otherwise the first that knows the memories or the run named."""


class Table:
    """The hubs behind a router, each given as `NAMESPACE,NAMESPACE=URL`.

    Raises:
        InvalidParamsFault: one is malformed, or two serve the same namespace.
    """

    def __init__(self, hubs: Sequence[str]) -> None:
        self.hubs = tuple(map(_parse, hubs))
        self._serving: dict[str, HubAddress] = {}
        for hub in self.hubs:
            for namespace in hub.namespaces:
                if namespace in self._serving:
                    raise invalid("hub", f"two hubs serve '{namespace}'")
                self._serving[namespace] = hub

    def choose(self, tool: Tool, params: Params, arguments: JsonObject, project: str | None) -> Destination:
        """Return where a request goes (`InvalidParamsFault` if no hub serves the namespace, or one must be named)."""
        hubs = {self._hub(one, parameter) for parameter, one in _namespaces(params, arguments, project)}
        if len(hubs) > 1:
            raise invalid("items", "the namespaces of a batch belong to several hubs; send a batch for each")
        if hubs:
            return Destination(tuple(hubs))
        if tool.spans_namespaces:
            return Destination(self._searched(params, project), together=True)
        if NAMESPACE in params.__struct_fields__ and len(self.hubs) > 1:
            raise invalid(NAMESPACE, f"name one of {', '.join(sorted(self._serving))}")
        names_one = next(memories_named(params), getattr(params, RUN, None)) is not None
        return Destination(self.hubs, together=not names_one)

    def _searched(self, params: Params, project: str | None) -> tuple[HubAddress, ...]:
        """Return the hubs of a search: those of its project and of what all projects share, without one all."""
        if project is None or project == DEFAULT_NAMESPACE or getattr(params, NAMESPACE, None) == EVERYWHERE:
            return self.hubs
        own = self._hub(project)
        return tuple(hub for hub in self.hubs if hub is own or {*hub.namespaces} & {*SHARED})

    def _hub(self, namespace: str, parameter: str = NAMESPACE) -> HubAddress:
        hub = self._serving.get(namespace)
        if hub is None:
            raise invalid(parameter, f"no hub serves '{namespace}'; served are {', '.join(sorted(self._serving))}")
        return hub


def _namespaces(params: Params, arguments: JsonObject, project: str | None) -> Iterator[tuple[str, str]]:
    if isinstance(params, MemoryInjectBatch):
        for place, item in enumerate(params.items):
            named = (item.get(NAMESPACE) if isinstance(item, dict) else None) or project or DEFAULT_NAMESPACE
            yield f"items[{place}].{NAMESPACE}", str(named)
        return
    named: str | None = getattr(params, NAMESPACE, None)
    if project is not None and named == DEFAULT_NAMESPACE and NAMESPACE not in arguments:
        named = project
    if named is not None and named != EVERYWHERE:
        yield NAMESPACE, named


def _parse(hub: str) -> HubAddress:
    listed, separator, url = hub.partition("=")
    try:
        parts = urlsplit(url)
        valid = parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        valid = False
    namespaces = names(listed)
    if not (separator and valid and namespaces) or EVERYWHERE in namespaces:
        raise invalid("hub", f"expected NAMESPACE,NAMESPACE=http://HOST:PORT, not '{hub}'")
    return HubAddress(namespaces, url.rstrip("/").removesuffix("/mcp"))


def merge(
    answers: Sequence[tuple[HubAddress, JsonObject]], limit: int | None, max_tokens: int | None = None
) -> JsonObject:
    """Merge the answers of a tool to the best `limit` results, beside the other fields of the most relevant answer.

    A single answer stays as it is, and so does one that all hubs give. Where a tool answers something else than ranked
    results, the answers stand side by side.

    Raises:
        InvalidParamsFault: not one result fits into `max_tokens`.
    """
    bare = [{name: value for name, value in answer.items() if name not in OF_ONE_HUB} for _, answer in answers]
    if len(answers) == 1:
        return answers[0][1]
    if all(one == bare[0] for one in bare):
        return bare[0]
    if not all(RESULTS in answer for _, answer in answers):
        return {"hubs": [{"hub": hub.url, "namespaces": list(hub.namespaces)} | answer for hub, answer in answers]}
    ranked = [one for _, answer in answers for one in _weighed(answer)]
    ranked.sort(key=lambda one: -one[0])
    results = [result for _, result in ranked[:limit]]
    best = max((answer for _, answer in answers), key=lambda answer: answer.get("relevance", 0.0))
    merged = {name: value for name, value in best.items() if name not in OF_ONE_HUB}
    if max_tokens is not None:
        results = fit(results, max_tokens - tokens(merged | {RESULTS: []}) - FRAME)
    return merged | {RESULTS: results} | ({"count": len(results)} if "count" in best else {})


def _weighed(answer: JsonObject) -> list[tuple[float, JsonObject]]:
    """Return results with their weight: similarity times relevance of the answer, not less than that of a later one."""
    results: list[JsonObject] = answer[RESULTS]
    weights = [_similarity(result) * answer.get("relevance", 1.0) for result in results]
    least = [*accumulate(reversed(weights), max)][::-1]
    return list(zip(least, results, strict=True))


def _similarity(result: JsonObject) -> float:
    return float(next((result[name] for name in SIMILARITIES if result.get(name) is not None), 0.0))
