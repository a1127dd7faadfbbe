"""What can be done with a store: all operations together, with those that read what is known.

The MCP tools and methods, the command line and the benchmarks all come through here, so they share one way.
"""

from __future__ import annotations

from typing import Any

from actors.api.context import Progress, erased, silent
from actors.api.operations.audit import Auditing
from actors.api.operations.compare import Comparing
from actors.api.operations.goals import Goals
from actors.api.operations.graph import Graph
from actors.api.operations.import_export import Carrying
from actors.api.operations.maintenance import Keeping
from actors.api.operations.memories import Storing
from actors.api.operations.sleep import Sleeping
from actors.api.operations.workspace import Attending
from actors.api.params.audit import StoreStatus
from actors.api.params.memories import MemoryRetrieve
from actors.api.responses import memory_detail, store
from actors.comparator.messages import Edges, ReadIndexes, ReadLinks
from actors.store.messages import ReadHistory, ReadStatus
from actors.workspace.messages import Pulse, ReadPulse
from events.storage.log import Envelope
from projections.projection import MemoryState, is_shredded_memory


class Operations(Storing, Carrying, Graph, Comparing, Goals, Attending, Sleeping, Auditing, Keeping):
    """The operations on one store, for any number of clients at once."""

    async def memory_retrieve(self, params: MemoryRetrieve, _progress: Progress = silent) -> dict[str, Any]:
        """Return all that is known of one memory."""
        await self.replayed()
        (entry,) = await self.describe(params.id)
        if entry.state is MemoryState.ERASED:
            raise erased(entry)
        edges: Edges = await self.ask(self.hub.comparator, ReadLinks(memory=entry.id))
        life: tuple[Envelope, ...] = await self.ask(self.hub.store, ReadHistory(memory=entry.id))
        if is_shredded_memory(life[0].event):  # another client erased it meanwhile
            (entry,) = await self.describe(params.id)
            raise erased(entry)
        return memory_detail.memory(entry, edges, life, include_embeddings=params.include_embeddings)

    async def pulse(self) -> Pulse:
        """Return the state of learning that goes with every answer."""
        await self.replayed()
        return await self.ask(self.hub.workspace, ReadPulse())

    async def status(self, _params: StoreStatus | None = None, _progress: Progress = silent) -> dict[str, Any]:
        """Return counts, indexes, spaces, the position of the log and the latencies of all that was measured."""
        await self.replayed()
        indexes = await self.ask(self.hub.comparator, ReadIndexes())
        return store.status(await self.ask(self.hub.store, ReadStatus()), indexes, self.hub)
