"""Comparing memories with each other: neighbours and pairs."""

from datetime import datetime
from uuid import UUID

import msgspec
import numpy as np
import numpy.typing as npt

from actors.runtime.faults import Fault
from actors.runtime.messages import Answer, Message
from actors.runtime.settings import Strategy
from events.fingerprint import Embedding, Fingerprint


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
    """Of the query."""
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
    targets: tuple[UUID, ...]


class ReadRawScores(Message[npt.NDArray[np.float32]], frozen=True, kw_only=True):
    """Score pairs before calibration; float32 of shape (targets, 13), NaN where a space has nothing to say."""

    reference: UUID
    targets: tuple[UUID, ...]


class ReadVectors(Message[npt.NDArray[np.float32]], frozen=True, kw_only=True):
    """Read E1 vectors: float32 of shape (memories, dimension), unit length, NaN for erased memories."""

    memories: tuple[UUID, ...]
