"""What the workspace is asked, and answers."""

from typing import TypeAlias

from actors.messages.base import Appended, Message
from events.fingerprint import Fingerprint
from events.vocabulary import JohariRow, Learning


class Judge(Message, frozen=True, kw_only=True):
    """Judge a memory by its neighbours before it is stored; answers `Judgement`."""

    content: str
    fingerprint: Fingerprint
    namespace: str


class Judgement(Message, frozen=True, kw_only=True):
    """How much a memory teaches, how each space knows it, and what it serves."""

    purpose: tuple[float, ...]
    johari: tuple[JohariRow, ...]
    learning: Learning


class ReadPulse(Message, frozen=True, kw_only=True):
    """Answers the current `Pulse`."""


class Pulse(Message, frozen=True, kw_only=True):
    """The state of learning that goes with every answer (seeds 001 and 004)."""

    entropy: float
    coherence: float
    learning_score: float
    quadrant: str
    suggested_action: str


WorkspaceMessage: TypeAlias = Judge | ReadPulse | Appended
