"""Messages of the workspace and their answers."""

from collections.abc import Callable
from datetime import datetime
from typing import TypeAlias
from uuid import UUID

import msgspec

from actors.comparator.messages import NewMemory
from actors.runtime.faults import Fault
from actors.runtime.messages import Answer, Appended, Cancellable, Message, ProjectionMessage
from actors.store.messages import Append, RequestResult
from events.fingerprint import Embedding
from events.vocabulary import FocusMoved
from events.vocabulary.values import JohariRow, Learning
from projections.mind.workspace import FadedMemory, IgnitedMemory


class Judgement(Answer, frozen=True, kw_only=True):
    """The learning value of a memory, its Johari rows and its purpose vector."""

    purpose: tuple[float, ...]
    north_star: UUID | None
    johari: tuple[JohariRow, ...]
    learning: Learning
    alike: tuple[tuple[UUID, float], ...] = ()
    """Memories whose statements its text may correct, with their similarity in E1, calibrated."""


class Attention(Answer, frozen=True, kw_only=True):
    """The state of the workspace."""

    coupling: float
    focus: FocusMoved | None
    focused_at: datetime | None
    ignited: tuple[IgnitedMemory, ...]
    conflict: tuple[UUID, ...]
    emptied_at: datetime | None
    queued: tuple[FadedMemory, ...]
    """Faded memories that wait for REM replay, the oldest first."""
    accuracy: float | None
    """Accuracy of the usefulness forecasts; None before the first outcome."""
    expected_accuracy: float | None
    """The accuracy that the open forecasts will have if they are right; None without any."""
    scored: int
    interactions: int
    stage: str
    lambdas: tuple[float, float]


class Pulse(Answer, frozen=True, kw_only=True):
    """The state of learning that every answer reports."""

    entropy: float
    coherence: float
    learning_score: float
    quadrant: str
    suggested_action: str


class UnjudgedMemory(msgspec.Struct, frozen=True, kw_only=True):
    """An embedded memory, and how its append is built once it is judged."""

    new: NewMemory
    build_append: Callable[[Judgement], Append]
    corrects: bool = True
    """Whether to look for statements that it corrects: not where the client states them, or for code."""


class IngestResult(Answer, frozen=True, kw_only=True):
    """The events that the store appended now, or for an earlier request with the same key."""

    result: RequestResult
    pulse: Pulse | None
    """The pulse of the memory's judgement; None if the memory was erased since."""


class JudgeAndAppend(Cancellable[list[IngestResult | Fault]], frozen=True, kw_only=True):
    """Judge memories by their neighbours and append them in one commit; one result for each.

    The store's answer resolves the reply, so that the workspace does not wait for the commit. Nothing is appended if
    the request was cancelled meanwhile.
    """

    memories: tuple[UnjudgedMemory, ...]
    """At least one."""


class QueryAnswered(Message[None], frozen=True, kw_only=True):
    """A query was answered and becomes the focus; sent without waiting for the effect."""

    text: str
    embeddings: dict[str, Embedding]
    keys: frozenset[str]
    """The spaces that apply to the query."""
    namespace: str | None
    results: tuple[UUID, ...]
    """The memories of the answer, best first."""


class Broadcast(Message[Attention], frozen=True, kw_only=True):
    """Make a live memory (`NotFoundFault`) the focus; it enters the workspace if r is high enough, or with `force`."""

    memory: UUID
    namespace: str
    force: bool


class SetCoupling(Message[Attention], frozen=True, kw_only=True):
    """Set K, and measure the last focus again."""

    coupling: float


class ReadAttention(Message[Attention], frozen=True, kw_only=True):
    """Read the state after all earlier queries and stores have been processed."""


class CountIgnitions(Message[dict[UUID, int]], frozen=True, kw_only=True):
    """Count how often each memory has entered the workspace."""


class ReadPulse(Message[Pulse], frozen=True, kw_only=True):
    """Read the current state of learning in a namespace, or in the whole store for None."""

    namespace: str | None


WorkspaceMessage: TypeAlias = (
    JudgeAndAppend
    | QueryAnswered
    | Broadcast
    | SetCoupling
    | ReadAttention
    | CountIgnitions
    | ReadPulse
    | Appended
    | ProjectionMessage
)
