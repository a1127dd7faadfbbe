"""What a dream does: it goes through memories again, strengthens the links between them, draws shortcuts (facts 10.5).

No link ever weakens here: what somebody drew holds until somebody takes it back, however long nobody walks it.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import log, prod
from typing import Final
from uuid import UUID, uuid4

from actors.consolidator.goals.discovery import MIN_SIZE
from actors.consolidator.goals.survey import Survey
from actors.consolidator.judgement.salience import ACCESSES
from events.vocabulary import GoalDiscovered, PatternDiscovered
from events.vocabulary.values import Shortcut, Step, Strengthened
from projections.graph.relations import CAUSAL_SHORTCUT, CONFIDENCE, SHORTCUT, Link, RelationKind, relation_kind
from projections.mind.workspace import FadedMemory

REPLAYED: Final = 100
"""Memories that one dream goes through at most."""

RATE: Final = 0.01
"""η of Hebb's rule: what a link gains when both ends are fully active."""

DOUBT: Final = 0.8
"""What each walk leaves of the doubt in a link: after three its confidence has passed .7, after five .83."""

WALKS: Final = 100
"""Walks of one link that count. By then it weighs as much as it can, and no doubt is left that a float could tell."""

SHORTCUT_HOPS: Final = 3
SHORTCUT_WALKS: Final = 5
SHORTCUT_CONFIDENCE: Final = 0.7
"""A path with so many links, walked so often, all of them so sure, gets a shortcut."""

PATTERNS: Final = 10
"""Patterns that one dream writes down at most (seed 003)."""


def replayed(faded: Sequence[FadedMemory], recalled: Mapping[UUID, int], limit: int = REPLAYED) -> dict[UUID, float]:
    """Return which memories are gone through again, in this order, and how active each is then, in [0, 1].

    First those that faded from the workspace, by .8 · recency + .2 · order, as active as they were when they left. Then
    those that were recalled most often, fully active from ten recalls on.

    Args:
        faded: The queue, the oldest first; who waits last has a recency of 1.
        recalled: How often answers contained each memory.
        limit: The most that are gone through.
    """
    scores = {
        fading.memory: 0.8 * place / len(faded) + 0.2 * fading.order for place, fading in enumerate(faded, start=1)
    }
    activity = {fading.memory: fading.order for fading in faded}
    often = sorted((memory for memory, times in recalled.items() if times > 0), key=lambda one: (-recalled[one], one))
    order = dict.fromkeys([*sorted(scores, key=lambda one: (-scores[one], one)), *often])
    return {
        memory: activity[memory] if memory in activity else min(recalled[memory] / ACCESSES, 1.0)
        for memory in [*order][:limit]
    }


def strengthened(links: Iterable[Link], activity: Mapping[UUID, float]) -> tuple[Strengthened, ...]:
    """Return what links weigh now, those whose numbers changed alone: what fires together wires together (Hebb 1949).

    Each walk that wasn't counted by an earlier dream adds η · 1 · 1, since both ends were in the answer, and a replay
    of both ends η · φ_i · φ_j. How many walks were counted is told by the confidence, which each of them raises.

    Args:
        links: Those that were drawn, with all their traversals.
        activity: φ of the memories that are replayed together, in [0, 1].
    """
    changed = []
    for link in links:
        walks = min(link.traversals, WALKS)
        gain = max(0, walks - _walks(link.confidence)) + activity.get(link.source, 0.0) * activity.get(link.target, 0.0)
        weight = min(link.weight + RATE * gain, 1.0)
        confidence = max(link.confidence, _confidence(walks))
        if weight > link.weight or confidence > link.confidence:
            changed.append(Strengthened(link.step, max(weight, link.weight), confidence))
    return tuple(changed)


def shortcuts(
    paths: Iterable[tuple[tuple[Step, ...], int]], links: Iterable[Link], changed: Iterable[Strengthened] = ()
) -> tuple[Shortcut, ...]:
    """Return a link from end to end of each path that was walked often enough, if there is none between them yet.

    A path and the way back are one. It gets its direction from the links on it, and is causal if all of them are and
    point along it. Of several paths between the same ends the strongest counts. A path over a link that isn't stored
    gets no shortcut: one end was erased, or it is the step between two turns of a session, whose confidence of .5
    nothing ever raises, and a shortcut is no surer than the least sure link on its path.

    Args:
        paths: The steps of whole paths that were shown as answers, in the order of the path, and how often.
        links: All that are stored between the memories on them.
        changed: What this dream has strengthened among the links.
    """
    known = {link.step: (link.weight, link.confidence) for link in links}
    joined = {frozenset((step.source, step.target)) for step in known}
    known |= {change.step: (change.weight, change.confidence) for change in changed}
    best: dict[frozenset[UUID], Shortcut] = {}
    for steps, times in _routes(paths).items():
        memories = _memories(steps)
        ends = frozenset((memories[0], memories[-1]))
        if times < SHORTCUT_WALKS or ends in joined or not known.keys() >= {*steps}:
            continue
        weights, confidences = zip(*(known[step] for step in steps), strict=True)
        if min(confidences) < SHORTCUT_CONFIDENCE:
            continue
        relation = CAUSAL_SHORTCUT if _is_causal(steps, memories) else SHORTCUT
        found = Shortcut(Step(memories[0], memories[-1], relation), prod(weights), min(confidences), memories[1:-1])
        if ends not in best or _rank(found) < _rank(best[ends]):
            best[ends] = found
    return tuple(sorted(best.values(), key=_rank))


def patterns(survey: Survey, run: UUID, limit: int = PATTERNS) -> tuple[PatternDiscovered, ...]:
    """Return the most confident goals of a survey as patterns; what leads without being large enough is none."""
    large = [goal for goal in survey.goals if len(goal.members) >= MIN_SIZE]
    return tuple(pattern_of(goal, run) for goal in large[:limit])


def pattern_of(goal: GoalDiscovered, run: UUID) -> PatternDiscovered:
    """Return a goal as a pattern, with an id of its own."""
    return PatternDiscovered(
        run=run,
        pattern=uuid4(),
        namespace=goal.namespace,
        description=goal.description,
        terms=goal.terms,
        members=goal.members,
        coherence=goal.coherence,
        confidence=goal.confidence,
    )


def _confidence(walks: int) -> float:
    return 1.0 - (1.0 - CONFIDENCE) * DOUBT**walks


def _walks(confidence: float) -> int:
    """Return after how many walks a link has this confidence: the inverse of `_confidence`."""
    doubt = max(1.0 - confidence, 1.0 - _confidence(WALKS))
    return round(log(doubt / (1.0 - CONFIDENCE)) / log(DOUBT))


def _routes(paths: Iterable[tuple[tuple[Step, ...], int]]) -> dict[tuple[Step, ...], int]:
    """Return how often each long path was walked, either way, its steps in the direction in which most of them point.

    Where as many point back it begins at the lesser id: any direction does, if it is the same on every run.
    """
    walked: Counter[tuple[Step, ...]] = Counter()
    for steps, times in paths:
        if len(steps) >= SHORTCUT_HOPS:
            walked[min((steps, steps[::-1]), key=_leaning)] += times
    return walked


def _leaning(steps: tuple[Step, ...]) -> tuple[int, UUID]:
    memories = _memories(steps)
    return -_forward(steps, memories), memories[0]


def _forward(steps: tuple[Step, ...], memories: tuple[UUID, ...]) -> int:
    """Return how many steps point along the path."""
    return sum(step.source == start for step, start in zip(steps, memories, strict=False))


def _is_causal(steps: tuple[Step, ...], memories: tuple[UUID, ...]) -> bool:
    return _forward(steps, memories) == len(steps) and all(
        relation_kind(step.relation) is RelationKind.CAUSAL for step in steps
    )


def _memories(steps: tuple[Step, ...]) -> tuple[UUID, ...]:
    """Return all that a path of two steps or more visits, in order, whichever way each step was walked."""
    first, second = ({step.source, step.target} for step in steps[:2])
    memories = [*(first - second)]
    for step in steps:
        if memories[-1:] not in ([step.source], [step.target]):
            raise ValueError(f"no path leads along {steps}")
        memories.append(step.target if step.source == memories[-1] else step.source)
    return tuple(memories)


def _rank(shortcut: Shortcut) -> tuple[float, Step]:
    return -shortcut.weight, shortcut.step
