"""Whom the consolidator asks: each ask is one slice of its work, between which others are answered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

import msgspec
import pykka

from actors.store.messages import Append, Describe, ReadEvents, ReadStatus
from events.vocabulary import Event

if TYPE_CHECKING:
    from events.storage.log import Envelope
    from projections.memories.entries import Entry

TIMEOUT = 60.0
"""Seconds that another actor may take for one slice."""


class ActorClients(msgspec.Struct, frozen=True):
    """The actors below the consolidator."""

    comparator: pykka.ActorRef[Any]
    store: pykka.ActorRef[Any]
    workspace: pykka.ActorRef[Any]

    def compare(self, message: object) -> Any:
        """Ask the comparator."""
        return self.comparator.ask(message, timeout=TIMEOUT)

    def attend(self, message: object) -> Any:
        """Ask the workspace."""
        return self.workspace.ask(message, timeout=TIMEOUT)

    def describe(self, memories: Sequence[UUID], *, own: bool = False) -> tuple[Entry, ...]:
        """Return what the catalog knows of memories; with `own`, of merged ones too instead of their survivors."""
        return self._keep(Describe(memories=tuple(memories), own=own))

    def namespaces(self) -> dict[str, int]:
        """Return how many live memories each namespace holds."""
        return self._keep(ReadStatus()).namespaces

    def events(self, seqs: Sequence[int]) -> tuple[Envelope, ...]:
        """Return events of the log."""
        return self._keep(ReadEvents(seqs=tuple(seqs)))

    def append(
        self,
        events: Sequence[Event],
        *,
        actor: str = "consolidator",
        correlation: UUID | None = None,
        live: Sequence[UUID] = (),
    ) -> None:
        """Append events, all or none, and wait until they are durable and every owner was told.

        Args:
            events: At least one.
            actor: Who decided it.
            correlation: The run or request to which they belong.
            live: Memories that must still be found.

        Raises:
            GoneError: some of those can't; nothing was appended.
        """
        first, *rest = events
        self._keep(
            Append(
                id=uuid4(),
                event=first,
                consequences=tuple(rest),
                actor=actor,
                correlation_id=correlation or uuid4(),
                live=tuple(live),
            )
        )

    def _keep(self, message: object) -> Any:
        """Ask the store."""
        return self.store.ask(message, timeout=TIMEOUT)
