"""Messages of the workspace."""

from collections.abc import Callable
from datetime import datetime
from typing import TypeAlias
from uuid import UUID

import msgspec

from actors.comparator.messages import NewMemory
from actors.runtime.faults import Fault
from actors.runtime.messages import Answer, Appended, Message, ProjectionMessage
from events.fingerprint import Embedding
from events.vocabulary import FocusMoved
from events.vocabulary.values import JohariRow, Learning
from projections.mind.workspace import FadedMemory, IgnitedMemory


class Judgement(Answer, frozen=True, kw_only=True):
    """Learning signal, Johari quadrant by space, purpose, and presumed causes and effects of a new memory."""

    purpose: tuple[float, ...]
    north_star: UUID | None
    johari: tuple[JohariRow, ...]
    learning: Learning
    causes: tuple[tuple[UUID, float], ...]
    effects: tuple[tuple[UUID, float], ...]


class Attention(Answer, frozen=True, kw_only=True):
    """The state of the workspace."""

    coupling: float
    focus: FocusMoved | None
    focused_at: datetime | None
    ignited: tuple[IgnitedMemory, ...]
    conflict: tuple[UUID, ...]
    emptied_at: datetime | None
    queued: tuple[Fading, ...]
    """Memories that left the workspace and are due in the next REM run, the oldest first."""
    accuracy: float | None
    """Accuracy of usefulness predictions; None before any was scored."""
    scored: int
    interactions: int
    stage: str
    lambdas: tuple[float, float]


class Pulse(Answer, frozen=True, kw_only=True):
    """The learning state attached to every answer."""

    entropy: float
    coherence: float
    learning_score: float
    quadrant: str
    suggested_action: str


class Judge(Message[tuple[Judgement | Fault, ...]], frozen=True, kw_only=True):
    """Judge new memories by their neighbours before they are stored; one result for each."""

    memories: tuple[UnjudgedMemory, ...]
    """At least one."""


class Ask(Message[None], frozen=True, kw_only=True):
    """A query was answered and becomes the new focus."""

    text: str
    embeddings: dict[str, Embedding]
    keys: frozenset[str]
    """The spaces that apply to the query."""
    namespace: str | None
    found: tuple[UUID, ...]
    """The best results."""


class Broadcast(Message[Attention], frozen=True, kw_only=True):
    """Make a stored memory the focus; admit it to the workspace if it is coherent enough, or by force.

    Raises:
        NotFoundFault: It isn't live.
    """

    memory: UUID
    namespace: str
    force: bool


class SetCoupling(Message[Attention], frozen=True, kw_only=True):
    """Set the coupling K, and recompute the resonance of the last focus."""

    coupling: float


class ReadAttention(Message[Attention], frozen=True, kw_only=True):
    """Read the state after all earlier messages were processed."""


class CountIgnitions(Message[dict[UUID, int]], frozen=True, kw_only=True):
    """Count how often each memory entered the workspace; those that never did are missing."""


class ReadPulse(Message[Pulse], frozen=True, kw_only=True):
    """Read the current pulse."""


WorkspaceMessage: TypeAlias = (
    Judge | Ask | Broadcast | SetCoupling | ReadAttention | CountIgnitions | ReadPulse | Appended | ProjectionMessage
)
