"""Parameters of operations that look at many memories at once. They are for programs, and no tools."""

from enum import StrEnum
from typing import Annotated
from uuid import UUID

from msgspec import Meta

from actors.api.params.fields import (
    DEFAULT_NAMESPACE,
    MAX_BATCH,
    MAX_NAME,
    Moment,
    Namespace,
    NamespaceFilter,
    Reading,
)
from actors.api.params.fields import SessionFilter as SessionName
from actors.api.params.parsing import Params


class ListedState(StrEnum):
    """States of memories that can be listed: an erased one leaves nothing to show."""

    LIVE = "live"
    FORGOTTEN = "forgotten"
    PRUNED = "pruned"
    MERGED = "merged"


class MemoryList(Reading, frozen=True, kw_only=True):
    """List memories by time, or look up some by id in whatever state they are."""

    times = ("since", "until")

    ids: Annotated[tuple[UUID, ...], Meta(max_length=MAX_BATCH)] = ()
    """Look up these, and ignore all that follows but the namespace."""
    namespace: NamespaceFilter = None
    session: SessionName = None
    state: ListedState = ListedState.LIVE
    since: Moment | None = None
    until: Moment | None = None
    oldest_first: bool = False
    offset: Annotated[int, Meta(ge=0)] = 0
    limit: Annotated[int, Meta(ge=1, le=MAX_BATCH)] = 50


class Named(StrEnum):
    """What an id belongs to."""

    MEMORY = "memory"
    RUN = "run"


class MemoryResolve(Params, frozen=True, kw_only=True):
    """Return the full id of the one memory, or run, whose id begins with some characters."""

    prefix: Annotated[str, Meta(max_length=MAX_NAME)]
    of: Named = Named.MEMORY


class StoreCalendar(Reading, frozen=True, kw_only=True):
    """Count the live memories of each day, and list the latest sessions."""

    namespace: NamespaceFilter = None
    sessions: Annotated[int, Meta(ge=0, le=1_000)] = 50


class StoreMap(Reading, frozen=True, kw_only=True):
    """Project the live memories to two dimensions."""

    namespace: NamespaceFilter = None
    salience: bool = False
    """Whether to judge the salience of each, in some 8 µs."""


class GoalList(Reading, frozen=True, kw_only=True):
    """List the goals of a namespace and measure its drift, without writing to the log."""

    namespace: Namespace = DEFAULT_NAMESPACE
    memories: Annotated[int, Meta(ge=1, le=2_000)] = 100
    """How many of the latest memories drift is measured of."""
