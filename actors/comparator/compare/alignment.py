"""Alignment of memories with a goal, space by space.

A goal is represented by its exemplars, its most central members, so that each space compares embeddings of its own
kind. The alignment of a memory is its mean similarity to the exemplars, divided by their similarity to each other
(cohesion): 1 means as close to the goal as its exemplars are. Without this scale, one threshold would mean something
else in each space, and the alignment bands (.55, .70, .75) could not be reached. A space that has nothing to say of a
memory or of the exemplars takes the mean of the others, so that it moves neither the mean nor a comparison of means.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple
from uuid import UUID

import numpy as np
import numpy.typing as npt

from actors.comparator.compare.calibration import Calibration
from actors.comparator.compare.similarity import one_to_many
from actors.comparator.messages import GoalState, MeasureNearness, MeasurePurposes
from actors.comparator.rows import rows_of
from actors.runtime.faults import NotFoundFault
from events.spaces import E1, SPACES
from projections.atlas.atlas import Atlas
from projections.mind.goals import Goals
from projections.storage.arrays import Rows

MIN_COHESION: Final = 0.2
"""Lower bound of the cohesion, so that a space in which exemplars differ does not inflate small similarities."""

NIL: Final = UUID(int=0)
"""The id of a goal whose id does not matter."""

Vectors = npt.NDArray[np.float32]
"""Float32 whose last axis has one entry for each of the thirteen spaces."""


class GoalProfile(NamedTuple):
    """The exemplars of a goal, and their cohesion."""

    goal: UUID
    exemplars: Rows
    cohesion: Vectors
    """Mean similarity of the exemplars to each other in each space, shape (13,); NaN where there is none."""

    @classmethod
    def of(cls, atlas: Atlas, calibration: Calibration, goal: UUID, exemplars: Rows) -> "GoalProfile":
        """Measure the cohesion of one or more exemplars."""
        pairs = _similarities(atlas, calibration, exemplars, exemplars)
        off_diagonal = ~np.eye(len(exemplars), dtype=np.bool_)
        single = np.ones(pairs.shape[-1], np.float32)
        return cls(goal, exemplars, _known_mean(pairs[off_diagonal]) if len(exemplars) > 1 else single)

    def alignment(self, similarities: Vectors) -> Vectors:
        """Return alignments in [0, 1], shape (..., 13); a space that says nothing takes the mean of the others.

        `similarities` are those to each exemplar, shape (exemplars, ..., 13); NaN values are ignored.
        """
        scaled = np.minimum(1.0, self._scaled(similarities))
        others = np.nanmean(scaled, axis=-1, keepdims=True)
        return np.where(np.isnan(scaled), others, scaled).astype(np.float32)

    def purposes(self, atlas: Atlas, calibration: Calibration, rows: Rows) -> Vectors:
        """Return the purpose vectors of rows, shape (rows, 13). An exemplar is compared with the other exemplars."""
        return self.alignment(self._others(atlas, calibration, rows))

    def nearness(self, atlas: Atlas, calibration: Calibration, rows: Rows) -> Vectors:
        """Return the same, but above 1 for memories nearer than most exemplars, and NaN where a space says nothing.

        So the mean of memories like the exemplars is 1.
        """
        return self._scaled(self._others(atlas, calibration, rows))

    def _others(self, atlas: Atlas, calibration: Calibration, rows: Rows) -> Vectors:
        similarities = _similarities(atlas, calibration, self.exemplars, rows)
        if len(self.exemplars) > 1:
            similarities[self.exemplars[:, None] == rows[None, :]] = np.nan
        return similarities

    def _scaled(self, similarities: Vectors) -> Vectors:
        return (_known_mean(similarities) / np.maximum(self.cohesion, MIN_COHESION)).astype(np.float32)


class NorthStarCache:
    """The goal profile of the North Star of each namespace, measured again when its exemplars change."""

    def __init__(self) -> None:
        self._profiles: dict[str, GoalProfile] = {}

    def get(self, atlas: Atlas, calibration: Calibration, goals: Goals, namespace: str) -> GoalProfile | None:
        """Return the profile of the North Star; None if the namespace has none."""
        star = goals.north_star(namespace)
        if star is None:
            return None
        exemplars = rows_of(atlas, goals.exemplars(star.goal))
        cached = self._profiles.get(namespace)
        if cached is None or cached.goal != star.goal or not np.array_equal(cached.exemplars, exemplars):
            cached = self._profiles[namespace] = GoalProfile.of(atlas, calibration, star.goal, exemplars)
        return cached


def measure_purposes(atlas: Atlas, calibration: Calibration, message: MeasurePurposes) -> Vectors:
    """Return the purpose vectors of memories for a goal, shape (memories, 13).

    Raises:
        NotFoundFault: no exemplar of the goal is live.
    """
    exemplars = rows_of(atlas, message.exemplars)
    live = exemplars[atlas.facets.live[exemplars]]
    if not len(live):
        raise NotFoundFault("Goal not found: none of its members is live", id=str(message.goal))
    profile = GoalProfile.of(atlas, calibration, message.goal, live)
    return profile.purposes(atlas, calibration, rows_of(atlas, message.memories))


def nearness_to_goals(atlas: Atlas, calibration: Calibration, message: MeasureNearness) -> Vectors:
    """Return the nearness of memories to the goal whose examples are nearest in E1, shape (memories, 13)."""
    rows = rows_of(atlas, message.memories)
    found = np.full((len(rows), len(SPACES)), np.nan, np.float32)
    readable = np.flatnonzero(~atlas.facets.erased[rows])
    examples = [known[atlas.facets.live[known]] for known in (rows_of(atlas, one) for one in message.examples)]
    goals = [live for live in examples if len(live)]
    if not goals or not len(readable):
        return found
    similarities = [
        np.mean([atlas.scores(E1, atlas.embedding(E1, row), rows[readable]) for row in live.tolist()], axis=0)
        for live in goals
    ]
    nearest_goal = np.argmax(similarities, axis=0)
    for number in np.unique(nearest_goal).tolist():
        mine = readable[nearest_goal == number]
        profile = GoalProfile.of(atlas, calibration, NIL, goals[number])
        found[mine] = profile.nearness(atlas, calibration, rows[mine])
    return found


def read_purposes(atlas: Atlas, memories: Sequence[UUID]) -> Vectors:
    """Return the stored purpose vectors of memories, shape (memories, 13)."""
    return np.stack([atlas.purposes.at(row) for row in rows_of(atlas, memories).tolist()])


def goal_state(goals: Goals, namespace: str) -> GoalState:
    """Return the goals, the North Star and the drift records of a namespace."""
    star = goals.north_star(namespace)
    current = goals.current(namespace)
    return GoalState(
        goals=current,
        star=star,
        exemplars=() if star is None else goals.exemplars(star.goal),
        examples=tuple(goals.examples(goal.goal) for goal in current),
        drifts=goals.drifts(namespace),
    )


def _known_mean(values: Vectors) -> Vectors:
    """Return the mean over the first axis without NaN; NaN where nothing else is."""
    known = ~np.isnan(values)
    count = known.sum(axis=0)
    return np.divide(np.nansum(values, axis=0), count, out=np.full(count.shape, np.nan, np.float32), where=count > 0)


def _similarities(atlas: Atlas, calibration: Calibration, exemplars: Rows, rows: Rows) -> Vectors:
    return np.stack([one_to_many(atlas, calibration, int(row), rows) for row in exemplars])
