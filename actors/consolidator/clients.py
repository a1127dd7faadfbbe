"""Typed access to the actors below the consolidator. Each request blocks it for one slice of its work."""

from collections.abc import Sequence
from typing import TypeVar
from uuid import UUID

import msgspec

from actors.comparator.messages import GoalState, ListMemories, ReadGoals
from actors.runtime.actor import ActorRef
from actors.runtime.ask import ask_blocking
from actors.runtime.messages import Message
from actors.store.messages import Append, Describe, ReadStatus
from events.vocabulary import Event
from projections.memories.catalog import Entry

A = TypeVar("A")


class ActorClients(msgspec.Struct, frozen=True):
    """The actors that the consolidator asks."""

    comparator: ActorRef
    store: ActorRef
    workspace: ActorRef
    linker: ActorRef | None = None

    def ask_comparator(self, message: Message[A]) -> A:
        """Ask the comparator."""
        return ask_blocking(self.comparator, message)

    def ask_workspace(self, message: Message[A]) -> A:
        """Ask the workspace."""
        return ask_blocking(self.workspace, message)

    def ask_linker(self, message: Message[A]) -> A | None:
        """Ask the linker; None if there is none."""
        return None if self.linker is None else ask_blocking(self.linker, message)

    def ask_store(self, message: Message[A]) -> A:
        """Ask the store."""
        return ask_blocking(self.store, message)

    def describe(self, memories: Sequence[UUID], *, own: bool = False) -> tuple[Entry, ...]:
        """Return catalog entries; with `own`, those of merged memories instead of their survivors."""
        return self.ask_store(Describe(memories=tuple(memories), own=own))

    def memories(self, namespace: str, *, forgotten: bool = False) -> tuple[UUID, ...]:
        """Return the memories of a namespace in the order of storage; with `forgotten`, all that aren't erased."""
        return self.ask_comparator(ListMemories(namespace=namespace, forgotten=forgotten))

    def goals(self, namespace: str) -> GoalState:
        """Return the goals and the North Star of a namespace."""
        return self.ask_comparator(ReadGoals(namespace=namespace))

    def namespaces(self) -> dict[str, int]:
        """Return the number of live memories in each namespace."""
        return self.ask_store(ReadStatus()).namespaces

    def append(
        self,
        events: Sequence[Event],
        *,
        actor: str = "consolidator",
        correlation: UUID | None = None,
        live: Sequence[UUID] = (),
    ) -> None:
        """Append events in one transaction to all projections; `GoneError` if some of `live` are not live."""
        self.ask_store(Append.of(events, actor, correlation, live))
