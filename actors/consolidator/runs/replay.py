"""Replay during a dream: which memories are replayed, which links are strengthened, which shortcuts are added.

No link is ever weakened: an explicit link holds until it is removed, however long nothing traverses it.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import log, prod
from typing import Final
from uuid import UUID

from actors.consolidator.judgement.salience import FULL_ACCESSES
from events.vocabulary.values import Shortcut, Step, Strengthened
from projections.graph.relations import CAUSAL_SHORTCUT, CONFIDENCE, SHORTCUT, Link, RelationKind, relation_kind
from projections.mind.workspace import FadedMemory

MAX_REPLAYS: Final = 100

LEARNING_RATE: Final = 0.01
"""η of Hebb's rule: gain in weight of a link when both ends are fully active."""

DOUBT: Final = 0.8
"""Share of the doubt in a link that a traversal leaves: its confidence passes .7 after three, .83 after five."""

MAX_WALKS: Final = 100
"""Traversals of one link that count. By then its weight is 1, and its doubt is below the precision of a float."""

SHORTCUT_HOPS: Final = 3
SHORTCUT_WALKS: Final = 5
SHORTCUT_CONFIDENCE: Final = 0.7
"""Least length of a path, its traversals, and the confidence of each of its links, for a shortcut."""

Path = tuple[Step, ...]


def select_replays(faded: Sequence[FadedMemory], recalls: Mapping[UUID, int]) -> dict[UUID, float]:
    """Return the memories to replay, in order, and the activity of each, in [0, 1].

    Faded memories come first, by .8 · recency + .2 · order parameter, with the activity they had when they left the
    workspace. The most often recalled ones follow, fully active from ten recalls on.

    `faded` is the queue of the workspace, the oldest first, whose last one has a recency of 1; `recalls` is the number
    of answers that contained each memory.
    """
    scores = {
        fading.memory: 0.8 * place / len(faded) + 0.2 * fading.order for place, fading in enumerate(faded, start=1)
    }
    activity = {fading.memory: fading.order for fading in faded}
    recalled = sorted((memory for memory, times in recalls.items() if times > 0), key=lambda one: (-recalls[one], one))
    order = dict.fromkeys([*sorted(scores, key=lambda one: (-scores[one], one)), *recalled])
    return {
        memory: activity[memory] if memory in activity else min(recalls[memory] / FULL_ACCESSES, 1.0)
        for memory in [*order][:MAX_REPLAYS]
    }


def strengthen_links(links: Iterable[Link], activity: Mapping[UUID, float]) -> tuple[Strengthened, ...]:
    """Return the links whose weight or confidence grows by Hebbian learning (Hebb 1949).

    Each traversal since the last dream adds η, since both ends were in the answer; a replay of both ends adds
    η · φ_i · φ_j. The confidence of a link tells how many traversals earlier dreams counted.

    `links` are explicit ones, with all their traversals; `activity` is φ of the memories that are replayed, in [0, 1].
    """
    changed = []
    for link in links:
        walks = min(link.traversals, MAX_WALKS)
        gain = max(0, walks - _walks(link.confidence)) + activity.get(link.source, 0.0) * activity.get(link.target, 0.0)
        weight = min(link.weight + LEARNING_RATE * gain, 1.0)
        confidence = max(link.confidence, _confidence(walks))
        if weight > link.weight or confidence > link.confidence:
            changed.append(Strengthened(link.step, max(weight, link.weight), confidence))
    return tuple(changed)


def derive_shortcuts(
    paths: Iterable[tuple[Path, int]], links: Iterable[Link], changed: Iterable[Strengthened] = ()
) -> tuple[Shortcut, ...]:
    """Return a link between the ends of each path that was traversed often enough, unless they are linked already.

    A path and its reverse count together. The shortcut takes its direction from the links of the path, and is causal if
    all of them are and point along it. Of several paths between the same ends the strongest wins. A path over a link
    that is not stored gets no shortcut: one end was erased, or it is the step between two turns of a session, whose
    confidence stays at .5.

    `paths` have their traversals in answers; `links` are all stored ones between the memories on them, of which this
    dream strengthens the `changed` ones.
    """
    known = {link.step: (link.weight, link.confidence) for link in links}
    linked = {frozenset((step.source, step.target)) for step in known}
    known |= {change.step: (change.weight, change.confidence) for change in changed}
    best: dict[frozenset[UUID], Shortcut] = {}
    for steps, times in _count_routes(paths).items():
        memories = _memories(steps)
        ends = frozenset((memories[0], memories[-1]))
        if times < SHORTCUT_WALKS or ends in linked or not known.keys() >= {*steps}:
            continue
        weights, confidences = zip(*(known[step] for step in steps), strict=True)
        if min(confidences) < SHORTCUT_CONFIDENCE:
            continue
        relation = CAUSAL_SHORTCUT if _is_causal(steps, memories) else SHORTCUT
        found = Shortcut(Step(memories[0], memories[-1], relation), prod(weights), min(confidences), memories[1:-1])
        if ends not in best or _rank(found) < _rank(best[ends]):
            best[ends] = found
    return tuple(sorted(best.values(), key=_rank))


def _confidence(walks: int) -> float:
    return 1.0 - (1.0 - CONFIDENCE) * DOUBT**walks


def _walks(confidence: float) -> int:
    """Return the number of traversals that leads to a confidence: the inverse of `_confidence`."""
    doubt = max(1.0 - confidence, 1.0 - _confidence(MAX_WALKS))
    return round(log(doubt / (1.0 - CONFIDENCE)) / log(DOUBT))


def _count_routes(paths: Iterable[tuple[Path, int]]) -> Counter[Path]:
    """Return the traversals of each long path in either direction, written in the direction of most of its steps.

    A tie is broken by the lesser id, so that equal paths are equal on every run.
    """
    routes: Counter[Path] = Counter()
    for steps, times in paths:
        if len(steps) >= SHORTCUT_HOPS:
            routes[min((steps, steps[::-1]), key=_direction)] += times
    return routes


def _direction(steps: Path) -> tuple[int, UUID]:
    memories = _memories(steps)
    return -_count_forward(steps, memories), memories[0]


def _count_forward(steps: Path, memories: tuple[UUID, ...]) -> int:
    """Return the number of steps that point along the path."""
    return sum(step.source == start for step, start in zip(steps, memories, strict=False))


def _is_causal(steps: Path, memories: tuple[UUID, ...]) -> bool:
    return _count_forward(steps, memories) == len(steps) and all(
        relation_kind(step.relation) is RelationKind.CAUSAL for step in steps
    )


def _memories(steps: Path) -> tuple[UUID, ...]:
    """Return the memories on a path of two steps or more, in order, whichever way each step was traversed."""
    first, second = ({step.source, step.target} for step in steps[:2])
    memories = [*(first - second)]
    for step in steps:
        if memories[-1:] not in ([step.source], [step.target]):
            raise ValueError(f"no path leads along {steps}")
        memories.append(step.target if step.source == memories[-1] else step.source)
    return tuple(memories)


def _rank(shortcut: Shortcut) -> tuple[float, Step]:
    return -shortcut.weight, shortcut.step
