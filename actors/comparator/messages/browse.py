"""Messages that read many memories at once, for lists, calendars and maps."""

from uuid import UUID

import numpy as np
import numpy.typing as npt

from actors.runtime.messages import Answer, Message
from events.quantization import Levels
from projections.projection import MemoryState


class Columns(Answer, frozen=True, kw_only=True):
    """Memories in the order in which they were stored, column by column; each has shape (memories,)."""

    memories: tuple[UUID, ...]
    created: npt.NDArray[np.int64]
    """`created_at` in microseconds since 1970."""
    calendar: npt.NDArray[np.int64]
    """The same as calendar time."""
    namespace: npt.NDArray[np.int32]
    """A key of `namespaces`."""
    namespaces: dict[int, str]
    session: npt.NDArray[np.int32]
    """A key of `sessions`, or -1."""
    sessions: dict[int, str]
    vectors: Levels | None
    """The leading dimensions of E1, shape (memories, dimensions), if they were requested."""


class ReadColumns(Message[Columns | None], frozen=True, kw_only=True):
    """Read the columns of memories in one state; None before any memory is stored."""

    namespaces: tuple[str, ...] | None = None
    """None for all."""
    tags: tuple[str, ...] = ()
    """Only memories that have all of these; none in another state than live."""
    state: MemoryState = MemoryState.LIVE
    vectors: bool = False
