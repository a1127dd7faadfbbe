"""What the workspace is asked, and answers."""

from datetime import datetime
from typing import TypeAlias
from uuid import UUID

from actors.comparator.messages import NewMemory
from actors.runtime.messages import Appended, Message, OwnerMessage
from events.fingerprint import Embedding
from events.vocabulary import FocusMoved
from events.vocabulary.values import JohariRow, Learning
from projections.mind.workspace import Fading, Ignition


class Judge(Message, frozen=True, kw_only=True):
    """Judge memories by their neighbours before they are stored; answers a `Judgement` for each, or a `Fault`."""

    new: tuple[NewMemory, ...]


class Judgement(Message, frozen=True, kw_only=True):
    """How much a memory teaches, how each space knows it, what it serves, and what it seems to follow from."""

    purpose: tuple[float, ...]
    north_star: UUID | None
    johari: tuple[JohariRow, ...]
    learning: Learning
    causes: tuple[tuple[UUID, float], ...]
    effects: tuple[tuple[UUID, float], ...]


class Ask(Message, frozen=True, kw_only=True):
    """A question was answered: it is the new focus. Told; nobody waits for what becomes of it."""

    text: str
    embeddings: dict[str, Embedding]
    keys: frozenset[str]
    """The spaces to which it speaks."""
    namespace: str | None
    found: tuple[UUID, ...]
    """The best of the answer."""


class Broadcast(Message, frozen=True, kw_only=True):
    """Make a stored memory the focus, and let it in if it agrees with itself enough, or by force; answers `Attention`.

    Raises:
        NotFoundFault: it isn't live.
    """

    memory: UUID
    namespace: str
    force: bool


class SetCoupling(Message, frozen=True, kw_only=True):
    """Set K, and measure again what the last focus found; answers `Attention`."""

    coupling: float


class ReadAttention(Message, frozen=True, kw_only=True):
    """Answers `Attention`, once the workspace is done with what was asked and stored so far."""


class Attention(Message, frozen=True, kw_only=True):
    """The workspace as the log has it."""

    coupling: float
    focus: FocusMoved | None
    focused_at: datetime | None
    ignited: tuple[Ignition, ...]
    conflict: tuple[UUID, ...]
    emptied_at: datetime | None
    queued: tuple[Fading, ...]
    """What faded and waits for REM, the oldest first."""
    accuracy: float | None
    """Of predictions of usefulness; None before any was scored."""
    scored: int
    interactions: int
    stage: str
    lambdas: tuple[float, float]


class CountIgnitions(Message, frozen=True, kw_only=True):
    """Answers how often each memory that ever entered the workspace did, `dict[UUID, int]`."""


class ReadPulse(Message, frozen=True, kw_only=True):
    """Answers the current `Pulse`."""


class Pulse(Message, frozen=True, kw_only=True):
    """The state of learning that goes with every answer (seeds 001 and 004)."""

    entropy: float
    coherence: float
    learning_score: float
    quadrant: str
    suggested_action: str


WorkspaceMessage: TypeAlias = (
    Judge | Ask | Broadcast | SetCoupling | ReadAttention | CountIgnitions | ReadPulse | Appended | OwnerMessage
)
