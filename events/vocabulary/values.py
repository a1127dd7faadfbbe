"""The enumerations and value types that events consist of."""

from enum import StrEnum
from typing import TypeAlias
from uuid import UUID

import msgspec

from events.spaces import SPACES

WIDTH = len(SPACES)

Span: TypeAlias = tuple[int, int]
"""Half-open interval [start, end) of characters of a memory's text."""


class Modality(StrEnum):
    """The kind of content of a memory."""

    TEXT = "text"
    CODE = "code"
    IMAGE = "image"
    AUDIO = "audio"
    STRUCTURED = "structured"
    MIXED = "mixed"


class Quadrant(StrEnum):
    """The Johari windows, in the order of a row's soft weights."""

    OPEN = "Open"
    HIDDEN = "Hidden"
    BLIND = "Blind"
    UNKNOWN = "Unknown"


class JohariRow(msgspec.Struct, frozen=True):
    """Awareness in one space: soft weights of the four quadrants, summing to 1, and a confidence in [0, 1]."""

    weights: tuple[float, float, float, float]
    confidence: float

    @property
    def quadrant(self) -> Quadrant:
        """The quadrant that weighs most."""
        return tuple(Quadrant)[max(range(len(self.weights)), key=self.weights.__getitem__)]


class Image(msgspec.Struct, frozen=True):
    """What a memory shows; the content is in a file beside the log (`events.crypto.images`)."""

    media_type: str
    width: int
    """In pixels."""
    height: int
    size: int
    """In bytes."""
    sha256: bytes


class Learning(msgspec.Struct, frozen=True):
    """What was learned from a memory when it was stored (unified theory of learning); in [0, 1] unless stated."""

    entropy: float
    coherence: float
    surprise: float
    emotional_weight: float
    """In [.5, 1.5]."""
    phase: float
    """In [0, pi]."""
    learning_score: float
    delta_s: tuple[float, ...]
    delta_c: tuple[float, ...]
    usefulness: float | None = None
    """The predicted probability that the memory is recalled soon; None without a prediction."""


class SpaceModel(msgspec.Struct, frozen=True):
    """The model or method of one space, the SHA-256 (hex) of its weights or definition, and its dimension."""

    key: str
    model: str
    sha256: str
    dimension: int
    succeeds: tuple[str, ...] = ()
    """The hashes of earlier definitions whose vectors can be compared with those of this one."""

    def can_follow(self, earlier: "SpaceModel") -> bool:
        """Tell whether memories of this model may be added to those of an earlier one."""
        same = (self.key, self.dimension) == (earlier.key, earlier.dimension)
        return same and earlier.sha256 in (self.sha256, *self.succeeds)


class SpaceCurve(msgspec.Struct, frozen=True):
    """The raw scores of one space's model that a calibration maps to 0 and to .5."""

    key: str
    sha256: str
    """Of the `SpaceModel` that it was fitted for."""
    unrelated: float
    half: float


class GoalLevel(StrEnum):
    """How many of the memories a goal spans, the widest first."""

    NORTH_STAR = "NorthStar"
    STRATEGIC = "Strategic"
    TACTICAL = "Tactical"
    OPERATIONAL = "Operational"


class DriftLevel(StrEnum):
    """How far memories have moved away from the North Star, the least first."""

    NONE = "None"
    LOW = "Low"
    MEDIUM = "Medium"
    HIGH = "High"
    CRITICAL = "Critical"


class Step(msgspec.Struct, frozen=True, order=True):
    """A link; a path may follow it from its target to its source."""

    source: UUID
    target: UUID
    relation: str


class Resonance(msgspec.Struct, frozen=True):
    """How a memory agrees with the focus: its calibrated score in each space, and the order that follows."""

    memory: UUID
    scores: bytes
    """float32, `WIDTH` of them in [0, 1]; NaN in a space where the focus has no embedding."""
    order: float
    """The order parameter r in [0, 1]."""

    def __post_init__(self) -> None:
        """Refuse scores that aren't one for each space."""
        if len(self.scores) != 4 * WIDTH:
            raise ValueError(f"{WIDTH} float32 are {4 * WIDTH} bytes, not {len(self.scores)}")


class Mode(StrEnum):
    """The depth of a consolidation run; each includes the one before it. A dream is what REM adds, alone."""

    LIGHT = "light"
    DEEP = "deep"
    REM = "rem"
    DREAM = "dream"
    LINK = "link"
    """Finds causes and effects among newly stored memories; it is no part of the others."""
    MOVE = "move"
    """Puts memories into another namespace, on request only."""


class Trigger(StrEnum):
    """What started a run of the consolidator."""

    REQUEST = "request"
    SCHEDULE = "schedule"
    MADE_UP = "made up"
    """A scheduled run that is done late, since the store was closed at its time."""
    IDLE = "idle"
    STORED = "stored"
    """Memories were stored."""


class Outcome(StrEnum):
    """How a run ended. A run that wasn't finished changed nothing."""

    FINISHED = "finished"
    ABORTED = "aborted"
    """By a query or a request."""
    TIMED_OUT = "timed_out"
    FAILED = "failed"


class Salience(msgspec.Struct, frozen=True):
    """How much a memory matters, in [0, 1]: the sum of weighted parts."""

    importance: float
    recency: float
    access: float
    alignment: float
    ignition: float

    @property
    def total(self) -> float:
        """The sum of the parts."""
        return self.importance + self.recency + self.access + self.alignment + self.ignition


class Pruned(msgspec.Struct, frozen=True):
    """A memory that was hidden from every search, because its salience was too low."""

    memory: UUID
    salience: Salience


class Group(msgspec.Struct, frozen=True):
    """A cluster: memories about the same subject."""

    members: tuple[UUID, ...]
    """The most central first."""
    centrality: tuple[float, ...]
    """Of each member, in (0, 1]: its similarity to the centroid."""


class Strengthened(msgspec.Struct, frozen=True):
    """The new weight of a link."""

    step: Step
    weight: float
    confidence: float


class Shortcut(msgspec.Struct, frozen=True):
    """A link from end to end of a path that was often followed."""

    step: Step
    weight: float
    """The product of the weights on the path."""
    confidence: float
    """The lowest on the path."""
    via: tuple[UUID, ...]
    """The memories in between, in the order of the path."""


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """What a run of the consolidator did, or in a dry run would have done."""

    looked_at: int = 0
    merged: int = 0
    """Memories that were absorbed by another one."""
    pruned: int = 0
    clusters: int = 0
    patterns: int = 0
    strengthened: int = 0
    shortcuts: int = 0
    replayed: int = 0
    goals_adjusted: int = 0
    causes: int = 0
    """Edges from causes to effects."""
    clauses: int = 0
    """Clauses that state a cause, of memories that were not examined before."""
    moved: int = 0
    """Memories that were put into another namespace."""

    @property
    def any_change(self) -> bool:
        """Whether it did anything, or would have."""
        return self != Counts(looked_at=self.looked_at)
