"""Operations on the graph: paths from memory to memory, and what a memory is connected with."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from actors.api.context import Progress, check_live, silent
from actors.api.operations.search import Finding
from actors.api.params.mind import FindCausalPath, GetNeighborhood
from actors.api.responses import graph
from actors.api.responses.common import body_of
from actors.comparator.messages import FindNeighbourhood, FindPaths, Found, Search
from actors.comparator.messages.graph import Reached, Ways
from actors.comparator.messages.profiles import pool_size
from actors.runtime.faults import NotFoundFault
from actors.runtime.settings import SearchProfile
from events.vocabulary import LinksTraversed
from projections.memories.facets import Filter

ALTERNATIVES = 3
"""Further paths that are shown when they are asked for."""


class Graph(Finding):
    """Walking along the links between memories."""

    async def find_causal_path(self, params: FindCausalPath, progress: Progress = silent) -> dict[str, Any]:
        """Find the most confident way from one memory to another; what is shown counts as walked."""
        meant = {
            end: await self._meant(getattr(params, f"{end}_concept"), f"{end}_concept", params.namespace, progress)
            for end in ("start", "end")
        }
        (start, _), (end, _) = meant.values()
        ways: Ways = await self.ask(
            self.hub.comparator,
            FindPaths(
                start=start,
                end=end,
                namespace=params.namespace,
                max_hops=params.max_hops,
                kind=params.path_type,
                alternatives=ALTERNATIVES if params.include_alternatives else 0,
            ),
        )
        ends = {start, end} if not ways.paths else {memory for path in ways.paths for memory in path.memories}
        entries = {entry.id: entry for entry in await self.describe(*ends)}
        texts = {memory: entry.body.text for memory, entry in entries.items() if entry.body}
        if gone := next((memory for memory in ends if memory not in texts), None):
            raise NotFoundFault(f"Memory was erased or merged meanwhile: {gone}", id=str(gone))
        if ways.paths and ways.paths[0].edges:
            await self.append(LinksTraversed(steps=tuple(edge.step for edge in ways.paths[0].edges)))
        return graph.path(ways, texts, meant)

    async def get_neighborhood(self, params: GetNeighborhood, _progress: Progress = silent) -> dict[str, Any]:
        """Return what a memory is connected with."""
        await self.replayed()
        (centre,) = await self.describe(params.id)
        check_live(centre)
        namespace = body_of(centre).namespace
        wanted = FindNeighbourhood(memory=centre.id, namespace=namespace, depth=params.depth, limit=params.limit)
        reached: tuple[Reached, ...] = await self.ask(self.hub.comparator, wanted)
        entries = await self.describe(*(one.memory for one in reached))
        there = [(one, entry) for one, entry in zip(reached, entries, strict=True) if entry.body]
        return graph.neighbourhood(centre, [one for one, _ in there], [entry for _, entry in there])

    async def _meant(
        self, concept: str, parameter: str, namespace: str | None, progress: Progress
    ) -> tuple[UUID, float | None]:
        """Return the memory with this id, or the one that a text finds first, with how similar that is."""
        try:
            memory = UUID(concept)
        except ValueError:
            return await self._found_by(concept, parameter, namespace, progress)
        await self.replayed()
        (entry,) = await self.describe(memory)
        check_live(entry)
        if namespace is not None and body_of(entry).namespace != namespace:
            raise NotFoundFault(f"Memory isn't in namespace {namespace}: {memory}", id=str(memory), parameter=parameter)
        return entry.id, None

    async def _found_by(
        self, text: str, parameter: str, namespace: str | None, progress: Progress
    ) -> tuple[UUID, float]:
        await self.ready(progress)
        said = await self.said(text, self.now(), Filter(namespace=namespace))
        found: Found = await self.ask(
            self.hub.comparator,
            Search(
                text=text,
                cues=said,
                embeddings=await self.question(text, said, self.now(), namespace),
                profile=SearchProfile.SEMANTIC_SEARCH,
                filter=Filter(namespace=namespace),
                limit=1,
                pool=pool_size(1),
                primed={},
            ),
        )
        if not found.hits:
            raise NotFoundFault(f"No memory is found by '{parameter}'", parameter=parameter)
        return found.hits[0].memory, found.hits[0].similarity
