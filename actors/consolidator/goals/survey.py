"""Survey: the goals of some memories as events, described by their own terms, and the best North Star among them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from uuid import UUID, uuid4

import msgspec

from actors.consolidator.clustering import MIN_COHERENCE, MIN_SIZE
from actors.consolidator.goals.discovery import (
    MIN_MEMORIES,
    MIN_TOPICALITY,
    NORTH_STAR_COHERENCE,
    Similarities,
    discover,
    north_star,
    overall,
    parents,
)
from actors.consolidator.goals.terms import TermIndex, Topic, describe, extract_topic, index_terms
from actors.consolidator.jobs import Sliced
from events.vocabulary import GoalDiscovered
from events.vocabulary.values import GoalLevel

MIN_BACKGROUND = 20
"""Least number of other memories, and no fewer than its own, that a goal is contrasted with. Where there are fewer, the
goal is described by the terms that its members share."""


class Survey(msgspec.Struct, frozen=True):
    """Goals found in some memories."""

    goals: tuple[GoalDiscovered, ...]
    """The most confident first."""
    star: UUID | None
    """The goal that would serve best as North Star; None if none qualifies."""

    def without_repeat_of(self, star: GoalDiscovered | None) -> Survey:
        """Return the survey without goals that repeat the present North Star: at least half of both is the same."""
        if star is None:
            return self
        known = set(star.members)
        others = (
            goal for goal in self.goals if len(known.intersection(goal.members)) * 2 < len(known.union(goal.members))
        )
        return Survey(tuple(others), self.star)

    def select(self, min_confidence: float, max_goals: int, star: UUID | None) -> tuple[GoalDiscovered, ...]:
        """Return the most confident goals, and in any case the one that becomes North Star, as the only one.

        A goal whose parent is left out becomes a root.
        """
        confident = [goal.goal for goal in self.goals if goal.confidence >= min_confidence][:max_goals]
        ids = {*confident, star}
        return tuple(
            msgspec.structs.replace(
                goal,
                level=GoalLevel.NORTH_STAR if goal.goal == star else _below_north_star(goal.level),
                parent=goal.parent if goal.parent in ids and goal.goal != star else None,
            )
            for goal in self.goals
            if goal.goal in ids
        )


def survey(namespace: str, memories: Sequence[UUID], texts: Sequence[str], scores: Similarities) -> Sliced[Survey]:
    """Find the goals of some memories, in slices.

    A North Star may be smaller than a goal: three memories with a coherence of .7. Both need a topic, which greetings
    and thanks lack.

    Args:
        namespace: Namespace of the memories.
        memories: Their ids.
        texts: Their contents, in the same order.
        scores: Their calibrated similarities, shape (n, n, 13).
    """
    clusters = yield from discover(scores, min_coherence=NORTH_STAR_COHERENCE, min_size=MIN_MEMORIES)
    index = yield from index_terms(texts)
    found = []
    for cluster in clusters:
        yield
        topic = yield from _topic(cluster.members, texts, index)
        if topic.topicality >= MIN_TOPICALITY:
            found.append((cluster, topic))
    yield
    leading = north_star([cluster for cluster, _ in found], [topic.topicality for _, topic in found])
    chosen = [
        one
        for place, one in enumerate(found)
        if place == leading or (len(one[0].members) >= MIN_SIZE and one[0].coherence >= MIN_COHERENCE)
    ]
    ids = [uuid4() for _ in chosen]
    goals = tuple(
        GoalDiscovered(
            goal=goal,
            namespace=namespace,
            level=cluster.level,
            description=describe(topic.terms),
            terms=topic.terms,
            members=tuple(memories[place] for place in cluster.members),
            centrality=cluster.centrality,
            coherence=cluster.coherence,
            confidence=cluster.confidence,
            spaces=cluster.spaces,
            parent=None if parent is None else ids[parent],
        )
        for goal, (cluster, topic), parent in zip(
            ids, chosen, parents([cluster for cluster, _ in chosen], overall(scores)), strict=True
        )
    )
    return Survey(goals, None if leading is None else ids[chosen.index(found[leading])])


def _below_north_star(level: GoalLevel) -> GoalLevel:
    return GoalLevel.STRATEGIC if level is GoalLevel.NORTH_STAR else level


def _topic(members: Collection[int], texts: Sequence[str], index: TermIndex) -> Sliced[Topic]:
    """Return the topic of some of the texts, from these alone if the others are too few for a contrast."""
    if len(texts) - len(members) >= max(len(members), MIN_BACKGROUND):
        return extract_topic(index, members)
    own = yield from index_terms([texts[place] for place in members])
    return extract_topic(own, range(len(members)))
