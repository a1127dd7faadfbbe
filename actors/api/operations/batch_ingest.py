"""How many memories arrive together: side by side through the model, and in their order into the log."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from itertools import islice, takewhile
from typing import NamedTuple
from uuid import UUID

import anyio

from actors.api.idempotency import KEY
from actors.api.operations.ingest import Arrived, Arriving, Coming
from actors.api.params.memories import StoreMemory
from actors.embedder.messages import EmbeddedMemory
from actors.runtime.faults import Fault
from actors.store.messages import Append, AppendTogether, Reserve
from events.storage.log import Envelope

TOGETHER = 24
"""Memories of a batch that go to the embedder together, and at most so many are committed, and read back, as one: that
takes a quarter of what they take one by one, and the first of a hundred is stored, and told, long before the last."""

Told = Callable[[int, "Arrived | Fault"], Awaitable[None]]
"""Told of each item of a batch, by its place, what became of it."""


class Sent(NamedTuple):
    """One of many that are to be stored."""

    params: StoreMemory
    key: UUID | None
    """Of the request that it counts as, as in `once`."""


class _Place:
    """An item of a batch: what it became as far as that is known."""

    def __init__(self, sent: Sent) -> None:
        self.sent = sent
        self.known = anyio.Event()
        self.outcome: tuple[Coming, EmbeddedMemory] | Arrived | Fault | None = None

    def settle(self, outcome: tuple[Coming, EmbeddedMemory] | Arrived | Fault) -> None:
        self.outcome = outcome
        self.known.set()


class Batching(Arriving):
    """Keeping many memories of one request."""

    async def keep_together(self, items: Sequence[Sent], told: Told) -> None:
        """Store many, each for itself: side by side through the model, and in their order into the log.

        What is ready is judged and written together.
        """
        places = [_Place(item) for item in items]
        async with anyio.create_task_group() as group:
            group.start_soon(self._embed_all, places)
            done = 0
            while done < len(places):
                await places[done].known.wait()
                ready = islice(places, done, done + TOGETHER)
                together = list(takewhile(lambda one: one.known.is_set(), ready))
                for number, outcome in enumerate(await self._kept(together), start=done):
                    await told(number, outcome)
                done += len(together)

    async def _embed_all(self, places: Sequence[_Place]) -> None:
        """Let all go through the model, in their order as far as they share a session."""
        async with anyio.create_task_group() as group:
            for start in range(0, len(places), TOGETHER):
                coming: dict[_Place, Coming] = {}
                for place in places[start : start + TOGETHER]:
                    KEY.set(place.sent.key)
                    try:
                        created_at = self.moment(place.sent.params.created_at, "created_at")
                        one = await self.coming(place.sent.params, created_at)
                    except Fault as fault:
                        place.settle(fault)
                        continue
                    if isinstance(one, Arrived):
                        place.settle(one)
                    else:
                        coming[place] = one
                group.start_soon(self._embed_group, coming)

    async def _embed_group(self, coming: dict[_Place, Coming]) -> None:
        self.tell(self.hub.store, Reserve(ids=tuple(one.memory for one in coming.values())))
        waiting = iter(coming.items())

        def settle(answers: Sequence[EmbeddedMemory | Fault]) -> None:
            for outcome, (place, one) in zip(answers, waiting, strict=False):  # the rest are still to come
                place.settle(outcome if isinstance(outcome, Fault) else (one, outcome))

        await self.embed_group([one.to_embed() for one in coming.values()], settle)

    async def _kept(self, together: Sequence[_Place]) -> list[Arrived | Fault]:
        """Judge and write what was embedded; return what became of each."""
        outcomes: dict[int, Arrived | Fault] = {}
        embedded: dict[int, tuple[Coming, EmbeddedMemory]] = {}
        for number, place in enumerate(together):
            match place.outcome:
                case (Coming() as coming, EmbeddedMemory() as one):
                    embedded[number] = coming, one
                case Arrived() | Fault() as outcome:
                    outcomes[number] = outcome
                case _:
                    raise TypeError("nothing is kept before it is known")
        writing: dict[int, tuple[Append, Arrived]] = {}
        first: dict[tuple[str, bytes], UUID] = {}
        for number, judged in zip(embedded, await self.judged([*embedded.values()]), strict=True):
            if isinstance(judged, Fault):
                outcomes[number] = judged
                continue
            append, arrived = judged
            same = first.setdefault((arrived.stored.namespace, arrived.stored.sha256), arrived.memory)
            writing[number] = append, arrived._replace(twin=arrived.twin or (None if same == arrived.memory else same))
        if writing:
            outcomes |= await self._written(writing)
        return [outcomes[number] for number in range(len(together))]

    async def _written(self, writing: dict[int, tuple[Append, Arrived]]) -> dict[int, Arrived | Fault]:
        """Write some memories by one commit; return what became of each."""
        appends = tuple(append for append, _ in writing.values())
        try:
            answers: Sequence[Envelope | Fault] = await self.ask(self.hub.store, AppendTogether(appends=appends))
        except Fault as fault:
            answers = [fault] * len(appends)
        return {
            number: answer if isinstance(answer, Fault) else arrived
            for (number, (_, arrived)), answer in zip(writing.items(), answers, strict=True)
        }
