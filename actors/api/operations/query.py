"""What an agent asks, as the actors take it: embedded, and with the times that it names."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

import msgspec

from actors.api.context import Access
from actors.api.params.fields import DEFAULT_NAMESPACE
from actors.api.responses.common import body_of
from actors.comparator.messages import Found, Search
from actors.comparator.messages.profiles import pool_size
from actors.consolidator.messages import Queried
from actors.embedder.messages import EmbeddedQuery, EmbedQuery
from actors.runtime.settings import SearchProfile
from actors.text.query_classifier import causal_subject, extract_hints
from actors.text.relative_dates import parse_relative_date
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
        found = extract_hints(text, asked_at)
        counted = parse_relative_date(text)
        if found.intervals or counted is None:
            return found
        event = extract_hints(counted.event, asked_at)
        best: Found = await self.ask(
            self.hub.comparator,
            Search(
                text=counted.event,
                cues=event,
                embeddings=await self.question(counted.event, event, asked_at, wanted.namespace),
                profile=SearchProfile.AUTO,
                filter=wanted,
                limit=1,
                pool=pool_size(1),
                primed={},
            ),
        )
        entries = await self.describe(*(hit.memory for hit in best.hits))
        happened = [body_of(entry).created_at for entry in entries if entry.state is MemoryState.LIVE]
        meant = tuple(filter(None, map(counted.resolve, happened)))
        return (
            msgspec.structs.replace(found, intervals=meant, subject=causal_subject(counted.remainder))
            if meant
            else found
        )

    async def question(
        self, text: str, said: QueryHints, asked_at: datetime, namespace: str | None, session: str | None = None
    ) -> dict[str, Embedding]:
        """Embed a question in every space that it speaks to; a dream that a query shall stop hears of it."""
        self.hub.consolidator.tell(Queried(at=perf_counter()))
        embedded: EmbeddedQuery = await self.embed(
            EmbedQuery(
                text=said.subject or causal_subject(text),
                at=asked_at,
                namespace=namespace or DEFAULT_NAMESPACE,
                session=session,
                cues=said,
            )
        )
        return embedded.embeddings
