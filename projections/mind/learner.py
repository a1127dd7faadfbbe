"""Maturity of the store, what was learned last in each namespace, and forecasts of which memories are recalled soon.

A stored memory carries a forecast of its recall (`Learning.usefulness`). A later recall or the end of the horizon
settles it. Settled forecasts improve the next ones, and their errors measure the accuracy.
"""

from collections import Counter
from enum import StrEnum
from hashlib import blake2b
from itertools import islice
from statistics import fmean
from typing import Final
from uuid import UUID

import msgspec
import numpy as np

from events import vocabulary as ev
from events.storage.log import Envelope
from events.vocabulary.values import Learning, Mode, Outcome, Quadrant
from projections.memories.placement import swap_keys
from projections.mind.johari import THRESHOLD
from projections.projection import digest_of, is_shredded_memory
from projections.storage.arrays import Blobs, GrowableArray, Rows, rows_of_ids

HORIZON: Final = 100
"""Interactions after the store within which a recall fulfils a forecast."""
PRIOR: Final = 10
"""Number of settled forecasts that weigh as much as the estimate from entropy and coherence."""
_RECENT: Final = 100
_SMOOTHING: Final = 25
"""Interactions over which the weights of two stages blend."""


class Stage(StrEnum):
    """Maturity of a store: it captures first, then balances, then curates."""

    INFANCY = "Infancy"
    GROWTH = "Growth"
    MATURITY = "Maturity"


_LAMBDA_S: Final = {Stage.INFANCY: 0.7, Stage.GROWTH: 0.5, Stage.MATURITY: 0.3}
"""Weight of entropy in each stage; coherence has the rest to 1."""


def stage_at(interactions: int) -> Stage:
    """Return the stage after this number of stores and recalls: Growth from 50, Maturity from 500."""
    if interactions < 50:
        return Stage.INFANCY
    return Stage.GROWTH if interactions < 500 else Stage.MATURITY


class _Forecast(msgspec.Struct, frozen=True):
    made: int
    """Number of interactions at its store, which is included."""
    window: Quadrant
    predicted: float
    recalled: bool | None = None
    """None until it is settled."""


_encoder = msgspec.msgpack.Encoder(uuid_format="bytes")
_learning_decoder = msgspec.msgpack.Decoder(Learning)


class Learner:
    """Interactions, learning and forecasts of one log.

    An erased memory still counts as an interaction, but its learning and its forecast are removed.
    """

    _interactions: int
    _open: dict[UUID, _Forecast]
    _settled: dict[UUID, _Forecast]
    _dreams: dict[UUID, tuple[int, int]]
    """Of each dream that runs: its namespace, and the number of interactions when it began."""
    _dreamt: dict[int, int]
    """The number of interactions when the latest dream of each namespace began."""

    def __init__(self) -> None:
        self._interactions = 0
        self._learners = GrowableArray(np.uint8, 16)
        """Ids of stored memories in order; zeros once they are erased."""
        self._learnings = Blobs()
        """Their encoded `Learning`; only the last one is ever decoded."""
        self._namespaces = GrowableArray(np.uint64)
        """The hash of the namespace of each, so that erasure leaves no name behind."""
        self._made = GrowableArray(np.int64)
        """The number of interactions at the store of each."""
        self._dreams = {}
        self._dreamt = {}
        self._open = {}
        self._settled = {}
        self._counts: Counter[tuple[Quadrant, bool]] = Counter()
        """Settled forecasts by Johari window and outcome."""

    def apply(self, envelope: Envelope) -> None:
        """Fold the next event of the log."""
        match envelope.event:
            case ev.MemoryStored() as stored:
                self._count_interaction()
                self._learn(envelope.id, stored)
            case ev.MemoryRecalled(memories=memories):
                self._count_interaction()
                for memory in memories:
                    self._settle(memory, recalled=True)
            case ev.MemoryForgotten(memory=memory):
                self._open.pop(memory, None)
            case ev.MemoriesMoved(memories=memories, source=source, target=target):
                self._namespaces.array[rows_of_ids(self._learners, memories)] = _hash(target)
                if envelope.event.renamed:
                    swap_keys(self._dreamt, _hash(source), _hash(target))
            case ev.MemoryErased(memory=memory):
                self._erase(memory)
            case ev.ConsolidationStarted(run=run, mode=Mode.REM | Mode.DREAM, dry_run=False, namespace=namespace):
                self._dreams[run] = _hash(namespace), self._interactions
            case ev.ConsolidationFinished(run=run, outcome=outcome) if run in self._dreams:
                namespace, seen = self._dreams.pop(run)
                if outcome is Outcome.FINISHED:
                    self._dreamt[namespace] = seen
            case event if is_shredded_memory(event):
                self._count_interaction()
            case _:
                pass

    @property
    def interactions(self) -> int:
        """Number of stored memories and of answers that recalled some."""
        return self._interactions

    @property
    def stage(self) -> Stage:
        """The current stage."""
        return stage_at(self._interactions)

    @property
    def lambdas(self) -> tuple[float, float]:
        """Current weights of entropy and coherence, in sum 1: the mean over the last `_SMOOTHING` interactions."""
        latest = range(max(0, self._interactions - _SMOOTHING + 1), self._interactions + 1)
        lambda_s = fmean(_LAMBDA_S[stage_at(count)] for count in latest)
        return lambda_s, 1.0 - lambda_s

    def last(self, namespace: str | None = None) -> Learning | None:
        """Return the learning of the latest memory of a namespace (of all if None) that isn't erased."""
        left = self._rows(namespace)
        return _learning_decoder.decode(self._learnings.at(int(left[-1]))) if len(left) else None

    def undreamt(self, namespace: str | None) -> int:
        """Return the number of memories of a namespace (of all if None) that no dream has seen yet."""
        rows = self._rows(namespace)
        left, made = self._namespaces.array[rows], self._made.array[rows]
        seen = np.zeros(len(rows), np.bool_)
        for code, interactions in self._dreamt.items():
            seen |= (made <= interactions) & ((left == code) | (code == _hash(None)))
        return int(np.count_nonzero(~seen))

    def predict(self, entropy: float, coherence: float) -> float:
        """Return the probability that a memory with these values is recalled within the horizon.

        (PRIOR · (λ_S · entropy + λ_C · coherence) + recalled) / (PRIOR + settled), where the latter two count the
        settled forecasts of the same Johari window.
        """
        lambda_s, lambda_c = self.lambdas
        window = _window(entropy, coherence)
        recalled, missed = self._counts[window, True], self._counts[window, False]
        return (PRIOR * (lambda_s * entropy + lambda_c * coherence) + recalled) / (PRIOR + recalled + missed)

    @property
    def settled(self) -> int:
        """Number of settled forecasts."""
        return len(self._settled)

    @property
    def expected_accuracy(self) -> float | None:
        """What `accuracy` will be if the open forecasts are right: the mean of p² + (1 - p)²; None without any."""
        open_ = self._open.values()
        return fmean(one.predicted**2 + (1.0 - one.predicted) ** 2 for one in open_) if open_ else None

    @property
    def accuracy(self) -> float | None:
        """1 minus the mean error of the latest settled forecasts, in [0, 1]; None before there is any."""
        if not self._settled:
            return None
        latest = islice(reversed(self._settled.values()), _RECENT)
        return 1.0 - fmean(abs(forecast.predicted - bool(forecast.recalled)) for forecast in latest)

    def digest(self) -> bytes:
        """Return the SHA-256 of interactions, forecasts and learning, in log order."""
        left = np.flatnonzero(self._learnings.lengths)
        forecasts = _encoder.encode((self._interactions, self._open, self._settled))
        dreams = _encoder.encode((self._dreams, sorted(self._dreamt.items())))
        columns = [column.array[left] for column in (self._namespaces, self._made, self._learners)]
        return digest_of(forecasts, dreams, *columns, self._learnings.concatenated())

    def after_load(self) -> None:
        """Derive what a snapshot leaves out."""
        settled = self._settled.values()
        self._counts = Counter((forecast.window, bool(forecast.recalled)) for forecast in settled)

    def _count_interaction(self) -> None:
        """Count an interaction, and settle the forecasts whose horizon ended with the one before as missed."""
        self._interactions += 1
        while self._open:
            memory, oldest = next(iter(self._open.items()))
            if self._interactions - oldest.made <= HORIZON:
                break
            self._settle(memory, recalled=False)

    def _rows(self, namespace: str | None) -> Rows:
        """Return the rows of a namespace (all if None) that aren't erased, ascending."""
        left = self._learnings.lengths > 0
        return np.flatnonzero(left if namespace is None else left & (self._namespaces.array == _hash(namespace)))

    def _learn(self, memory: UUID, stored: ev.MemoryStored) -> None:
        learning = stored.learning
        self._learners.append(np.frombuffer(memory.bytes, np.uint8))
        self._learnings.append(_encoder.encode(learning))
        self._namespaces.append(_hash(stored.namespace))
        self._made.append(self._interactions)
        if learning.usefulness is not None:
            window = _window(learning.entropy, learning.coherence)
            self._open[memory] = _Forecast(self._interactions, window, learning.usefulness)

    def _settle(self, memory: UUID, *, recalled: bool) -> None:
        forecast = self._open.pop(memory, None)
        if forecast is not None:
            self._settled[memory] = msgspec.structs.replace(forecast, recalled=recalled)
            self._counts[forecast.window, recalled] += 1

    def _erase(self, memory: UUID) -> None:
        for row in rows_of_ids(self._learners, [memory]).tolist():
            self._learners.array[row] = self._namespaces.array[row] = self._made.array[row] = 0
            self._learnings.clear(row)
        self._open.pop(memory, None)
        forecast = self._settled.pop(memory, None)
        if forecast is not None:
            self._counts[forecast.window, bool(forecast.recalled)] -= 1


def _hash(namespace: str | None) -> int:
    """Return a number for a namespace; 0 for all of them."""
    return 0 if namespace is None else int.from_bytes(blake2b(namespace.encode(), digest_size=8).digest(), "little")


def _window(entropy: float, coherence: float) -> Quadrant:
    if entropy < THRESHOLD:
        return Quadrant.OPEN if coherence > THRESHOLD else Quadrant.HIDDEN
    return Quadrant.UNKNOWN if coherence > THRESHOLD else Quadrant.BLIND
