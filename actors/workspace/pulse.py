"""The pulse: the state of learning that every answer reports, and the action that it suggests."""

from collections import Counter

from actors.runtime.faults import Fault
from actors.store.messages import RequestResult
from actors.workspace.learning import learning_score
from actors.workspace.messages import IngestResult, Pulse
from events.vocabulary import MemoryStored
from events.vocabulary.values import Learning, Quadrant
from projections.mind.johari import ACTIONS, classify

EMPTY = (1.0, 0.0, learning_score(1.0, 0.0, 1.0, 0.0))
"""Entropy, coherence and learning score of an empty store."""

MIN_DREAMT = 5
"""Memories that no dream has seen yet from which on one is suggested: fewer make no pattern that a dream records."""


def pulse_of(learning: Learning | None, undreamt: int) -> Pulse:
    """Return the state that is reported with every answer, and the action that its Johari window suggests.

    High entropy with low coherence is Blind, which suggests a dream (TOOL-INJECT-001/pulse/trigger-dream), or, where
    too few memories are left for one, to ask and to store more.

    `learning` is that of the latest memory; `undreamt` is the number of memories that no dream has seen yet.
    """
    entropy, coherence, score = EMPTY
    if learning is not None:
        entropy, coherence, score = learning.entropy, learning.coherence, learning.learning_score
    quadrant = classify(entropy, coherence).quadrant
    action = ACTIONS[quadrant]
    if quadrant is Quadrant.BLIND and undreamt < MIN_DREAMT:
        action = ACTIONS[Quadrant.UNKNOWN]
    return Pulse(
        entropy=round(entropy, 4),
        coherence=round(coherence, 4),
        learning_score=round(score, 4),
        quadrant=quadrant.value,
        suggested_action=action,
    )


def ingest_result(result: RequestResult | Fault, undreamt: Counter[str]) -> IngestResult | Fault:
    """Add the pulse to the store's answer, and count the memory; runs in the store's thread."""
    if isinstance(result, Fault):
        return result
    event = result.events[0].event
    if not isinstance(event, MemoryStored):
        return IngestResult(result=result, pulse=None)
    undreamt[event.namespace] += not result.repeated
    return IngestResult(result=result, pulse=pulse_of(event.learning, undreamt[event.namespace]))
