"""The linker actor: extracts causal clauses of stored memories, embeds their phrases, and appends the edges found.

It works after memories are acknowledged, so that storing them takes no longer. It owns no projection.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import assert_never
from uuid import UUID, uuid4

import msgspec
import pykka

from actors.comparator.messages import SURE, FindCauses, ListUnexamined
from actors.embedder.messages import Content, EmbedContent, EmbeddedContent
from actors.linker.messages import ExamineCauses, ExaminedCauses, LinkCauses, LinkerMessage, MemoriesAdded
from actors.runtime.actor import LOGGER, Actor, ActorRef, Debounce
from actors.runtime.ask import MODEL_TIMEOUT, ask_blocking
from actors.runtime.faults import Fault
from actors.runtime.messages import QueryReceived
from actors.runtime.metrics import Latencies
from actors.store.messages import Append, Describe, GoneError
from actors.text.causes.clauses import RULES, causal_clauses, is_first_person, is_statement, tells_event
from actors.text.statements.statement import read_statement
from events.fingerprint import Dense, Sparse, Tokens
from events.spaces import E1, E6, E12
from events.vocabulary import CausalClausesFound, CausesLinked, ConsolidationFinished, ConsolidationStarted, Event
from events.vocabulary.causes import CausalLink, Clause, Phrase
from events.vocabulary.values import Counts, Modality, Mode, Outcome, Span, Trigger
from projections.memories.entries import Body
from projections.projection import MemoryState

QUIET = 0.4
"""Seconds without a store or a query before the background examines, so that it takes no time from a series of them."""
LONGEST = 2.0
"""Seconds after which the background goes on although queries keep coming."""
BATCH = 16
"""Memories whose clauses are extracted and embedded together, and recorded by one commit."""
COMPARED = 2
"""Memories that the comparator compares with all others at once: a search waits for no more."""
UNRECORDED = 256
"""Memories in which nothing was found that are recorded together. A process that ends before examines them again."""


class ExamineNext(msgspec.Struct, frozen=True):
    """Sent by the linker to itself: examine a few of the memories that were added."""


class Linker(Actor):
    """Examines memories for causes and effects."""

    def __init__(self, comparator: ActorRef, store: ActorRef, embedder: ActorRef, latencies: Latencies) -> None:
        super().__init__()
        self._comparator = comparator
        self._store = store
        self._embedder = embedder
        self._latencies = latencies
        self._unrecorded: dict[UUID, None] = {}
        """Memories in which nothing was found and whose examination is not in the log."""
        self._pending: dict[UUID, datetime | None] = {}
        """Memories that were added and not examined yet."""
        self._debounce = Debounce(self.actor_ref, ExamineNext())

    def on_stop(self) -> None:
        """Stop the timer."""
        self._debounce.cancel()

    def on_receive(self, message: LinkerMessage | ExamineNext) -> object:
        """Route a message."""
        match message:
            case MemoriesAdded(memories=memories):
                self._pending |= memories
                self._debounce.trigger(QUIET)
            case QueryReceived():
                if self._pending:
                    self._debounce.trigger(QUIET, LONGEST)
            case ExamineNext():
                if self._debounce.elapsed():
                    self._examine_next()
            case LinkCauses():
                self._link_all(message)
            case ExamineCauses(run=run, namespace=namespace, skip=skip):
                found = self._unexamined(namespace, skip, BATCH)
                return self._examine(run, found) if found else None
            case _:
                assert_never(message)
        return None

    def _examine_next(self) -> None:
        batch = tuple(islice(self._pending, BATCH))
        times = [self._pending.pop(memory) for memory in batch]
        if not batch:
            return
        try:
            imported_at = None if None in times else max(filter(None, times))
            self._record(self._examine(uuid4(), batch), Trigger.STORED, imported_at)
        except pykka.ActorDeadError:  # the hub ends; what is not recorded, the next examination of all repeats
            return
        except Fault as error:
            LOGGER.warning("causes of %d memories are not examined yet: %s", len(batch), error)
            return
        self.actor_ref.tell(ExamineNext())

    def _link_all(self, message: LinkCauses) -> None:
        """Examine the latest memories that are not examined, batch by batch."""
        found = self._unexamined(message.namespace, frozenset(), message.limit)
        for start in range(0, len(found), BATCH):
            self._record(self._examine(uuid4(), found[start : start + BATCH]), Trigger.REQUEST)
        for memory in found:
            self._pending.pop(memory, None)

    def _unexamined(self, namespace: str | None, skip: frozenset[UUID], limit: int) -> tuple[UUID, ...]:
        skip |= self._unrecorded.keys()
        return ask_blocking(self._comparator, ListUnexamined(namespace=namespace, skip=skip, limit=limit))

    def _examine(self, run: UUID, memories: tuple[UUID, ...]) -> ExaminedCauses:
        """Return the clauses and edges of these memories (`Fault`: a phrase can't be embedded)."""
        with self._latencies.timed("causes: examination"):
            entries = ask_blocking(self._store, Describe(memories=memories, own=True))
            texts = {
                entry.id: body
                for entry in entries
                if entry.state is MemoryState.LIVE and (body := entry.body) and body.modality is not Modality.CODE
            }
            clauses = {memory: stated for memory, body in texts.items() if (stated := self._clauses(body))}
            links: list[CausalLink] = []
            for namespace in dict.fromkeys(body.namespace for body in texts.values()):
                wanted = tuple(memory for memory, body in texts.items() if body.namespace == namespace)
                stated = {memory: clauses[memory] for memory in wanted if memory in clauses}
                plain = frozenset(memory for memory in wanted if is_statement(texts[memory].text))
                for start in range(0, len(wanted), COMPARED):
                    portion = wanted[start : start + COMPARED]
                    message = FindCauses(namespace=namespace, memories=portion, clauses=stated, statements=plain)
                    links += self._between_statements(ask_blocking(self._comparator, message))
        return ExaminedCauses(
            clauses=tuple(
                CausalClausesFound(memory=memory, rules=RULES, clauses=stated) for memory, stated in clauses.items()
            ),
            linked=CausesLinked(run=run, examined=memories, links=tuple(_one_way(links))),
        )

    def _between_statements(self, links: Sequence[CausalLink]) -> Iterator[CausalLink]:
        """Yield edges without those whose ends say other than they must.

        Both ends of an edge of E5 are single plain statements. A memory that a phrase joins as a whole tells an event,
        or is a statement that says the same as the phrase; both have a negation or none. One that only resembles the
        phrase and states a cause is left out: its own phrases are compared when it is examined.
        """
        ends = [end for link in links for end in (*_judged(link), link.stated_in) if end]
        entries = ask_blocking(self._store, Describe(memories=tuple(ends))) if ends else ()
        texts = {entry.id: entry.body.text for entry in entries if entry.body}
        for link in links:
            phrase = _joined_phrase(link, texts)
            if all(end in texts and _is_end(link, texts[end], phrase) for end in _judged(link)):
                yield link

    def _clauses(self, body: Body) -> tuple[Clause, ...]:
        found, speaker = causal_clauses(body.text), body.metadata.get("speaker")
        voice = speaker if isinstance(speaker, str) else ""
        spans = dict.fromkeys(span for one in found for span in (one.cause, one.effect))
        contents = {span: Content(body.text[slice(*span)], Modality.TEXT, body.created_at) for span in spans}
        asked = {span: self._embedder.ask(EmbedContent(content=one), block=False) for span, one in contents.items()}
        embedded = {span: reply.get(timeout=MODEL_TIMEOUT) for span, reply in asked.items()}
        phrases = {span: _phrase(body.text, span, one, voice) for span, one in embedded.items()}
        return tuple(Clause(one.connective, phrases[one.cause], phrases[one.effect]) for one in found)

    def _record(self, found: ExaminedCauses, trigger: Trigger, at: datetime | None = None) -> None:
        """Append what was found, without what concerns memories that were deleted meanwhile.

        Causes of imported memories bear the time of these, so that later parts of the import can keep their times.
        """
        self._unrecorded |= dict.fromkeys(found.linked.examined)
        if not found.clauses and not found.linked.links and len(self._unrecorded) < UNRECORDED:
            return
        while True:
            found = msgspec.structs.replace(
                found, linked=msgspec.structs.replace(found.linked, examined=tuple(self._unrecorded))
            )
            events = _run_events(found, trigger) if found.linked.links else (*found.clauses, found.linked)
            try:
                ask_blocking(self._store, Append.of(events, "linker", found.linked.run, found.required, at))
            except GoneError as error:
                found = found.without({*error.memories})
            else:
                break
        self._unrecorded.clear()


def _one_way(links: Sequence[CausalLink]) -> Iterator[CausalLink]:
    """Yield the strongest edge between each two memories."""
    best: dict[frozenset[UUID], CausalLink] = {}
    for link in links:
        ends = frozenset({link.source, link.target})
        if ends not in best or link.weight > best[ends].weight:
            best[ends] = link
    yield from best.values()


def _judged(link: CausalLink) -> tuple[UUID, ...]:
    """Return the ends of an edge whose texts are judged."""
    if link.stated_in is None:
        return link.source, link.target
    if link.joined is not None:
        return ()
    return (link.target if link.stated_in == link.source else link.source,)


def _joined_phrase(link: CausalLink, texts: Mapping[UUID, str]) -> str:
    """Return the phrase by which an edge joins its other end; empty for an edge of E5."""
    span = link.effect if link.source == link.stated_in else link.cause
    return texts.get(link.stated_in, "")[slice(*span)] if link.stated_in and span else ""


def _is_end(link: CausalLink, text: str, phrase: str) -> bool:
    """Return whether a whole memory can be an end of an edge: it tells an event alone, or says just what is joined."""
    if phrase and read_statement(phrase).is_negated != read_statement(text).is_negated:
        return False
    if is_statement(text) and (link.stated_in is None or link.weight >= SURE):
        return True
    return link.stated_in is not None and tells_event(text) and not causal_clauses(text)


def _phrase(text: str, span: Span, embedded: EmbeddedContent, speaker: str) -> Phrase:
    return Phrase(
        span=span,
        meaning=embedded.take(E1, Dense),
        tokens=embedded.take(E12, Tokens),
        terms=embedded.take(E6, Sparse),
        voice=speaker if is_first_person(text[slice(*span)]) else None,
    )


def _run_events(found: ExaminedCauses, trigger: Trigger) -> Iterator[Event]:
    """Yield the events of a run of its own, so that the edges can be undone."""
    run, examined = found.linked.run, len(found.linked.examined)
    yield ConsolidationStarted(
        run=run,
        mode=Mode.LINK,
        trigger=trigger,
        namespace=None,
        salience_threshold=0.0,
        max_memories=examined,
        dry_run=False,
        thorough=False,
    )
    yield from found.clauses
    yield found.linked
    yield ConsolidationFinished(
        run=run,
        outcome=Outcome.FINISHED,
        counts=Counts(looked_at=examined, causes=len(found.linked.links)),
        memories=examined,
        milliseconds=0.0,
    )
