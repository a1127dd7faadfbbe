"""Causal clauses by memory, and the memories that were not examined for causes yet."""

from uuid import UUID

import msgspec

from events import vocabulary as ev
from events.storage.log import Envelope
from events.vocabulary.causes import Clause
from events.vocabulary.values import Modality, Mode
from projections.projection import digest_of, is_shredded_memory


class _Before(msgspec.Struct):
    """What a consolidation run has changed, as it was before."""

    clauses: dict[UUID, tuple[Clause, ...]] = msgspec.field(default_factory=dict[UUID, tuple[Clause, ...]])
    """Clauses of the memories in which it found some; none if they had none."""
    unexamined: dict[UUID, str] = msgspec.field(default_factory=dict[UUID, str])
    """Namespaces of the memories that it was the first to examine."""


class CausalClauses:
    """The causal clauses that memories state, with the embeddings of their phrases.

    What a consolidation run found is taken back with the run, so that questions about causes are answered as before. A
    run of mode `link` leaves its memories examined: otherwise the next examination would draw its edges again.
    """

    _clauses: dict[UUID, tuple[Clause, ...]]
    _unexamined: dict[UUID, str]
    """Namespaces of memories that are not examined, in the order of storage. Code states no causes."""
    _before: dict[UUID, _Before]
    """By run."""

    def __init__(self) -> None:
        self._clauses = {}
        self._unexamined = {}
        self._before = {}
        self.replaced = 0
        """Number of times that clauses were removed or replaced since the start, for caches of what is derived."""

    def apply(self, envelope: Envelope) -> None:
        """Fold the next event of the log; shredded clauses are those of an erased memory."""
        match envelope.event:
            case ev.MemoryStored(namespace=namespace, modality=modality) if modality is not Modality.CODE:
                self._unexamined[envelope.id] = namespace
            case ev.CausalClausesFound(memory=memory, clauses=clauses):
                self._find(memory, clauses, envelope.correlation_id)
            case ev.CausesLinked(examined=examined):
                self._examine(examined, envelope.correlation_id)
            case ev.ConsolidationStarted(run=run, mode=mode) if mode is not Mode.LINK:
                self._before[run] = _Before()
            case ev.ConsolidationFinished(run=run):
                if self._before.get(run) == _Before():
                    del self._before[run]
            case ev.ConsolidationUndone(run=run, memories=()):
                self._undo(run)
            case ev.MemoriesMoved(memories=memories, target=target):
                for waiting in (self._unexamined, *(before.unexamined for before in self._before.values())):
                    waiting.update((one, target) for one in memories if one in waiting)
            case ev.MemoryErased(memory=memory):
                self._forget(memory)
            case event if is_shredded_memory(event):
                self._forget(envelope.id)
            case _:
                pass

    def of(self, memory: UUID) -> tuple[Clause, ...]:
        """Return the clauses of a memory."""
        return self._clauses.get(memory, ())

    def all(self) -> dict[UUID, tuple[Clause, ...]]:
        """Return the clauses of all memories that state any."""
        return self._clauses

    def unexamined(self, namespace: str | None = None) -> tuple[UUID, ...]:
        """Return the memories of a namespace, or of all, that are not examined, in the order of storage."""
        return tuple(memory for memory, where in self._unexamined.items() if namespace in {None, where})

    def digest(self) -> bytes:
        """Return the SHA-256 of all clauses, of the memories that are not examined, and of what runs changed."""
        # All that a run found may be erased since.
        before = {run: msgspec.structs.asdict(one) for run, one in self._before.items() if one != _Before()}
        return digest_of(self._clauses, self._unexamined, before)

    def _find(self, memory: UUID, clauses: tuple[Clause, ...], run: UUID) -> None:
        """Set the clauses of a memory; those of an earlier run are not taken back with that run any more."""
        if memory in self._clauses:
            self.replaced += 1
            for other, before in self._before.items():
                if other != run:
                    before.clauses.pop(memory, None)
        if (before := self._before.get(run)) is not None:
            before.clauses.setdefault(memory, self._clauses.get(memory, ()))
        self._clauses[memory] = clauses

    def _examine(self, memories: tuple[UUID, ...], run: UUID) -> None:
        before = self._before.get(run)
        for memory in memories:
            namespace = self._unexamined.pop(memory, None)
            if namespace is None:  # two runs examined it at once: it stays examined when the first one is undone
                for other in self._before.values():
                    other.unexamined.pop(memory, None)
            elif before is not None:
                before.unexamined[memory] = namespace

    def _undo(self, run: UUID) -> None:
        before = self._before.pop(run, _Before())
        self._unexamined = before.unexamined | self._unexamined
        for memory, clauses in before.clauses.items():
            self._remove(memory)
            if clauses:
                self._clauses[memory] = clauses

    def _forget(self, memory: UUID) -> None:
        self._remove(memory)
        self._unexamined.pop(memory, None)
        for before in self._before.values():
            before.clauses.pop(memory, None)
            before.unexamined.pop(memory, None)

    def _remove(self, memory: UUID) -> None:
        self.replaced += self._clauses.pop(memory, None) is not None
