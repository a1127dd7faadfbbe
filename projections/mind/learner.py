"""The fold that learns: how much has been lived through, and how well usefulness is foretold (facts 5.5 and 5.7).

Whoever stores a memory writes down how likely it will be recalled soon (`Learning.usefulness`). Every later recall
settles such a forecast, and so does the end of its horizon; the settled ones teach the next forecasts and say how far
they can be trusted.
"""

from collections import Counter
from enum import StrEnum
from itertools import islice
from statistics import fmean
from typing import Final
from uuid import UUID

import msgspec
import numpy as np

from events.storage.log import Envelope
from events.vocabulary import MemoryErased, MemoryForgotten, MemoryRecalled, MemoryStored
from events.vocabulary.values import Learning, Quadrant
from projections.projection import digest_of, is_shredded_memory
from projections.storage.arrays import Growing
from projections.storage.blobs import Blobs

HORIZON: Final = 100
"""Interactions after its store within which a memory must be recalled to have been useful soon."""
PRIOR: Final = 10
"""So many settled forecasts weigh as much as what entropy and coherence alone suggest."""
RECENT: Final = 100
"""Settled forecasts that the accuracy looks back on (facts 5.7)."""
SMOOTHING: Final = 25
"""Interactions over which the weights of two stages blend (facts 5.5)."""
THRESHOLD: Final = 0.5
"""Low entropy is below it, high coherence above it (facts 4)."""


class Stage(StrEnum):
    """How far a store has grown up: first it captures, then it balances, at last it curates."""

    INFANCY = "Infancy"
    GROWTH = "Growth"
    MATURITY = "Maturity"


LAMBDA_S: Final = {Stage.INFANCY: 0.7, Stage.GROWTH: 0.5, Stage.MATURITY: 0.3}
"""What entropy weighs in each stage; coherence weighs the rest to 1."""


def stage_at(interactions: int) -> Stage:
    """Return the stage after so many stores and recalls: Growth begins at 50, Maturity at 500."""
    if interactions < 50:
        return Stage.INFANCY
    return Stage.GROWTH if interactions < 500 else Stage.MATURITY


class _Forecast(msgspec.Struct, frozen=True):
    made: int
    """How many interactions there were, its store included."""
    window: Quadrant
    foreseen: float
    recalled: bool | None = None
    """None until it is settled."""


_encoder = msgspec.msgpack.Encoder(uuid_format="bytes")
_learning = msgspec.msgpack.Decoder(Learning)


class Learner:
    """Stage, latest learning and forecasts of one log; every event takes the same short time on average.

    An erased memory still counts as an interaction. Its learning and its forecast are taken back, with what the
    latter had taught, as if they had never been readable: so a later reader of the log knows the same.
    """

    _interactions: int
    _open: dict[UUID, _Forecast]
    _settled: dict[UUID, _Forecast]

    def __init__(self) -> None:
        self._interactions = 0
        self._learners = Growing(np.uint8, 16)
        """The memories that taught something, in the order in which they did; zeros once they are erased."""
        self._learnings = Blobs()
        """What each taught: as bytes, since only the last one is ever read."""
        self._open = {}
        self._settled = {}
        self._counts: Counter[tuple[Quadrant, bool]] = Counter()

    def apply(self, envelope: Envelope) -> None:
        """Take in the next event of the log."""
        match envelope.event:
            case MemoryStored(learning=learning):
                self._interact()
                self._judged(envelope.id, learning)
            case MemoryRecalled(memories=memories):
                self._interact()
                for memory in memories:
                    self._settle(memory, recalled=True)
            case MemoryForgotten(memory=memory):
                self._open.pop(memory, None)
            case MemoryErased(memory=memory):
                self._erase(memory)
            case event if is_shredded_memory(event):
                self._interact()
            case _:
                pass

    @property
    def interactions(self) -> int:
        """How many memories were stored and how many answers recalled some."""
        return self._interactions

    @property
    def stage(self) -> Stage:
        """The stage of life."""
        return stage_at(self._interactions)

    @property
    def lambdas(self) -> tuple[float, float]:
        """What entropy and coherence weigh now, in sum 1: the mean over the last interactions, so that they glide."""
        latest = range(max(0, self._interactions - SMOOTHING + 1), self._interactions + 1)
        lambda_s = fmean(LAMBDA_S[stage_at(count)] for count in latest)
        return lambda_s, 1.0 - lambda_s

    @property
    def last(self) -> Learning | None:
        """What the latest store taught, of all whose memory isn't erased."""
        left = np.flatnonzero(self._learnings.lengths)
        return _learning.decode(self._learnings.at(int(left[-1]))) if len(left) else None

    def foresee(self, entropy: float, coherence: float) -> float:
        """Return how likely a memory judged so will be recalled within the horizon, in [0, 1].

        (PRIOR · (λ_S · entropy + λ_C · coherence) + recalled) / (PRIOR + settled), where the latter two count the
        settled forecasts of the same Johari window.
        """
        lambda_s, lambda_c = self.lambdas
        window = _window(entropy, coherence)
        recalled, missed = self._counts[window, True], self._counts[window, False]
        return (PRIOR * (lambda_s * entropy + lambda_c * coherence) + recalled) / (PRIOR + recalled + missed)

    @property
    def scored(self) -> int:
        """How many forecasts are settled."""
        return len(self._settled)

    @property
    def accuracy(self) -> float | None:
        """1 − the mean error of the latest settled forecasts, in [0, 1]; None before there is any."""
        if not self._settled:
            return None
        latest = islice(reversed(self._settled.values()), RECENT)
        return 1.0 - fmean(abs(forecast.foreseen - bool(forecast.recalled)) for forecast in latest)

    def digest(self) -> bytes:
        """Return the SHA-256 of all that was learned, in the order in which it was."""
        left = np.flatnonzero(self._learnings.lengths)
        forecasts = _encoder.encode((self._interactions, self._open, self._settled))
        return digest_of(forecasts, self._learners.array[left], self._learnings.all())

    def after_load(self) -> None:
        """Derive what a snapshot leaves out."""
        settled = self._settled.values()
        self._counts = Counter((forecast.window, bool(forecast.recalled)) for forecast in settled)

    def _interact(self) -> None:
        """Count one interaction, and settle as missed what was not recalled up to the one before."""
        self._interactions += 1
        while self._open:
            memory, oldest = next(iter(self._open.items()))
            if self._interactions - oldest.made <= HORIZON:
                break
            self._settle(memory, recalled=False)

    def _judged(self, memory: UUID, learning: Learning) -> None:
        self._learners.append(np.frombuffer(memory.bytes, np.uint8))
        self._learnings.append(_encoder.encode(learning))
        if learning.usefulness is not None:
            window = _window(learning.entropy, learning.coherence)
            self._open[memory] = _Forecast(self._interactions, window, learning.usefulness)

    def _settle(self, memory: UUID, *, recalled: bool) -> None:
        forecast = self._open.pop(memory, None)
        if forecast is not None:
            self._settled[memory] = msgspec.structs.replace(forecast, recalled=recalled)
            self._counts[forecast.window, recalled] += 1

    def _erase(self, memory: UUID) -> None:
        for row in np.flatnonzero((self._learners.array == np.frombuffer(memory.bytes, np.uint8)).all(axis=1)).tolist():
            self._learners.array[row] = 0
            self._learnings.clear(row)
        self._open.pop(memory, None)
        forecast = self._settled.pop(memory, None)
        if forecast is not None:
            self._counts[forecast.window, bool(forecast.recalled)] -= 1


def _window(entropy: float, coherence: float) -> Quadrant:
    if entropy < THRESHOLD:
        return Quadrant.OPEN if coherence > THRESHOLD else Quadrant.HIDDEN
    return Quadrant.UNKNOWN if coherence > THRESHOLD else Quadrant.BLIND
