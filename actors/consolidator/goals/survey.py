"""Survey: the goals of some memories as events, described by their own terms, and the best North Star among them."""

from collections.abc import Sequence
from itertools import compress
from typing import Final
from uuid import UUID, uuid4

import msgspec
import numpy as np

from actors.comparator.messages import ReadVectors, ScorePairs
from actors.consolidator.clients import ActorClients
from actors.consolidator.clustering import MIN_MEMORIES, MIN_SIZE, Cluster, cluster_vectors
from actors.consolidator.goals import discovery
from actors.consolidator.goals.terms import Topic, extract_topics, index_terms
from actors.consolidator.jobs import Sliced
from actors.consolidator.messages import ProgressCallback
from events.quantization import Float32
from events.spaces import SPACES
from events.vocabulary import GoalDiscovered
from events.vocabulary.values import GoalLevel
from projections.mind.goals import EXEMPLARS
from projections.projection import MemoryState
from projections.storage.arrays import Rows

MAX_GOALS: Final = 50
"""Goals of one survey, those with the most members."""

MAX_REST: Final = 16
"""Memories in no goal, with which goals are contrasted."""

READ: Final = 512

DESCRIBED: Final = 16

REFERENCES: Final = 2
"""Memories that are scored against all others in one slice, for which a search has to wait."""


class ClusteredMemories(msgspec.Struct, frozen=True):
    """Memories and the clusters among them, also small and loose ones."""

    memories: tuple[UUID, ...] = ()
    """Those that have a vector."""
    clusters: tuple[Cluster, ...] = ()
    """The largest first; members are positions in `memories`."""


class Survey(msgspec.Struct, frozen=True):
    """Goals found in some memories."""

    goals: tuple[GoalDiscovered, ...] = ()
    """The most confident first."""
    star: UUID | None = None
    """The goal that would serve best as North Star; None if none qualifies."""

    def known_as(self, known: Sequence[GoalDiscovered]) -> "Survey":
        """Return the survey with the ids of those known goals that its goals repeat."""
        ids: dict[UUID, UUID] = {}
        for goal in self.goals:
            repeated = [one for one in known if repeats(goal, one) and one.goal not in ids.values()]
            if repeated:
                ids[goal.goal] = repeated[0].goal
        goals = tuple(
            msgspec.structs.replace(
                goal,
                goal=ids.get(goal.goal, goal.goal),
                parent=None if goal.parent is None else ids.get(goal.parent, goal.parent),
            )
            for goal in self.goals
        )
        return Survey(goals, None if self.star is None else ids.get(self.star, self.star))

    def led_by(self, star: UUID | None) -> "Survey":
        """Return the survey with one goal as the North Star, above all others."""

        def placed(goal: GoalDiscovered) -> GoalDiscovered:
            if goal.goal == star:
                return msgspec.structs.replace(goal, level=GoalLevel.NORTH_STAR, parent=None)
            if goal.level is GoalLevel.NORTH_STAR:
                return msgspec.structs.replace(goal, level=GoalLevel.STRATEGIC)
            return goal

        return Survey(tuple(map(placed, self.goals)), star)


def repeats(goal: GoalDiscovered, other: GoalDiscovered) -> bool:
    """Return whether at least half of the members of two goals are the same."""
    members, others = set(goal.members), set(other.members)
    return 2 * len(members & others) >= len(members | others)


def cluster_memories(clients: ActorClients, memories: Sequence[UUID]) -> Sliced[ClusteredMemories]:
    """Cluster memories by their E1 vectors, in slices."""
    if len(memories) < MIN_MEMORIES:
        return ClusteredMemories()
    portions: list[Float32] = []
    for start in range(0, len(memories), READ):
        yield
        portions.append(clients.ask_comparator(ReadVectors(memories=tuple(memories[start : start + READ]))))
    vectors = np.concatenate(portions)
    present = ~np.isnan(vectors[:, 0])  # erased ones have NaN
    clusters = yield from cluster_vectors(vectors[present], MIN_MEMORIES, discovery.NAMED_COHERENCE)
    return ClusteredMemories(tuple(compress(memories, present)), clusters)


def survey(
    clients: ActorClients,
    namespace: str,
    memories: Sequence[UUID],
    on_progress: ProgressCallback,
    clustered: ClusteredMemories | None = None,
) -> Sliced[Survey]:
    """Find the goals of those of some memories that are live, in slices.

    A goal needs a topic, which greetings and thanks lack. A North Star may be smaller than other goals. `clustered` are
    the clusters of the same memories, if they are known; `on_progress` receives how many texts were read, of how many.
    """
    read = yield from _read_live(clients, memories, on_progress)
    if clustered is None or not read.keys() >= {*clustered.memories}:  # or one was deleted since
        clustered = yield from cluster_memories(clients, [*read])
    if not clustered.clusters:
        return Survey()
    ids, clusters = clustered.memories, clustered.clusters
    texts, speakers = zip(*(read[memory] for memory in ids), strict=True)
    index = yield from index_terms(texts, {*speakers})
    topics = yield from extract_topics(index, [cluster.members for cluster in clusters])
    found = [
        (cluster, topic)
        for cluster, topic in zip(clusters, topics, strict=True)
        if discovery.is_goal(cluster.coherence, topic.topicality)
    ][:MAX_GOALS]
    leading = discovery.north_star(
        [len(cluster.members) for cluster, _ in found],
        [cluster.coherence for cluster, _ in found],
        [topic.topicality for _, topic in found],
    )
    chosen = [one for place, one in enumerate(found) if place == leading or len(one[0].members) >= MIN_SIZE]
    places, groups = _contrasted([cluster for cluster, _ in chosen], len(ids))
    scores = yield from _score(clients, [ids[place] for place in places])
    goals = _goals(namespace, ids, chosen, scores, groups)
    star = None if leading is None else goals[chosen.index(found[leading])].goal
    return Survey(tuple(sorted(goals, key=lambda goal: -goal.confidence)), star)


def _read_live(
    clients: ActorClients, memories: Sequence[UUID], on_progress: ProgressCallback
) -> Sliced[dict[UUID, tuple[str, str]]]:
    live: dict[UUID, tuple[str, str]] = {}
    for start in range(0, len(memories), DESCRIBED):
        yield
        entries = clients.describe(memories[start : start + DESCRIBED], own=True)
        for entry in entries:
            if entry.state is MemoryState.LIVE and entry.body is not None:
                live[entry.id] = entry.body.text, str(entry.body.metadata.get("speaker", ""))
        on_progress(min(start + DESCRIBED, len(memories)), len(memories))
    return live


def _contrasted(clusters: Sequence[Cluster], count: int) -> tuple[list[int], Rows]:
    """Choose the exemplars of clusters among `count` memories, and some of the memories in none.

    Returns:
        Their places, and the number of the cluster of each, -1 for none.
    """
    places = [member for cluster in clusters for member in cluster.members[:EXEMPLARS]]
    groups = [number for number, cluster in enumerate(clusters) for _ in cluster.members[:EXEMPLARS]]
    clustered = {member for cluster in clusters for member in cluster.members}
    rest = [place for place in range(count) if place not in clustered]
    places += rest[:: max(1, len(rest) // MAX_REST)][:MAX_REST]
    return places, np.array(groups + [-1] * (len(places) - len(groups)), np.int64)


def _score(clients: ActorClients, memories: Sequence[UUID]) -> Sliced[discovery.Similarities]:
    """Return the similarities of memories to each other, each pair scored once."""
    count = len(memories)
    scores = np.ones((count, count, len(SPACES)), np.float32)
    for start in range(0, count, REFERENCES):
        yield
        stop = min(start + REFERENCES, count)
        pairs = ScorePairs(references=tuple(memories[start:stop]), targets=tuple(memories[start:]))
        scores[start:stop, start:] = clients.ask_comparator(pairs)
        scores[start:, start:stop] = scores[start:stop, start:].swapaxes(0, 1)
    return scores


def _goals(
    namespace: str,
    ids: Sequence[UUID],
    chosen: Sequence[tuple[Cluster, Topic]],
    scores: discovery.Similarities,
    groups: Rows,
) -> list[GoalDiscovered]:
    levels = [discovery.level(len(cluster.members), cluster.coherence) for cluster, _ in chosen]
    spaces = [discovery.distinguishing(scores, groups, number) for number in range(len(chosen))]
    goals = [uuid4() for _ in chosen]
    return [
        GoalDiscovered(
            goal=goals[number],
            namespace=namespace,
            level=levels[number],
            description=", ".join(topic.terms),
            terms=topic.terms,
            members=tuple(ids[place] for place in cluster.members),
            centrality=cluster.centrality,
            coherence=cluster.coherence,
            confidence=discovery.confidence(len(cluster.members), cluster.coherence, len(spaces[number])),
            spaces=spaces[number],
            parent=None if parent is None else goals[parent],
        )
        for number, ((cluster, topic), parent) in enumerate(
            zip(chosen, discovery.parents(levels, scores, groups), strict=True)
        )
    ]
