"""The same questions asked in several ways: with each profile, and with each space left out."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from rich.progress import Progress

from actors.api.operations.retrieval.query import Query, embed_query, search
from actors.comparator.search.query_classifier import cues
from actors.runtime.settings import SearchProfile
from actors.text.query_classifier import extract_hints
from benchmarks.retrieval.corpora import DEPTH, Document, measures
from benchmarks.retrieval.storing import Filled, asked_at
from events.spaces import SPACES
from projections.memories.facets import Filter


class Variant(NamedTuple):
    """A way to ask."""

    name: str
    profile: SearchProfile = SearchProfile.AUTO
    without: frozenset[str] = frozenset()


PROFILES = tuple(Variant(profile.value, profile) for profile in SearchProfile)
ABLATIONS = (Variant("all"), *(Variant(f"without {space.key}", without=frozenset({space.key})) for space in SPACES))


async def compared(
    store: Filled,
    queries: Sequence[Document],
    relevant: dict[str, dict[str, float]],
    ways: Iterable[Variant],
    bar: Progress,
) -> dict[str, float]:
    """Return Recall@10 of each way to ask the same questions; each is embedded once."""
    ways = tuple(ways)
    recalls: dict[str, list[float]] = defaultdict(list)
    task = bar.add_task("asking", total=len(queries))
    for query in queries:
        namespace, session = query.metadata.get("namespace"), query.metadata.get("session")
        asked = Query(query.text, cues(query.text, asked_at(query)), {}, Filter(namespace=namespace), asked_at(query))
        asked = await embed_query(store.context, asked, session)
        for way in ways:
            found = await search(store.context, asked, way.profile, DEPTH, without=way.without, primed={})
            ranking = [store.stored[str(hit.memory)] for hit in found.hits]
            recalls[way.name].append(measures(ranking, relevant[query.id])["recall@10"])
        bar.advance(task)
    return {name: float(np.mean(values)) for name, values in recalls.items()}
