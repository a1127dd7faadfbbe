"""Messages about goals and purposes."""

from uuid import UUID

import numpy as np
import numpy.typing as npt

from actors.runtime.messages import Answer, Message
from events.vocabulary import GoalDiscovered
from projections.mind.goals import DriftRecord


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
