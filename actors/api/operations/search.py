"""Operations that find memories: the everyday search by five stages, and those that rank by exactly what was asked."""

from __future__ import annotations

import hashlib
from time import perf_counter
from typing import Any, TypeVar
from uuid import UUID, uuid4

import msgspec

from actors.api.context import Progress, silent
from actors.api.operations import pagination as pages
from actors.api.operations.query import Questions
from actors.api.params import embeddings
from actors.api.params.memories import (
    MemorySearch,
    MemorySearchMultiPerspective,
    SearchByPurpose,
    SearchGraph,
    SearchMulti,
    SearchSingleSpace,
    SearchWeightProfiles,
)
from actors.api.params.parsing import moment
from actors.api.responses import memories, searches
from actors.comparator.messages import Found, Hit, Match, Rank, RankByPerspectives, RankByPurpose, Ranked, Search
from actors.comparator.search.pipeline import pool
from actors.comparator.search.weight_profiles import SEED_PROFILES, Weights
from actors.consolidator.messages import QueryReceived
from actors.runtime.settings import SearchProfile
from actors.store.messages import Append
from actors.workspace.messages import Ask
from events.fingerprint import Embedding
from events.spaces import INDEX, SEMANTIC, SPACES
from events.vocabulary import MemoryRecalled
from projections.memories.catalog import Entry
from projections.memories.facets import Filter
from projections.projection import MemoryState
from projections.time.time_mentions import SILENT

F = TypeVar("F", Hit, Match)

PRIMARY = 0.15
"""A space that weighs more leads its profile (facts 8.2)."""


class Finding(Questions):
    """Searching in thirteen spaces."""

    async def search_graph(self, params: SearchGraph, progress: Progress = silent) -> dict[str, Any]:
        """Find memories for a question by the five stages, page by page, within a budget of tokens."""
        page = (
            pages.read(params.cursor, params, self.at)
            if params.cursor
            else pages.first(params, pool(params.top_k), self.moment(params.asked_at, "asked_at"), self.at)
        )
        wanted = Filter(
            namespace=params.namespace,
            session=params.session,
            speaker=params.speaker,
            modality=params.modality,
            quadrant=params.quadrant,
            tags=params.tags,
            since=moment(params.since, "since") if params.since else None,
            until=moment(params.until, "until") if params.until else None,
        )
        await self.ready(progress)
        start = perf_counter()
        asked_at = moment(page.asked_at, "cursor")
        said = await self.said(params.query, asked_at, wanted)
        query = await self.question(params.query, said, asked_at, params.namespace, params.session)
        found: Found = await self.ask(
            self.hub.comparator,
            Search(
                text=params.query,
                cues=said,
                embeddings=query,
                profile=params.profile,
                filter=wanted,
                limit=params.top_k,
                offset=page.offset,
                pool=page.pool,
                as_of=page.as_of,
                min_similarity=params.min_similarity,
                min_alignment=params.min_alignment,
                include_alignment=params.include_purpose_alignment,
                primed=page.primed,
            ),
        )
        hits = await self._still_there(found.hits)
        results = [searches.result(hit, entry, explain=params.explain) for hit, entry in hits]
        answer: dict[str, Any] = {"profile": found.profile.value}
        if params.explain:
            answer |= searches.explanation(found)
        shown = results
        if params.max_tokens is not None:
            shown = pages.fit(results, params.max_tokens - pages.tokens(answer) - pages.FRAME)
        if found.more or len(shown) < len(results):
            following = msgspec.structs.replace(
                page,
                offset=page.offset + (len(shown) if len(shown) < len(results) else len(found.hits)),
                as_of=found.stored if page.as_of is None else page.as_of,
                primed=found.primed,
            )
            answer["next_cursor"] = pages.written(following)
        self._recalled(
            params.query, [hit.memory for hit, _ in hits[: len(shown)]], query, params.namespace, found.weights
        )
        return {"results": shown, "count": len(shown)} | answer | {"queryLatencyMs": _since(start)}

    async def memory_search(self, params: MemorySearch, progress: Progress = silent) -> dict[str, Any]:
        """Find memories by the five stages, with the score of every space (seed 000)."""
        asked = {name: getattr(params, name) for name in params.__struct_fields__}
        answer = await self.search_graph(SearchGraph(**asked, explain=True), progress)
        return {name: answer[name] for name in ("results", "count", "profile", "queryLatencyMs")}

    async def search_multi(self, params: SearchMulti, progress: Progress = silent) -> dict[str, Any]:
        """Rank all memories by exactly the weights asked for, over the active spaces (seed 002)."""
        asked_at = self.moment(params.asked_at, "asked_at")
        await self.ready(progress)
        start = perf_counter()
        applied = _applied(params)
        active = {SPACES[index].key for index in params.active_spaces or range(len(SPACES))}
        weights = {key: weight for key, weight in applied.items() if key in active and weight > 0}
        said = SILENT
        if isinstance(params.query, str):
            said = await self.said(params.query, asked_at, Filter(namespace=params.namespace))
            query = await self.question(params.query, said, asked_at, params.namespace, params.session)
            weights = {key: weight for key, weight in weights.items() if key in query}
            if not weights:
                raise embeddings.silent("active_spaces", active)
        else:
            query = embeddings.given(params.query, weights, self.dimensions)
        found: Ranked = await self._ranked(
            Rank(
                embeddings=query,
                weights=weights,
                shown=tuple(query.keys() & active) if params.include_per_embedder_scores else (),
                direction=said.direction,
                filter=Filter(namespace=params.namespace, session=params.session),
                limit=params.top_k,
                min_similarity=params.min_similarity,
                include_alignment=params.include_purpose_alignment,
            )
        )
        matches = await self._still_there(found.matches)
        if isinstance(params.query, str):
            self._recalled(params.query, [match.memory for match, _ in matches], query, params.namespace, weights)
        return {
            "results": [
                searches.weighed(
                    match,
                    entry,
                    weights,
                    scores=params.include_per_embedder_scores,
                    alignment_too=params.include_purpose_alignment,
                )
                for match, entry in matches
            ],
            "query_metadata": {
                "query_type_used": params.query_type.value,
                "weights_applied": list(applied.values()),
                "spaces_searched": len(weights),
                "total_candidates_scanned": found.scanned,
                "search_time_ms": _since(start),
            },
        }

    async def search_single_space(self, params: SearchSingleSpace, progress: Progress = silent) -> dict[str, Any]:
        """Rank all memories by one space alone (seed 002)."""
        asked_at = self.moment(params.asked_at, "asked_at")
        await self.ready(progress)
        start = perf_counter()
        space = SPACES[params.space_index]
        asked: dict[str, Embedding] = {}
        said = SILENT
        if params.query is not None:
            said = await self.said(params.query, asked_at, Filter(namespace=params.namespace))
            asked = await self.question(params.query, said, asked_at, params.namespace, params.session)
            if space.key not in asked:
                raise embeddings.silent("space_index", {space.key})
            query = asked[space.key]
        else:
            query = embeddings.parsed(space, params.query_embedding, self.dimensions[space.key], "query_embedding")
        found = await self._ranked(
            Rank(
                embeddings={space.key: query},
                weights={space.key: 1.0},
                direction=said.direction,
                filter=Filter(namespace=params.namespace, session=params.session),
                limit=params.top_k,
                min_similarity=params.min_similarity,
            )
        )
        matches = await self._still_there(found.matches)
        if params.query is not None:
            self._recalled(
                params.query, [match.memory for match, _ in matches], asked, params.namespace, {space.key: 1.0}
            )
        return {
            "results": [searches.match(match, entry) for match, entry in matches],
            "space_index": params.space_index,
            "space_name": space.key,
            "total_candidates_scanned": found.scanned,
            "search_time_ms": _since(start),
        }

    async def memory_search_multi_perspective(
        self, params: MemorySearchMultiPerspective, progress: Progress = silent
    ) -> dict[str, Any]:
        """Fuse the rankings of several spaces by reciprocal rank (seed 000; facts 7.3)."""
        asked_at = self.moment(params.asked_at, "asked_at")
        await self.ready(progress)
        start = perf_counter()
        said = await self.said(params.query, asked_at, Filter(namespace=params.namespace))
        query = await self.question(params.query, said, asked_at, params.namespace, params.session)
        wanted = range(len(SPACES)) if params.perspectives is None else params.perspectives
        keys = tuple(SPACES[index].key for index in wanted)
        if params.perspectives is None:
            keys = tuple(key for key in keys if key in query)
        elif not all(key in query for key in keys):
            raise embeddings.silent("perspectives", {*keys} - query.keys())
        found = await self._ranked(
            RankByPerspectives(
                embeddings=query,
                keys=keys,
                direction=said.direction,
                filter=Filter(namespace=params.namespace, session=params.session),
                limit=params.top_k,
                min_similarity=params.min_similarity,
                k=params.fusion_k,
            )
        )
        matches = await self._still_there(found.matches)
        weights = dict.fromkeys(keys, 1 / len(keys))
        self._recalled(params.query, [match.memory for match, _ in matches], query, params.namespace, weights)
        return {
            "results": [searches.fused(match, entry) for match, entry in matches],
            "perspectives": [INDEX[key] for key in keys],
            "fusionK": params.fusion_k,
            "queryLatencyMs": _since(start),
        }

    async def search_by_purpose(self, params: SearchByPurpose, _progress: Progress = silent) -> dict[str, Any]:
        """Rank memories by how near their purpose is to one, or to a memory's (seed 002)."""
        await self.replayed()
        start = perf_counter()
        found = await self._ranked(
            RankByPurpose(
                purpose=params.purpose,
                filter=Filter(namespace=params.namespace),
                limit=params.top_k,
                min_similarity=params.min_similarity,
            )
        )
        matches = await self._still_there(found.matches)
        return {
            "results": [
                searches.match(match, entry) | {"purpose_alignment": memories.alignment(entry)}
                for match, entry in matches
            ],
            "total_candidates_scanned": found.scanned,
            "search_time_ms": _since(start),
        }

    async def search_weight_profiles(
        self, _params: SearchWeightProfiles, _progress: Progress = silent
    ) -> dict[str, Any]:
        """Return the weights of every profile, and the names of the spaces they stand for."""
        return {
            "profiles": [
                {"query_type": profile.value, "weights": list(weights.values()), "primary_spaces": _primary(weights)}
                for profile, weights in SEED_PROFILES.items()
            ],
            "spaces": [space.key for space in SPACES],
        }

    async def _ranked(self, message: Rank | RankByPerspectives | RankByPurpose) -> Ranked:
        self.hub.consolidator.tell(QueryReceived(at=perf_counter()))
        return await self.ask(self.hub.comparator, message)

    async def _still_there(self, found: tuple[F, ...]) -> list[tuple[F, Entry]]:
        """Return what the catalog knows of found memories; one that was deleted since it was found is left out."""
        entries = await self.describe(*(one.memory for one in found))
        return [(one, entry) for one, entry in zip(found, entries, strict=True) if entry.state is MemoryState.LIVE]

    def _recalled(
        self,
        text: str,
        found: list[UUID],
        query: dict[str, Embedding],
        namespace: str | None,
        weights: Weights,
    ) -> None:
        """Note in the log what an answer contained, and let the workspace know. Told: an answer waits for neither.

        A question speaks to the spaces that say what a memory is about, and to those of time where they weigh enough.
        Of what is asked of the past nothing is noted.
        """
        if self.at is not None:
            return
        if found:
            event = MemoryRecalled(memories=tuple(found), query_sha256=hashlib.sha256(text.encode()).digest())
            self.hub.store.tell(Append(id=uuid4(), event=event, actor="front", correlation_id=uuid4()))
        keys = frozenset({*SEMANTIC, *(key for key, weight in weights.items() if weight >= 1 / len(SPACES))})
        self.hub.workspace.tell(Ask(text=text, embeddings=query, keys=keys, namespace=namespace, found=tuple(found)))


def _applied(params: SearchMulti) -> Weights:
    """Return the thirteen weights that a search asks for, as they were given or as the profile has them."""
    if params.weights is not None:
        return dict(zip(INDEX, params.weights, strict=True))
    return SEED_PROFILES[SearchProfile(params.query_type.value)]


def _primary(weights: Weights) -> list[str]:
    return [key for key, weight in weights.items() if weight > PRIMARY]


def _since(start: float) -> float:
    return round((perf_counter() - start) * 1e3, 2)
