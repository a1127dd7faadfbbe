"""The workspace: judges what arrives, attends to what is asked and stored, and keeps the pulse."""

from __future__ import annotations

from collections import OrderedDict, deque
from contextlib import suppress
from threading import Timer
from time import monotonic
from typing import TYPE_CHECKING, Any, assert_never
from uuid import UUID, uuid4

import msgspec
import numpy as np
import numpy.typing as npt
import pykka

from actors.comparator.messages import FindNeighbours, Neighbours, NewMemory, Resonances, Resonate
from actors.runtime.faults import Fault, NotFoundFault
from actors.runtime.messages import Appended, AppendRejected, LoadSnapshot, ReadDigest, WriteNextSlice, WriteSnapshot
from actors.runtime.projection_actor import ProjectionActor
from actors.runtime.reply import Reply
from actors.store.messages import Append
from actors.workspace import focus as turns
from actors.workspace.attention import settle
from actors.workspace.emotion import emotional_weight
from actors.workspace.focus import Turn
from actors.workspace.johari import ACTIONS, classify, rows
from actors.workspace.kuramoto import order_parameters
from actors.workspace.learning import judge, learning_score
from actors.workspace.messages import (
    Ask,
    Attention,
    Broadcast,
    CountIgnitions,
    Judge,
    Judgement,
    Pulse,
    ReadAttention,
    ReadPulse,
    SetCoupling,
    WorkspaceMessage,
)
from events.vocabulary import CouplingAdjusted, Event, FocusMoved, MemoryStored
from events.vocabulary.values import WIDTH, Resonance
from projections.registry import WorkspaceProjections

if TYPE_CHECKING:
    from actors.runtime.metrics import Latencies
    from events.storage.log import Envelope
    from projections.mind.learner import Learner
    from projections.mind.workspace import WorkspaceState

TIMEOUT = 30.0
"""Seconds that the comparator may take to answer."""

EMPTY = (1.0, 0.0, learning_score(1.0, 0.0, 1.0, 0.0))
"""Entropy, coherence and learning score before anything is known: all is news, nothing ties in."""

UNCLAIMED = 128
"""Judgements that may wait for their memory to be stored; whoever gave up leaves one behind."""

PAUSE = 0.12
"""Seconds of quiet before the workspace turns to what it noticed: the answer that it came with leaves first, and nobody
who stores or asks in a row waits for it. The commits of a batch come 60 to 90 ms apart: turning to each of them took
5 % more of the processor."""

LONGEST = 0.5
"""Seconds after which it turns to what it noticed even though there is no quiet."""


class Attend(msgspec.Struct, frozen=True):
    """Told by the workspace to itself, after a pause: turn to what was noticed."""


def pulse(entropy: float, coherence: float, score: float) -> Pulse:
    """Return the state that goes with every answer, with the action that its Johari window suggests.

    High entropy with low coherence is Blind, which suggests a dream (seed 004: above .7 and below .4).
    """
    quadrant = classify(entropy, coherence).quadrant
    return Pulse(
        entropy=round(entropy, 4),
        coherence=round(coherence, 4),
        learning_score=round(score, 4),
        quadrant=quadrant.value,
        suggested_action=ACTIONS[quadrant],
    )


class Workspace(ProjectionActor[WorkspaceProjections]):
    """Owns the `WorkspaceState` and the `Learner`.

    What it decides becomes true when it comes back from the log. Until then it doesn't turn to anything else, so that
    no decision rests on a state that another one has already changed.
    """

    def __init__(self, comparator: pykka.ActorRef[Any], store: pykka.ActorRef[Any], latencies: Latencies) -> None:
        super().__init__(WorkspaceProjections())
        self._comparator = comparator
        self._store = store
        self._latencies = latencies
        self._judged: OrderedDict[UUID, tuple[UUID, ...]] = OrderedDict()
        self._turns: deque[Turn] = deque()
        self._under_way: tuple[UUID, Turn] | None = None
        self._reminder: Timer | None = None
        self._noticed = self._restless_since = 0.0

    @property
    def _state(self) -> WorkspaceState:
        return self._projections.workspace

    @property
    def _learner(self) -> Learner:
        return self._projections.learner

    def on_stop(self) -> None:
        """Leave no timer behind."""
        if self._reminder is not None:
            self._reminder.cancel()
            self._reminder.join()

    def on_receive(self, message: WorkspaceMessage | Attend) -> Any:
        """Route a message."""
        match message:
            case Judge(new=new):
                with self._latencies.timed("judge"):
                    return self._judge(new)
            case Ask():
                return self._notice(turns.question(message))
            case Broadcast() | SetCoupling() | ReadAttention():
                future: Reply[Attention] = Reply()
                self._turns.append(turns.commanded(message, future))
                self._attend()
                return future
            case Attend():
                return self._reminded()
            case CountIgnitions():
                return dict(self._state.ignitions)
            case ReadPulse():
                last = self._learner.last
                return pulse(*EMPTY) if last is None else pulse(last.entropy, last.coherence, last.learning_score)
            case Appended(envelopes=envelopes):
                return self._appended(envelopes)
            case AppendRejected(correlations=correlations):
                return self._refused(correlations)
            case ReadDigest() | WriteSnapshot() | WriteNextSlice() | LoadSnapshot():
                return self._on_projection_message(message)
            case _:
                assert_never(message)

    def _judge(self, new: tuple[NewMemory, ...]) -> tuple[Judgement | Fault, ...]:
        found: tuple[Neighbours | Fault, ...] = self._asked(FindNeighbours(new=new))
        return tuple(
            near if isinstance(near, Fault) else self._judgement(one, near)
            for one, near in zip(new, found, strict=True)
        )

    def _judgement(self, new: NewMemory, near: Neighbours) -> Judgement:
        learning = judge(near.similarities, emotional_weight(new.content))
        foreseen = self._learner.foresee(learning.entropy, learning.coherence)
        self._judged[new.id] = near.nearest
        if len(self._judged) > UNCLAIMED:
            self._judged.popitem(last=False)
        return Judgement(
            purpose=near.purpose,
            north_star=near.north_star,
            johari=rows(learning.delta_s, learning.delta_c),
            learning=msgspec.structs.replace(learning, usefulness=foreseen),
            causes=near.causes,
            effects=near.effects,
        )

    def _asked(self, message: FindNeighbours | Resonate) -> Any:
        return self._comparator.ask(message, timeout=TIMEOUT)

    def _appended(self, envelopes: tuple[Envelope, ...]) -> None:
        """Fold what happened; what was judged here and is stored now is the new focus."""
        for envelope in envelopes:
            self._apply(envelope)
        if self._under_way is not None and any(envelope.correlation_id == self._under_way[0] for envelope in envelopes):
            _, turn = self._under_way
            self._under_way = None
            turn.answer(self._attention())
            self._attend()
        for envelope in envelopes:
            near = self._judged.pop(envelope.id, None)
            if near is not None and isinstance(envelope.event, MemoryStored):
                self._notice(turns.beside(envelope.id, envelope.event.namespace, near))

    def _refused(self, correlations: tuple[UUID, ...]) -> None:
        """Let go of what was decided and can't be written; whoever waits for it is told."""
        if self._under_way is not None and self._under_way[0] in correlations:
            _, turn = self._under_way
            self._under_way = None
            turn.refuse()
            self._attend()

    def _notice(self, turn: Turn) -> None:
        """Turn to something soon. Attention moves on: what was noticed before and not attended to makes way."""
        self._turns = deque(waiting for waiting in self._turns if waiting.reply is not None)
        self._turns.append(turn)
        self._noticed = monotonic()
        if self._reminder is None:
            self._restless_since = self._noticed
            self._arm(PAUSE)

    def _arm(self, seconds: float) -> None:
        self._reminder = Timer(seconds, self._remind)
        self._reminder.daemon = True
        self._reminder.start()

    def _remind(self) -> None:
        """Runs in the timer's thread."""
        with suppress(pykka.ActorDeadError):
            self.actor_ref.tell(Attend())

    def _reminded(self) -> None:
        """Turn to what was noticed, unless more came since and patience isn't at its end."""
        self._reminder = None
        left = min(self._noticed + PAUSE, self._restless_since + LONGEST) - monotonic()
        if left > 0:
            self._arm(left)
        else:
            self._attend()

    def _attend(self) -> None:
        """Take what waits longest, unless something is under way."""
        while self._under_way is None and self._turns:
            turn = self._turns.popleft()
            try:
                with self._latencies.timed("focus"):
                    events = self._decided(turn)
            except NotFoundFault:  # the memory was deleted before its turn came
                turn.fail()
                continue
            if not events:
                turn.answer(self._attention())
                continue
            first, *consequences = events
            correlation = uuid4()
            wanted = Append(
                id=uuid4(),
                event=first,
                consequences=tuple(consequences),
                actor="workspace",
                correlation_id=correlation,
            )
            try:
                self._store.tell(wanted)
            except pykka.ActorDeadError:  # the log is closed, and the process about to end
                return
            self._under_way = correlation, turn

    def _decided(self, turn: Turn) -> list[Event]:
        """Return what happens when the workspace turns to something."""
        if turn.coupling is not None:
            return self._coupled(turn.coupling)
        return [] if turn.focus is None else self._focused(turn.focus, force=turn.force)

    def _focused(self, wanted: Resonate, *, force: bool) -> list[Event]:
        """Measure how memories agree with a focus, and decide what enters and leaves."""
        seen = dict.fromkeys((*wanted.memories, *self._state.ignited))
        found: Resonances = self._asked(msgspec.structs.replace(wanted, memories=tuple(seen)))
        subject = wanted.focus if isinstance(wanted.focus, UUID) else None
        focus = FocusMoved(subject=subject, namespace=wanted.namespace, coupling=self._state.coupling, candidates=())
        return self._moved(focus, found.memories, found.scores, subject if force else None)

    def _coupled(self, coupling: float) -> list[Event]:
        """Measure again what the last focus found; of anything else nobody knows how it would be now, and it leaves."""
        adjusted = CouplingAdjusted(previous=self._state.coupling, coupling=coupling)
        focus = self._state.focus
        if focus is None:  # its subject was erased, or there was none yet
            return [adjusted, *settle(self._state, {}, alone=True)]
        memories = tuple(candidate.memory for candidate in focus.candidates)
        scores = np.array([np.frombuffer(candidate.scores, "<f4") for candidate in focus.candidates])
        again = msgspec.structs.replace(focus, coupling=coupling)
        return [adjusted, *self._moved(again, memories, scores.reshape(-1, WIDTH), alone=True)]

    def _moved(
        self,
        focus: FocusMoved,
        memories: tuple[UUID, ...],
        scores: npt.NDArray[np.float32],
        forced: UUID | None = None,
        *,
        alone: bool = False,
    ) -> list[Event]:
        """Let the oscillators run, and return the focus with what it measured, and what follows for the workspace."""
        orders = order_parameters(scores, focus.coupling)
        candidates = tuple(
            Resonance(memories[place], scores[place].astype("<f4").tobytes(), float(orders[place]))
            for place in np.argsort(-orders, kind="stable").tolist()
        )
        measured = dict(zip(memories, orders.tolist(), strict=True))
        moved = msgspec.structs.replace(focus, candidates=candidates)
        return [moved, *settle(self._state, measured, forced, alone=alone)]

    def _attention(self) -> Attention:
        state, learner = self._state, self._learner
        return Attention(
            coupling=state.coupling,
            focus=state.focus,
            focused_at=state.focused_at,
            ignited=tuple(state.ignited.values()),
            conflict=state.conflict,
            emptied_at=state.emptied_at,
            queued=tuple(state.faded.values()),
            accuracy=learner.accuracy,
            scored=learner.scored,
            interactions=learner.interactions,
            stage=learner.stage.value,
            lambdas=learner.lambdas,
        )
