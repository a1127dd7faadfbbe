"""The one place that opens a store in this process and calls its operations, as agents do but without the wire."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import anyio

from actors.api.context import Context, ignore_progress, wait_until_ready
from actors.api.operations.retrieval.query import Query, embed_query, search
from actors.api.params.parsing import moment, parse
from actors.api.tools.agent_tools import TOOLS
from actors.comparator.messages import Found
from actors.embedder.profiles.embedded import EmbeddedProfile
from actors.hub.composition import open_hub
from actors.hub.hub import Hub
from actors.runtime.ask import ask
from actors.runtime.metrics import Latencies
from actors.runtime.settings import SearchProfile
from actors.store.messages import ReadStatus
from actors.text.queries.query_hints import extract_hints
from actors.workspace.messages import ReadAttention
from benchmarks.datasets import DEPTH, Document, sessions
from events.storage.duckdb_log import DuckDBLog
from events.storage.log import Envelope
from projections.atlas.facets import Filter

T = TypeVar("T")
Answer = dict[str, Any]
Load = Callable[[Latencies], EmbeddedProfile]
"""Loads the models of a store."""
BY_NAME = {tool.name: tool for tool in TOOLS}

SESSIONS_AT_ONCE = 32
"""Sessions stored side by side; the turns of one session follow each other, as in life."""


class Store:
    """A running store."""

    def __init__(self, hub: Hub) -> None:
        self.hub = hub
        self.context = Context(hub)

    async def call(self, tool: str, /, **arguments: Any) -> Answer:
        """Call a tool."""
        found = BY_NAME[tool]
        return await found.run(self.context.for_request(ignore_progress), parse(arguments, found.params))

    async def store(self, **arguments: Any) -> str:
        """Store a memory and return its id."""
        return (await self.call("store_memory", **arguments))["fingerprintId"]

    async def store_documents(self, documents: Iterable[Document], advance: Callable[[], object]) -> dict[str, str]:
        """Store documents, sessions side by side; return the document of each memory, by id."""
        stored: dict[str, str] = {}

        async def store(document: Document) -> None:
            stored[await self.store(**document.store_arguments())] = document.id
            advance()

        await in_sessions(sessions(documents), store)
        return stored

    async def store_texts(
        self, texts: Iterable[str], advance: Callable[[], object] = lambda: None, **arguments: Any
    ) -> dict[str, str]:
        """Store texts side by side, all with these arguments; return the memory of each text."""
        documents = [Document(id=text, text=text, metadata=arguments) for text in texts]
        return {text: memory for memory, text in (await self.store_documents(documents, advance)).items()}

    async def find(self, documents: Mapping[str, str], **arguments: Any) -> list[str]:
        """Search, and return the documents of the memories that are found, best first."""
        answer = await self.call("search_graph", top_k=DEPTH, **arguments)
        return [documents[result["fingerprintId"]] for result in answer["results"]]

    async def live(self) -> int:
        """Return how many memories are neither forgotten, merged, pruned nor erased."""
        return (await self.call("status"))["memories"]["live"]

    async def settle(self) -> None:
        """Wait until the workspace and the store have processed everything sent so far."""
        await ask(self.hub.workspace, ReadAttention())
        await ask(self.hub.store, ReadStatus())

    async def embed_query(self, document: Document) -> Query:
        """Embed a query as `search_graph` does."""
        namespace, stamp = document.metadata.get("namespace"), document.metadata.get("asked_at")
        asked_at = moment(stamp, "asked_at") if isinstance(stamp, str) else datetime.now(UTC)
        hints = extract_hints(document.text, asked_at, self.context.now())
        query = Query(document.text, hints, {}, Filter(namespace=namespace), asked_at)
        return await embed_query(self.context, query, document.metadata.get("session"))

    async def search(
        self, query: Query, profile: SearchProfile = SearchProfile.AUTO, without: frozenset[str] = frozenset()
    ) -> Found:
        """Return what is found for an embedded query, some spaces left out."""
        return await search(self.context, query, profile, DEPTH, primed={}, without=without)


@asynccontextmanager
async def open_store(folder: Path | None = None, *, load: Load | None = None) -> AsyncIterator[Store]:
    """Open the store in a folder in this process, creating it if there is none, and load its models, or others.

    Without a folder, the store is temporary.
    """
    with TemporaryDirectory() as scratch, open_hub(folder or Path(scratch), load=load) as hub:
        store = Store(hub)
        await wait_until_ready(store.context)
        yield store


def shared_models() -> Load:
    """Load the models once, for many stores that are opened one after the other."""
    profile = EmbeddedProfile(Latencies())

    def load(latencies: Latencies) -> EmbeddedProfile:
        profile.latencies = latencies
        return profile

    return load


def read_log(folder: Path) -> list[Envelope]:
    """Return the log of a store that no process has open; the whole chain is checked."""
    with closing(DuckDBLog(folder)) as log:
        return list(log.read())


async def in_sessions(groups: Iterable[Sequence[T]], work: Callable[[T], Awaitable[object]]) -> None:
    """Process groups side by side, and the items of each group one after the other."""
    slots = anyio.CapacityLimiter(SESSIONS_AT_ONCE)

    async def run(group: Sequence[T]) -> None:
        async with slots:
            for item in group:
                await work(item)

    async with anyio.create_task_group() as tasks:
        for group in groups:
            tasks.start_soon(run, group)
