"""Comparing memories with each other: neighbours, pairs, duplicates."""

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
    """A memory that isn't stored yet."""

    id: UUID
    """That it will have."""
    content: str
    fingerprint: Fingerprint
    namespace: str
    created_at: datetime
    before: tuple[tuple[UUID, Fingerprint], ...] = ()
    """Turns of its session that will be stored together with it, before it: it is near to them too."""


class Neighbours(Answer, frozen=True, kw_only=True):
    """What is near a new memory, and how well it serves the North Star of its namespace."""

    similarities: npt.NDArray[np.float32]
    """Calibrated, shape (13, candidates), each row best first; without columns where nothing is stored."""
    nearest: tuple[UUID, ...]
    """Those most alike over all spaces that say what a memory is about, best first."""
    causes: tuple[tuple[UUID, float], ...]
    """Memories that seem to have caused it, and how sure that is, in [0, 1]."""
    effects: tuple[tuple[UUID, float], ...]
    """Memories that it seems to have caused."""
    purpose: tuple[float, ...]
    """Its alignment with the North Star by space; zeros without one."""
    north_star: UUID | None


class Resonances(Answer, frozen=True, kw_only=True):
    """Calibrated similarities of memories to a focus."""

    memories: tuple[UUID, ...]
    scores: npt.NDArray[np.float32]
    """Shape (memories, 13); NaN where the focus doesn't speak to a space."""


class Comparison(Answer, frozen=True, kw_only=True):
    """How alike two memories are, each figure in [0, 1]."""

    similarity: float
    coherence: float
    dominant: str
    """Key of the space in which they are most alike."""
    spaces: tuple[float, ...]


class Alike(Answer, frozen=True, kw_only=True):
    """Two memories that say nearly the same."""

    one: UUID
    other: UUID
    similarity: float
    """In [0, 1], over the spaces that say what a memory says."""


class FindNeighbours(Message[tuple[Neighbours | Fault, ...]], frozen=True, kw_only=True):
    """The nearest stored memories of some new ones; answers a `Neighbours` for each, or the `Fault` that it met."""

    new: tuple[NewMemory, ...]


class Resonate(Message[Resonances], frozen=True, kw_only=True):
    """How memories agree with a focus, space by space; answers `Resonances`."""

    focus: UUID | dict[str, Embedding]
    """A stored memory, or the embeddings of a question."""
    text: str = ""
    """Of the question."""
    keys: frozenset[str]
    """The spaces to which the focus speaks."""
    namespace: str | None
    memories: tuple[UUID, ...]
    """Those that can't be found within the namespace are left out of the answer."""
    nearest: int = 0
    """So many neighbours of a stored memory join them."""


class Compare(Message[tuple[Comparison, ...]], frozen=True, kw_only=True):
    """Compare a live memory with others; answers a `Comparison` for each, in order."""

    reference: UUID
    targets: tuple[UUID, ...]
    strategy: Strategy


class ScorePairs(Message[npt.NDArray[np.float32]], frozen=True, kw_only=True):
    """Score some memories against others; answers calibrated float32 (references, targets, 13), NaN for erased ones."""

    references: tuple[UUID, ...]
    targets: tuple[UUID, ...]


class FindDuplicates(Message[tuple[Alike, ...]], frozen=True, kw_only=True):
    """Which memories say nearly the same as one of this slice or an earlier one; answers `tuple[Alike, ...]`."""

    sought: UUID
    """One for all slices; what was seen is kept until `EndSearch`, or until something else is sought."""
    namespace: str
    memories: tuple[UUID, ...]
    """Each in one slice only; those that can't be found any more are left out."""
    above: float
    """The least similarity, exclusive."""


class EndSearch(Message[None], frozen=True):
    """Told to the comparator: no more duplicates are sought."""


class ReadVectors(Message[npt.NDArray[np.float32]], frozen=True, kw_only=True):
    """Answers the E1 vectors of memories, float32 (memories, dimension), of unit length; NaN for erased ones."""

    memories: tuple[UUID, ...]
