"""The query of a search: embedded, with the times that it names, and the one place where a search is asked for."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import msgspec

from actors.api.answers import body_of
from actors.api.context import Context, describe
from actors.api.params.fields import DEFAULT_NAMESPACE
from actors.comparator.messages import FindKnownWords, Found, Search
from actors.comparator.messages.search import pool_size
from actors.embedder.messages import EmbedQuery
from actors.runtime.ask import MODEL_TIMEOUT, ask
from actors.runtime.settings import SearchProfile
from actors.text.queries.causal_questions import causal_subject
from actors.text.queries.dates import parse_relative_date
from actors.text.queries.query_hints import extract_hints
from actors.text.queries.spelling import respelt
from actors.text.queries.subjects import has_no_subject
from events.fingerprint import Embedding
from events.local_time import calendar_time
from projections.atlas.facets import Filter
from projections.projection import MemoryState
from projections.time.time_mentions import QueryHints


@dataclass(frozen=True)
class Query:
    """A parsed and embedded query."""

    text: str
    hints: QueryHints
    """What the text says beside its embeddings: times, a rhythm, an end of a session, a speaker."""
    embeddings: dict[str, Embedding]
    """Its embedding in each space that has one, by the key of the space."""
    filter: Filter
    asked_at: datetime
    """The time that "yesterday" counts from, in the time zone whose calendar it means."""
    unfamiliar: float = 0.0
    """As in `EmbeddedQuery`."""
    respellings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """As in `EmbeddedQuery`."""


async def parse_query(context: Context, text: str, asked_at: datetime, wanted: Filter) -> Query:
    """Parse and embed a query for a search among the memories of a filter.

    "Two weeks before the trip" names a time only if the trip is found: it counts from the best memory of it. "What
    happened?" asks for all memories that pass a filter of times, session, speaker or tags.
    """
    hints, relative = extract_hints(text, asked_at, context.now()), parse_relative_date(text)
    if relative is not None and not hints.intervals:
        event_hints = extract_hints(relative.event, asked_at, context.now())
        event = await embed_query(context, Query(relative.event, event_hints, {}, wanted, asked_at))
        found = await search(context, event, SearchProfile.AUTO, limit=1, primed={})
        entries = await describe(context, *(hit.memory for hit in found.hits))
        times = [calendar_time(body_of(entry).said_at) for entry in entries if entry.state is MemoryState.LIVE]
        if intervals := tuple(filter(None, map(relative.resolve, times))):
            hints = msgspec.structs.replace(hints, intervals=intervals, subject=causal_subject(relative.remainder))
    is_limited = bool(wanted.since or wanted.until or wanted.session or wanted.speaker or wanted.tags)
    if is_limited and not hints.intervals and has_no_subject(text, asked_at):
        hints = msgspec.structs.replace(hints, time_only=True)
    return await embed_query(context, Query(text, hints, {}, wanted, asked_at), wanted.session)


async def search(
    context: Context, query: Query, profile: SearchProfile, limit: int, pool: int | None = None, **options: Any
) -> Found:
    """Search by the five stages.

    Each way of recall names `pool` candidates, by `limit` if that is None. `options` are further fields of `Search`.
    """
    return await ask(
        context.hub.comparator,
        Search(
            text=query.text,
            hints=query.hints,
            embeddings=query.embeddings,
            unfamiliar=query.unfamiliar,
            profile=profile,
            filter=query.filter,
            limit=limit,
            pool=pool or pool_size(limit),
            **options,
        ),
    )


async def respell(context: Context, query: Query) -> str | None:
    """Return a query in which memories' words replace those that neither the model nor a memory knows.

    None if there are no such words. Where one may be a misspelling of several words, all replace it: "clocks or cooks".
    """
    if not query.respellings:
        return None
    words = {*query.respellings}.union(*query.respellings.values())
    known = await ask(context.hub.comparator, FindKnownWords(words=tuple(sorted(words)), filter=query.filter))
    meant = {
        word: " or ".join(other for other in others if other in known)
        for word, others in query.respellings.items()
        if word not in known and not known.isdisjoint(others)
    }
    return respelt(query.text, meant) if meant else None


async def embed_query(context: Context, query: Query, session: str | None = None) -> Query:
    """Embed a query in every space that applies to it, as a turn of a session if it is one.

    The actors that work in the background are told, since a query aborts a dream.
    """
    context.hub.announce_query()
    message = EmbedQuery(
        text=query.hints.subject or causal_subject(query.text),
        at=query.asked_at,
        namespace=query.filter.namespace or DEFAULT_NAMESPACE,
        session=session,
        hints=query.hints,
    )
    async with context.process.embedding:
        embedded = await ask(context.hub.embedder, message, MODEL_TIMEOUT)
    return replace(
        query,
        embeddings=embedded.embeddings,
        unfamiliar=embedded.unfamiliar,
        respellings=embedded.respellings,
    )
