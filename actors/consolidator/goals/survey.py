"""Goals as they are written down: clusters of memories with the words that tell them, and the one that leads."""

from collections.abc import Collection, Sequence
from uuid import UUID, uuid4

import msgspec

from actors.consolidator.goals.discovery import (
    MIN_COHERENCE,
    MIN_SIZE,
    MIN_TOPICALITY,
    NORTH_STAR_COHERENCE,
    NORTH_STAR_MEMBERS,
    Similarities,
    discover,
    north_star,
    overall,
    parents,
)
from actors.consolidator.goals.terms import Reading, Topic, describe, read, topic
from actors.consolidator.slices import Work
from events.vocabulary import GoalDiscovered
from events.vocabulary.values import GoalLevel

BACKGROUND = 20
"""A goal is told by how it differs from at least so many memories, and as many as its own. Where there are fewer, as
when nearly all are about one thing, it is told by what its members share."""


class Survey(msgspec.Struct, frozen=True):
    """The goals found in some memories."""

    goals: tuple[GoalDiscovered, ...]
    """The most confident first."""
    star: UUID | None
    """The one that would serve best as North Star; None if none can."""

    def beside(self, star: GoalDiscovered | None) -> "Survey":
        """Return the same without what is the present North Star over again: half of both are the same memories."""
        if star is None:
            return self
        known = set(star.members)
        others = (
            goal for goal in self.goals if len(known.intersection(goal.members)) * 2 < len(known.union(goal.members))
        )
        return Survey(tuple(others), self.star)

    def kept(self, min_confidence: float, max_goals: int, star: UUID | None) -> tuple[GoalDiscovered, ...]:
        """Return the most confident goals, and the one that is to be North Star in any case.

        A goal whose parent was left out stands at the top. There is one North Star, however wide another goal may be.
        """
        sure = [goal.goal for goal in self.goals if goal.confidence >= min_confidence][:max_goals]
        ids = {*sure, star}
        return tuple(
            msgspec.structs.replace(
                goal,
                level=GoalLevel.NORTH_STAR if goal.goal == star else _below(goal.level),
                parent=goal.parent if goal.parent in ids and goal.goal != star else None,
            )
            for goal in self.goals
            if goal.goal in ids
        )


def _below(level: GoalLevel) -> GoalLevel:
    return GoalLevel.STRATEGIC if level is GoalLevel.NORTH_STAR else level


def survey(namespace: str, memories: Sequence[UUID], texts: Sequence[str], scores: Similarities) -> Work[Survey]:
    """Find the goals that some memories serve, in slices.

    A North Star may be less than a goal, three memories with a coherence of .7 (facts 3.3). But both must be about
    something: greetings and thanks resemble each other, and are nobody's purpose.

    Args:
        namespace: Whose memories they are.
        memories: Their ids.
        texts: What they say, in the same order.
        scores: Their calibrated similarity to each other, shape (n, n, 13).
    """
    clusters = yield from discover(scores, least=NORTH_STAR_COHERENCE, smallest=NORTH_STAR_MEMBERS)
    reading = yield from read(texts)
    found = []
    for cluster in clusters:
        yield
        about = yield from _about(cluster.members, texts, reading)
        if about.topicality >= MIN_TOPICALITY:
            found.append((cluster, about))
    yield
    leading = north_star([cluster for cluster, _ in found], [about.topicality for _, about in found])
    kept = [
        one
        for place, one in enumerate(found)
        if place == leading or (len(one[0].members) >= MIN_SIZE and one[0].coherence >= MIN_COHERENCE)
    ]
    clusters = [cluster for cluster, _ in kept]
    ids = [uuid4() for _ in clusters]
    above = parents(clusters, overall(scores)) if clusters else ()
    goals = tuple(
        GoalDiscovered(
            goal=goal,
            namespace=namespace,
            level=cluster.level,
            description=describe(about.terms),
            terms=about.terms,
            members=tuple(memories[place] for place in cluster.members),
            centrality=cluster.centrality,
            coherence=cluster.coherence,
            confidence=cluster.confidence,
            spaces=cluster.spaces,
            parent=None if parent is None else ids[parent],
        )
        for goal, (cluster, about), parent in zip(ids, kept, above, strict=True)
    )
    star = None if leading is None else ids[kept.index(found[leading])]
    return Survey(goals, star)


def _about(members: Collection[int], texts: Sequence[str], reading: Reading) -> Work[Topic]:
    """Tell what some of the texts are about, by themselves if the others are too few to differ from."""
    if len(texts) - len(members) >= max(len(members), BACKGROUND):
        return topic(reading, members)
    alone = yield from read([texts[place] for place in members])
    return topic(alone, range(len(members)))
