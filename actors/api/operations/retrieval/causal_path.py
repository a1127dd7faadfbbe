"""The chain of causes, or of any links, from one memory to another."""

from collections.abc import Mapping
from itertools import product
from typing import Annotated, Final, NamedTuple
from uuid import UUID

from msgspec import Meta

from actors.api.answers import body_of, rounded
from actors.api.context import Context, append, check_live, describe, wait_until_ready
from actors.api.operations.retrieval import graph
from actors.api.operations.retrieval.query import parse_query, search
from actors.api.params.fields import NamespaceFilter, QueryText, Reading
from actors.comparator.messages import FindPaths
from actors.comparator.messages.graph import Paths
from actors.linker.messages import LinkCauses
from actors.proxy.namespaces import EVERYWHERE
from actors.runtime.ask import MODEL_TIMEOUT, ask
from actors.runtime.faults import NotFoundFault
from actors.runtime.settings import Confidence, PathKind, SearchProfile
from actors.runtime.types import JsonObject
from actors.text.causes.clauses import CausalClause, causal_clauses, sentence_around
from events.vocabulary import LinksTraversed
from projections.spaces.lexical import STOP_WORDS, stem_words
from projections.spaces.lexical import words as tokens

ALTERNATIVES = 3
"""Further paths that are shown on request."""
MAX_ENDS = 3
"""Memories that words for one end may mean: of these, the best found pair that a path joins is chosen."""
MIN_RELATIVE_SIMILARITY: Final = 2 / 3
"""Of such a memory to the best one: a memory that shares one of several words is not meant."""
MAX_EXAMINED = 2_000
"""Memories that are examined for causes before the paths are searched; the rest waits for a deep run."""

RUNS_BACK = "The cause runs the other way: with start_concept and end_concept exchanged, a path is found"


class End(NamedTuple):
    """One end of a path."""

    memory: UUID
    similarity: float | None = None
    """Its similarity to the words that found it; None for an id."""
    confidence: Confidence | None = None
    """How surely what was found bears on these words; None also where no relevance is known."""


class Joined(NamedTuple):
    """Two ends, and the paths that join them."""

    start: End
    end: End
    found: Paths

    @property
    def is_one(self) -> bool:
        """Whether both ends are one memory."""
        return self.start.memory == self.end.memory


class FindCausalPath(Reading, frozen=True, kw_only=True):
    """Find the chain of causes, or of any links, from one memory to another, with its confidence."""

    not_blank = ("start_concept", "end_concept")

    start_concept: Annotated[QueryText, Meta(description="Id of a memory, or words that find it")]
    end_concept: Annotated[QueryText, Meta(description="The same")]
    max_hops: Annotated[int, Meta(ge=1, le=6, description="Length of a path")] = 4
    path_type: Annotated[PathKind, Meta(description="Which links it may follow")] = PathKind.ANY
    include_alternatives: Annotated[bool, Meta(description="Add up to three other paths")] = False
    namespace: NamespaceFilter = None


async def find_causal_path(context: Context, params: FindCausalPath) -> JsonObject:
    """Find the most confident path from one memory to another; the path that is shown counts as traversed."""
    starts = await _resolve(context, params.start_concept, "start_concept", params.namespace)
    ends = await _resolve(context, params.end_concept, "end_concept", params.namespace)
    if context.hub.linker is not None:
        examined = context.namespace_or_all(params.namespace)
        await ask(context.hub.linker, LinkCauses(namespace=examined, limit=MAX_EXAMINED), MODEL_TIMEOUT)
    named = {"start_concept": starts, "end_concept": ends}
    unknown = [name for name, found in named.items() if found[0].confidence is Confidence.NOTHING]
    if unknown:  # the nearest memory alone is shown
        starts, ends = starts[:1], ends[:1]
    joined = Joined(starts[0], ends[0], Paths(paths=(), complete=True))
    # A memory that states a cause between both may say one of them in other words.
    if not unknown or (len(unknown) == 1 and joined.is_one):
        joined = await _best_paths(context, params, starts, ends)
    texts = await _texts(context, joined)
    start, stated = joined.start.memory, None
    if joined.is_one and joined.start.similarity is not None:
        stated = stated_between(texts[start], params.start_concept, params.end_concept)
    # One memory joins two concepts only if it states how one leads to the other.
    paths = () if joined.is_one and stated is None else joined.found.paths
    if paths and paths[0].edges:
        await append(context, LinksTraversed(steps=tuple(edge.step for edge in paths[0].edges)))
    answer: JsonObject = {
        "path_found": bool(paths),
        "start": _end(joined.start, texts),
        "end": _end(joined.end, texts),
    }
    if paths:
        best, *others = (graph.path(one, texts) for one in paths)
        answer |= best | {"alternatives": others}
        if stated is not None:
            answer["path"][0]["evidence"] = _statement(start, texts[start], stated)
    runs_back = not (paths or unknown) and await _runs_back(context, params, joined, (starts, ends), texts[start])
    if hint := RUNS_BACK if runs_back else _hint(params, unknown, joined, stated, is_found=bool(paths)):
        answer["hint"] = hint
    if not joined.found.complete:
        answer["incomplete"] = "the search stopped at its limit of edges: a better path may exist"
    return answer


def stated_between(text: str, cause: str, effect: str) -> CausalClause | None:
    """Return the causal clause of a text that leads from one concept to another; None if it states none that way."""
    asked = [_stems(cause), _stems(effect)]

    def surplus(clause: CausalClause) -> int:
        """Return how many more of the concepts' stems the clause holds in the asked order than in the reverse one."""
        told = [_stems(text[slice(*span)]) for span in (clause.cause, clause.effect)]
        forward = sum(len(one & other) for one, other in zip(asked, told, strict=True))
        return forward - sum(len(one & other) for one, other in zip(asked, reversed(told), strict=True))

    best = max(causal_clauses(text), key=surplus, default=None)
    return best if best is not None and surplus(best) > 0 else None


def _stems(text: str) -> set[str]:
    return set(stem_words([word for word in tokens(text) if word not in STOP_WORDS]))


def _hint(
    params: FindCausalPath, unknown: list[str], joined: Joined, stated: CausalClause | None, *, is_found: bool
) -> str | None:
    """Return what an agent should know of an answer that follows no link; None for one that does."""
    names = " and ".join(f"'{name}'" for name in unknown)
    if unknown and is_found:
        return f"The memory states a cause, but hardly bears on {names}"
    if unknown:
        return f"Nothing stored bears on {names}: the nearest memory is shown; give its id if it is meant"
    if joined.is_one and stated is None:
        was_read = joined.start.similarity is not None and params.path_type is not PathKind.SEMANTIC
        causal = ", which states no cause between them" if was_read else ""
        return f"Both ends name one memory{causal}: no link was followed"
    if is_found:
        return None
    if params.path_type is PathKind.ANY:
        return f"No causes, links and turns join them within {params.max_hops} hops; path_type semantic follows groups"
    kind = params.path_type.value
    return f"No {kind} links join them within {params.max_hops} hops; path_type any follows causes, links and turns"


async def _texts(context: Context, joined: Joined) -> dict[UUID, str]:
    """Return the texts of the memories on the paths, or of both ends; `NotFoundFault` for one erased meanwhile."""
    memories = {memory for path in joined.found.paths for memory in path.memories}
    memories = memories or {joined.start.memory, joined.end.memory}
    texts = {entry.id: entry.body.text for entry in await describe(context, *memories) if entry.body}
    if gone := next((memory for memory in memories if memory not in texts), None):
        raise NotFoundFault(f"Memory was erased or merged meanwhile: {gone}", id=str(gone))
    return texts


async def _runs_back(
    context: Context, params: FindCausalPath, joined: Joined, found: tuple[list[End], list[End]], text: str
) -> bool:
    """Tell whether causes lead from the end to the start; `text` is that of the start.

    Links and turns need no such look: a path follows them both ways.
    """
    if params.path_type is PathKind.SEMANTIC or (joined.is_one and joined.start.similarity is None):
        return False
    if joined.is_one and stated_between(text, params.end_concept, params.start_concept) is not None:
        return True
    starts, ends = found
    back = await _best_paths(context, params, ends, starts)
    return bool(back.found.paths) and not back.is_one


async def _best_paths(context: Context, params: FindCausalPath, starts: list[End], ends: list[End]) -> Joined:
    """Return the best found pair of ends that a path joins, with the paths; the very best pair if none is joined.

    Words for both ends may find one memory. It is the answer unless two others are joined by causes, or by the links
    that were asked for: a memory that states cause and effect says more than a detour through its group.
    """
    pairs = sorted(product(starts, ends), key=lambda pair: -sum(end.similarity or 0.0 for end in pair))
    same = [pair for pair in pairs if pair[0].memory == pair[1].memory]
    apart = [pair for pair in pairs if pair not in same]
    attempts = [(params.path_type, apart)]
    if same:
        sooner = PathKind.CAUSAL if params.path_type is PathKind.ANY else params.path_type
        attempts = [(sooner, apart), (params.path_type, same)]
    complete = True
    for kind, attempted in attempts:
        for start, end in attempted:
            found = await ask(
                context.hub.comparator,
                FindPaths(
                    start=start.memory,
                    end=end.memory,
                    namespace=None if params.namespace == EVERYWHERE else params.namespace,
                    max_hops=params.max_hops,
                    kind=kind,
                    alternatives=ALTERNATIVES if params.include_alternatives else 0,
                ),
            )
            if found.paths:
                return Joined(start, end, found)
            complete &= found.complete
    return Joined(*pairs[0], Paths(paths=(), complete=complete))


def _end(found: End, texts: Mapping[UUID, str]) -> JsonObject:
    answer = graph.node(found.memory, texts)
    if found.similarity is not None:
        answer["similarity"] = rounded(found.similarity)
    if found.confidence is not None:
        answer["confidence"] = found.confidence.value
    return answer


async def _resolve(context: Context, concept: str, parameter: str, namespace: str | None) -> list[End]:
    """Return the memory with this id, or the first that a search finds, each with how similar it is."""
    try:
        memory = UUID(concept)
    except ValueError:
        return await _search(context, concept, parameter, namespace)
    (entry,) = await describe(context, memory)
    check_live(entry)
    if namespace not in {None, EVERYWHERE, body_of(entry).namespace}:
        raise NotFoundFault(f"Memory isn't in namespace {namespace}: {memory}", id=str(memory), parameter=parameter)
    return [End(entry.id)]


async def _search(context: Context, text: str, parameter: str, namespace: str | None) -> list[End]:
    await wait_until_ready(context)
    query = await parse_query(context, text, context.now(), context.search_filter(namespace))
    found = await search(context, query, SearchProfile.AUTO, limit=MAX_ENDS, primed={})
    if not found.hits:
        raise NotFoundFault(f"No memory is found by '{parameter}'", parameter=parameter)
    confidence = found.relevance and found.relevance.confidence
    least = MIN_RELATIVE_SIMILARITY * max(hit.similarity for hit in found.hits)
    return [End(hit.memory, hit.similarity, confidence) for hit in found.hits if hit.similarity >= least]


def _statement(memory: UUID, text: str, clause: CausalClause) -> JsonObject:
    """Return what a memory states that holds cause and effect itself."""
    return {
        "rule": clause.connective,
        "stated_in": str(memory),
        "sentence": sentence_around(text, clause.effect),
        "cause": text[slice(*clause.cause)],
        "effect": text[slice(*clause.effect)],
    }
