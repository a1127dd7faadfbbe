"""Messages of the linker."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from datetime import datetime
from typing import TypeAlias
from uuid import UUID

import msgspec

from actors.runtime.messages import Answer, Message, QueryReceived
from events.vocabulary import CausalClausesFound, CausesLinked


class MemoriesAdded(Message[None], frozen=True, kw_only=True):
    """These memories were stored: examine them once no more arrive for a moment."""

    memories: Mapping[UUID, datetime | None]
    """Each with the time that an import gave it; None if it was stored now."""


class LinkCauses(Message[None], frozen=True, kw_only=True):
    """Examine now what was stored and not examined; answers when its edges are in the log."""

    namespace: str | None = None
    """None for all."""
    limit: int
    """Memories that are examined, the latest ones; a deep run examines all."""


class ExaminedCauses(Answer, frozen=True, kw_only=True):
    """What an examination found and did not append."""

    clauses: tuple[CausalClausesFound, ...]
    linked: CausesLinked

    @property
    def required(self) -> tuple[UUID, ...]:
        """Memories that must be live when it is appended."""
        ends = (end for link in self.linked.links for end in (link.source, link.target))
        return tuple(dict.fromkeys((*ends, *(one.memory for one in self.clauses))))

    def without(self, gone: AbstractSet[UUID]) -> "ExaminedCauses":
        """Return what concerns no deleted memory."""
        links = tuple(link for link in self.linked.links if gone.isdisjoint({link.source, link.target}))
        return ExaminedCauses(
            clauses=tuple(one for one in self.clauses if one.memory not in gone),
            linked=msgspec.structs.replace(self.linked, links=links),
        )


class ExamineCauses(Message[ExaminedCauses | None], frozen=True, kw_only=True):
    """Examine the next memories of a namespace for a run, which appends what is found; None if none is left."""

    run: UUID
    namespace: str
    skip: frozenset[UUID]
    """Examined by this run already."""


LinkerMessage: TypeAlias = MemoriesAdded | QueryReceived | LinkCauses | ExamineCauses
