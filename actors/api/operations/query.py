"""What an agent asks, as the actors take it: embedded, and with the times that it names."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

import msgspec

from actors.api.context import Access
from actors.api.params.fields import DEFAULT_NAMESPACE
from actors.api.responses.memories import body_of
from actors.comparator.messages import Found, Search
from actors.comparator.search.pipeline import pool
from actors.comparator.search.query_classifier import cues, subject
from actors.comparator.search.relative_dates import anchor
from actors.consolidator.messages import QueryReceived
from actors.embedder.messages import EmbeddedQuery, EmbedQuery
from actors.runtime.settings import SearchProfile
from projections.memories.facets import Filter
from projections.projection import MemoryState

if TYPE_CHECKING:
    from datetime import datetime

    from events.fingerprint import Embedding
    from projections.time.time_mentions import QueryHints


class Questions(Access):
    """Reading and embedding questions."""

    async def said(self, text: str, asked_at: datetime, wanted: Filter) -> QueryHints:
        """Return what a question says beside its embeddings.

        "Two weeks before the trip" names a time only if the trip is found: it counts from the best memory of it.
        """
        found = cues(text, asked_at)
        counted = anchor(text)
        if found.intervals or counted is None:
            return found
        event = cues(counted.event, asked_at)
        best: Found = await self.ask(
            self.hub.comparator,
            Search(
                text=counted.event,
                cues=event,
                embeddings=await self.question(counted.event, event, asked_at, wanted.namespace),
                profile=SearchProfile.AUTO,
                filter=wanted,
                limit=1,
                pool=pool(1),
                primed={},
            ),
        )
        entries = await self.describe(*(hit.memory for hit in best.hits))
        happened = [body_of(entry).created_at for entry in entries if entry.state is MemoryState.LIVE]
        meant = tuple(filter(None, map(counted.around, happened)))
        return msgspec.structs.replace(found, intervals=meant, subject=subject(counted.asked)) if meant else found

    async def question(
        self, text: str, said: QueryHints, asked_at: datetime, namespace: str | None, session: str | None = None
    ) -> dict[str, Embedding]:
        """Embed a question in every space that it speaks to; a dream that a query shall stop hears of it."""
        self.hub.consolidator.tell(QueryReceived(at=perf_counter()))
        embedded: EmbeddedQuery = await self.embed(
            EmbedQuery(
                text=said.subject or subject(text),
                at=asked_at,
                namespace=namespace or DEFAULT_NAMESPACE,
                session=session,
                cues=said,
            )
        )
        return embedded.embeddings
