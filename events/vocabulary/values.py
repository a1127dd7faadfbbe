"""What events are made of: words with a fixed meaning, and small values of several numbers."""

from enum import StrEnum
from uuid import UUID

import msgspec

from events.spaces import SPACES

WIDTH = len(SPACES)


class Modality(StrEnum):
    """What kind of content a memory holds (seeds 001 and 004)."""

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


class Learning(msgspec.Struct, frozen=True):
    """What the store of a memory taught (UTL): per space and in sum; all but the phase in [0, 1] or as named."""

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
    """How likely the memory was thought to be recalled soon; None where nothing was foretold."""


class SpaceModel(msgspec.Struct, frozen=True):
    """What fills one space: the model or method, the SHA-256 (hex) of its weights or definition, the dimension."""

    key: str
    model: str
    sha256: str
    dimension: int


class GoalLevel(StrEnum):
    """How much of the memories a goal spans, the widest first (facts 3.2)."""

    NORTH_STAR = "NorthStar"
    STRATEGIC = "Strategic"
    TACTICAL = "Tactical"
    OPERATIONAL = "Operational"


class DriftLevel(StrEnum):
    """How far memories have moved from the North Star, the least first (facts 3.4)."""

    NONE = "None"
    LOW = "Low"
    MEDIUM = "Medium"
    HIGH = "High"
    CRITICAL = "Critical"


class Step(msgspec.Struct, frozen=True, order=True):
    """One link of a path, as it was drawn: a path may walk it from its target to its source."""

    source: UUID
    target: UUID
    relation: str


class Resonance(msgspec.Struct, frozen=True):
    """How a memory agrees with the focus: its calibrated score in each space, and the order that they lead to."""

    memory: UUID
    scores: bytes
    """float32, `WIDTH` of them in [0, 1]; NaN where the focus doesn't speak to a space."""
    order: float
    """The order parameter r in [0, 1]."""

    def __post_init__(self) -> None:
        """Refuse scores that aren't one for each space."""
        if len(self.scores) != 4 * WIDTH:
            raise ValueError(f"{WIDTH} float32 are {4 * WIDTH} bytes, not {len(self.scores)}")


class Mode(StrEnum):
    """How deep a sleep is; each does what the one before it does, and more (seed 003). A dream does what REM adds."""

    LIGHT = "light"
    DEEP = "deep"
    REM = "rem"
    DREAM = "dream"


class Trigger(StrEnum):
    """What a run of the consolidator was begun by."""

    REQUEST = "request"
    SCHEDULE = "schedule"
    MADE_UP = "made up"
    """A scheduled one whose time had passed while nothing ran."""
    IDLE = "idle"


class Outcome(StrEnum):
    """How a run ended. Nothing but the record of one that wasn't finished is in the log."""

    FINISHED = "finished"
    ABORTED = "aborted"
    """By a query, or by somebody."""
    TIMED_OUT = "timed_out"
    FAILED = "failed"


class Salience(msgspec.Struct, frozen=True):
    """How much a memory matters, in [0, 1]: the sum of what each part adds (facts 10.3)."""

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
    """A memory that was taken out of every search since it mattered too little."""

    memory: UUID
    salience: Salience


class Group(msgspec.Struct, frozen=True):
    """Memories that are about the same thing."""

    members: tuple[UUID, ...]
    """The most central first."""
    centrality: tuple[float, ...]
    """Of each member, in (0, 1]: its similarity to the middle of them all."""


class Strengthened(msgspec.Struct, frozen=True):
    """What a link weighs from now on."""

    step: Step
    weight: float
    confidence: float


class Shortcut(msgspec.Struct, frozen=True):
    """A link along a path that was often walked."""

    step: Step
    weight: float
    """The product of the weights on the path."""
    confidence: float
    """The least on the path."""
    via: tuple[UUID, ...]
    """The memories in between, in the order of the path."""


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """What a run of the consolidator did, or would have done."""

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
