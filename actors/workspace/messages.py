"""What the workspace is asked, and answers."""

from collections.abc import Callable
from datetime import datetime
from typing import TypeAlias
from uuid import UUID

import msgspec

from actors.comparator.messages import NewMemory
from actors.runtime.faults import Fault
from actors.runtime.messages import Answer, Appended, Cancellable, Message, OwnerMessage
from actors.store.messages import Append, RequestResult
from events.fingerprint import Embedding
from events.vocabulary import FocusMoved
from events.vocabulary.values import JohariRow, Learning
from projections.mind.workspace import FadedMemory, IgnitedMemory


class Judgement(Answer, frozen=True, kw_only=True):
    """How much a memory teaches, how each space knows it, what it serves, and what it seems to follow from."""

    purpose: tuple[float, ...]
    north_star: UUID | None
    johari: tuple[JohariRow, ...]
    learning: Learning
    causes: tuple[tuple[UUID, float], ...]
    effects: tuple[tuple[UUID, float], ...]


class Attention(Answer, frozen=True, kw_only=True):
    """The workspace as the log has it."""

    coupling: float
    focus: FocusMoved | None
    focused_at: datetime | None
    ignited: tuple[IgnitedMemory, ...]
    conflict: tuple[UUID, ...]
    emptied_at: datetime | None
    queued: tuple[FadedMemory, ...]
    """What faded and waits for REM, the oldest first."""
    accuracy: float | None
    """Of predictions of usefulness; None before any was scored."""
    scored: int
    interactions: int
    stage: str
    lambdas: tuple[float, float]


class Pulse(Answer, frozen=True, kw_only=True):
    """The state of learning that goes with every answer (seeds 001 and 004)."""

    entropy: float
    coherence: float
    learning_score: float
    quadrant: str
    suggested_action: str


class UnjudgedMemory(msgspec.Struct, frozen=True, kw_only=True):
    """An embedded memory, and how its append is built once it is judged."""

    new: NewMemory
    build_append: Callable[[Judgement], Append]


class IngestResult(Answer, frozen=True, kw_only=True):
    """What the store appended, or had appended for an earlier request with the same key."""

    result: RequestResult
    pulse: Pulse | None
    """Of the memory's judgement; None if it was erased since."""


class JudgeAndAppend(Cancellable[list[IngestResult | Fault]], frozen=True, kw_only=True):
    """Judge memories by their neighbours and append them by one commit; answers a future of a result for each.

    The store's answer resolves the future, so that the workspace doesn't wait for the commit. Nothing is appended if
    the request was withdrawn meanwhile.
    """

    memories: tuple[UnjudgedMemory, ...]
    """At least one."""


class Ask(Message[None], frozen=True, kw_only=True):
    """A question was answered: it is the new focus. Told; nobody waits for what becomes of it."""

    text: str
    embeddings: dict[str, Embedding]
    keys: frozenset[str]
    """The spaces to which it speaks."""
    namespace: str | None
    found: tuple[UUID, ...]
    """The best of the answer."""


class Broadcast(Message[Attention], frozen=True, kw_only=True):
    """Make a stored memory the focus, and let it in if it agrees with itself enough, or by force; answers `Attention`.

    Raises:
        NotFoundFault: it isn't live.
    """

    memory: UUID
    namespace: str
    force: bool


class SetCoupling(Message[Attention], frozen=True, kw_only=True):
    """Set K, and measure again what the last focus found; answers `Attention`."""

    coupling: float


class ReadAttention(Message[Attention], frozen=True, kw_only=True):
    """Answers `Attention`, once the workspace is done with what was asked and stored so far."""


class CountIgnitions(Message[dict[UUID, int]], frozen=True, kw_only=True):
    """Answers how often each memory that ever entered the workspace did, `dict[UUID, int]`."""


class ReadPulse(Message[Pulse], frozen=True, kw_only=True):
    """Answers the current `Pulse`."""


WorkspaceMessage: TypeAlias = (
    JudgeAndAppend
    | Ask
    | Broadcast
    | SetCoupling
    | ReadAttention
    | CountIgnitions
    | ReadPulse
    | Appended
    | OwnerMessage
)
