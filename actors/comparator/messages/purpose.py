"""What memories serve."""

from uuid import UUID

import numpy as np
import numpy.typing as npt

from actors.runtime.messages import Answer, Message
from events.vocabulary import GoalDiscovered
from projections.mind.goals import GoalRecord


class GoalState(Answer, frozen=True, kw_only=True):
    """What is known of the goals of a namespace."""

    goals: tuple[GoalDiscovered, ...]
    """Those found last."""
    star: GoalDiscovered | None
    exemplars: tuple[UUID, ...]
    """That embody the North Star."""
    drifts: tuple[GoalRecord, ...]
    """What was noted of drift, and when, the latest last."""


class ListMemories(Message[tuple[UUID, ...]], frozen=True, kw_only=True):
    """Answers the ids of a namespace's memories, `tuple[UUID, ...]`, in the order in which they were stored."""

    namespace: str
    forgotten: bool = False
    """Whether those belong to it that were forgotten, and may be restored."""
    unaligned: UUID | None = None
    """Only those that were measured against another goal than this one, or none."""


class MeasurePurposes(Message[npt.NDArray[np.float32]], frozen=True, kw_only=True):
    """Measure memories, live or forgotten, against a goal; answers float32 (memories, 13)."""

    goal: UUID
    exemplars: tuple[UUID, ...]
    memories: tuple[UUID, ...]


class ReadPurposes(Message[npt.NDArray[np.float32]], frozen=True, kw_only=True):
    """Answers the purposes of these memories, float32 (memories, 13)."""

    memories: tuple[UUID, ...]


class ReadGoals(Message[GoalState], frozen=True, kw_only=True):
    """Answers the `GoalState` of a namespace."""

    namespace: str
