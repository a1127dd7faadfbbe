"""The edges between memories."""

from uuid import UUID

from actors.runtime.messages import Message
from actors.runtime.settings import PathKind
from events.vocabulary.values import Step
from projections.memories.links import Link


class FindPaths(Message, frozen=True, kw_only=True):
    """Ways along the edges from one memory to another; answers `Ways`."""

    start: UUID
    end: UUID
    namespace: str | None
    """Within which the paths stay; None for anywhere."""
    max_hops: int
    kind: PathKind
    alternatives: int


class FindNeighbourhood(Message, frozen=True, kw_only=True):
    """What the edges lead to from a memory; answers `tuple[Reached, ...]`."""

    memory: UUID
    namespace: str
    """Of the memory; what belongs to another one isn't shown."""
    depth: int
    limit: int


class ReadLinks(Message, frozen=True, kw_only=True):
    """The edges of a memory; answers `Edges`."""

    memory: UUID


class Edges(Message, frozen=True, kw_only=True):
    """The edges from a memory and to it, as they were drawn."""

    outgoing: tuple[Link, ...]
    incoming: tuple[Link, ...]


class CountLinks(Message, frozen=True, kw_only=True):
    """Answers at how many links that somebody drew, or that say cause and effect, each memory stands: (memories,)."""

    memories: tuple[UUID, ...]


class ReadWalks(Message, frozen=True, kw_only=True):
    """Which links were walked, and which ones matter for what is replayed; answers `Walks`."""

    replayed: tuple[UUID, ...]


class Walks(Message, frozen=True, kw_only=True):
    """Along which links paths were shown as answers."""

    links: tuple[Link, ...]
    """Those that were walked, that join two replayed memories, or that join the ends of a path."""
    paths: tuple[tuple[tuple[Step, ...], int], ...]
    """Whole paths of three steps or more, with how often each was shown, the most often first."""
