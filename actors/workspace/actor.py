"""The workspace: judges what arrives, and keeps the pulse."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never

from actors.base import Actor, resolve
from actors.messages.base import Appended
from actors.messages.comparator import FindNeighbours, Neighbours
from actors.messages.workspace import Judge, Judgement, Pulse, ReadPulse, WorkspaceMessage
from actors.workspace.emotion import emotional_weight
from actors.workspace.johari import ACTIONS, classify, rows
from actors.workspace.learning import judge, learning_score
from actors.workspace.purpose import NEUTRAL
from events.vocabulary import Learning, MemoryStored

if TYPE_CHECKING:
    import pykka

    from actors.metrics import Latencies

TIMEOUT = 30.0
"""Seconds that the comparator may take to find neighbours."""

EMPTY = (1.0, 0.0, learning_score(1.0, 0.0, 1.0, 0.0))
"""Entropy, coherence and learning score before anything is known: all is news, nothing ties in."""


def pulse(entropy: float, coherence: float, score: float) -> Pulse:
    """Return the state that goes with every answer, with the action that its Johari window suggests."""
    quadrant = classify(entropy, coherence).quadrant
    return Pulse(
        entropy=round(entropy, 4),
        coherence=round(coherence, 4),
        learning_score=round(score, 4),
        quadrant=quadrant.value,
        suggested_action=ACTIONS[quadrant],
    )


class Workspace(Actor):
    """Owns the pulse: a fold over what was learned last."""

    def __init__(self, comparator: pykka.ActorRef[Any], latencies: Latencies) -> None:
        super().__init__()
        self._comparator = comparator
        self._latencies = latencies
        self._pulse = pulse(*EMPTY)

    def on_receive(self, message: WorkspaceMessage) -> Any:
        """Route a message."""
        match message:
            case Judge():
                with self._latencies.timed("judge"):
                    return self._judge(message)
            case ReadPulse():
                return self._pulse
            case Appended(envelopes=envelopes):
                for envelope in envelopes:
                    if isinstance(envelope.event, MemoryStored):
                        self._learned(envelope.event.learning)
                return None
            case _:
                assert_never(message)

    def _judge(self, message: Judge) -> Judgement:
        wanted = FindNeighbours(fingerprint=message.fingerprint, namespace=message.namespace)
        neighbours: Neighbours = resolve(self._comparator.ask(wanted, block=False), TIMEOUT)
        learning = judge(neighbours.similarities, emotional_weight(message.content))
        return Judgement(purpose=NEUTRAL, johari=rows(learning.delta_s, learning.delta_c), learning=learning)

    def _learned(self, learning: Learning) -> None:
        self._pulse = pulse(learning.entropy, learning.coherence, learning.learning_score)
