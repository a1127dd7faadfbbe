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
