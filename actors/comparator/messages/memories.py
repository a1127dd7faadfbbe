"""Messages about memories as such: lists of them, neighbours, comparisons, and what they serve.

Times, namespaces and sessions come in columns, for lists, calendars and maps of many memories.
"""

from datetime import datetime
from uuid import UUID

import msgspec
import numpy as np
import numpy.typing as npt

from actors.runtime.faults import Fault
from actors.runtime.messages import Answer, Message
from actors.runtime.settings import Strategy
from events.fingerprint import Embedding, Fingerprint
from events.quantization import Levels
from events.vocabulary import GoalDiscovered
from projections.mind.goals import DriftRecord
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


class NewMemory(msgspec.Struct, frozen=True, kw_only=True):
    """A memory before it is stored."""

    id: UUID
    """Its future id."""
    content: str
    fingerprint: Fingerprint
    namespace: str
    created_at: datetime
    before: tuple[tuple[UUID, Fingerprint], ...] = ()
    """Earlier turns of its session in the same batch, which count as neighbours."""


class Neighbours(Answer, frozen=True, kw_only=True):
    """Neighbours of a new memory, and its alignment with the North Star of its namespace."""

    similarities: npt.NDArray[np.float32]
    """Calibrated, shape (13, candidates), each row best first, NaN last; without columns where nothing is stored."""
    closest: float
    """Similarity of the most similar memory over all spaces (`Strategy.GRADED`), in [0, 1]; 0 without one."""
    nearest: tuple[UUID, ...]
    """The most similar memories over all content spaces, best first."""
    purpose: tuple[float, ...]
    """Its alignment with the North Star by space; zeros without one."""
    north_star: UUID | None
    alike: tuple[tuple[UUID, float], ...] = ()
    """Earlier memories whose statement it may correct, the most similar first, with their similarity in E1."""


class Resonances(Answer, frozen=True, kw_only=True):
    """Calibrated similarities of memories to a focus."""

    memories: tuple[UUID, ...]
    scores: npt.NDArray[np.float32]
    """Shape (memories, 13); NaN in spaces that don't apply to the focus."""


class Comparison(Answer, frozen=True, kw_only=True):
    """Similarity of two memories, each figure in [0, 1]."""

    similarity: float
    coherence: float
    dominant: str
    """Key of the space of content with the highest similarity."""
    spaces: tuple[float | None, ...]
    """None in a space that has nothing to say of one of them."""


class FindNeighbours(Message[tuple[Neighbours | Fault, ...]], frozen=True, kw_only=True):
    """Find the nearest stored memories of new ones; one result for each."""

    new: tuple[NewMemory, ...]


class Resonate(Message[Resonances], frozen=True, kw_only=True):
    """Compare memories with a focus, space by space."""

    focus: UUID | dict[str, Embedding]
    """A stored memory, or the embeddings of a query."""
    text: str = ""
    keys: frozenset[str]
    """The spaces that apply to the focus."""
    namespace: str | None
    memories: tuple[UUID, ...]
    """The answer omits those that aren't live in the namespace."""
    nearest: int = 0
    """Number of neighbours of a stored memory to add."""


class Compare(Message[tuple[Comparison, ...]], frozen=True, kw_only=True):
    """Compare a live memory with others; one result for each, in order."""

    reference: UUID
    targets: tuple[UUID, ...]
    strategy: Strategy


class ScorePairs(Message[npt.NDArray[np.float32]], frozen=True, kw_only=True):
    """Score pairs; calibrated float32 of shape (references, targets, 13).

    NaN for erased memories, and where a space has nothing to say of a pair: E7, for one, unless both are code.
    """

    references: tuple[UUID, ...]
    """At least one."""
    targets: tuple[UUID, ...]


class ReadRawScores(Message[npt.NDArray[np.float32]], frozen=True, kw_only=True):
    """Score pairs before calibration; float32 of shape (targets, 13), NaN where a space has nothing to say."""

    reference: UUID
    targets: tuple[UUID, ...]


class ReadVectors(Message[npt.NDArray[np.float32]], frozen=True, kw_only=True):
    """Read E1 vectors: float32 of shape (memories, dimension), unit length, NaN for erased memories."""

    memories: tuple[UUID, ...]


class GoalState(Answer, frozen=True, kw_only=True):
    """The goals of a namespace."""

    goals: tuple[GoalDiscovered, ...]
    """Goals of the latest discovery, preceded by the North Star if that is older."""
    star: GoalDiscovered | None
    exemplars: tuple[UUID, ...]
    """Exemplars of the North Star."""
    examples: tuple[tuple[UUID, ...], ...]
    """Of each goal, members of every centrality."""
    drifts: tuple[DriftRecord, ...]
    """Recorded drift levels with their times, the latest last."""


class ListMemories(Message[tuple[UUID, ...]], frozen=True, kw_only=True):
    """List the ids of a namespace's memories in the order of storage."""

    namespace: str
    forgotten: bool = False
    """Whether to include forgotten memories, which may be restored."""
    unaligned: UUID | None = None
    """List only memories measured against another goal than this, or against none."""


class MeasurePurposes(Message[npt.NDArray[np.float32]], frozen=True, kw_only=True):
    """Measure live or forgotten memories against a goal; float32 of shape (memories, 13)."""

    goal: UUID
    exemplars: tuple[UUID, ...]
    memories: tuple[UUID, ...]


class MeasureNearness(Message[npt.NDArray[np.float32]], frozen=True, kw_only=True):
    """Measure how near memories are to the nearest goal, by space; float32 of shape (memories, 13).

    1 is as near as its examples are to each other; NaN for an erased memory, and where a space says nothing.
    """

    examples: tuple[tuple[UUID, ...], ...]
    """Of each goal; goals without a live one are ignored, and all rows are NaN if there is none left."""
    memories: tuple[UUID, ...]


class ReadPurposes(Message[npt.NDArray[np.float32]], frozen=True, kw_only=True):
    """Read purposes: float32 of shape (memories, 13)."""

    memories: tuple[UUID, ...]


class ReadGoals(Message[GoalState], frozen=True, kw_only=True):
    """Read the goals of a namespace."""

    namespace: str


class NameGoals(Message[tuple[GoalDiscovered | None, ...]], frozen=True, kw_only=True):
    """Read the words of goals, of any discovery; None in the place of one that is unknown or whose words are erased."""

    goals: tuple[UUID, ...]
