"""Every event of the log has a sentence that a person understands, and none says what a memory says."""

from uuid import UUID

import msgspec
import pytest

from actors.api.operations.administration.event_descriptions import describe_event
from events.storage.log import Envelope
from events.vocabulary import CausesLinked, ConsolidationSkipped, Event, Shredded
from events.vocabulary.causes import CausalLink
from events.vocabulary.codec import KINDS
from events.vocabulary.values import Mode, Trigger
from projections.memories.catalog import Catalog
from tests.events.samples import NOON, draft, started, stored
from tests.events.vocabulary.test_codec import SAMPLES
from tests.projections.history import folded, memory_id
from tests.projections.sleeps import IDS, erased, forgotten, linked, log_of, merged, pruned, restored, undone

WORDS = ("Ebbe", "Flut", "tide", "moon")
"""Of the contents, goals and patterns of the samples."""


def wrapped(event: Event, memory: UUID | None = None) -> Envelope:
    draft_ = draft(event) if memory is None else draft(event, id=memory)
    return Envelope(seq=7, **msgspec.structs.asdict(draft_))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_kind_of_event_has_a_sentence(kind: type[Event]) -> None:
    samples = [event for event in SAMPLES if isinstance(event, kind)]
    assert samples
    for event in samples:
        told = describe_event(wrapped(event))
        assert len(told["what"].split()) >= 3
        assert told["kind"].replace("_", "") == kind.__name__.lower()
        assert "<" not in told["what"], "that is how Python shows an object"
        assert not [word for word in WORDS if word in told["what"]]


def test_no_two_kinds_of_events_share_a_sentence() -> None:
    told = {kind: describe_event(wrapped(next(e for e in SAMPLES if isinstance(e, kind))))["what"] for kind in KINDS}
    assert len({*told.values()}) == len(KINDS)


def test_an_event_without_a_sentence_raises_an_error() -> None:
    class Shrugged(Event, frozen=True, kw_only=True, tag="memory_shrugged.1"):
        """What a later version may add."""

    with pytest.raises(KeyError, match="Shrugged"):
        describe_event(wrapped(Shrugged()))


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("memory_stored.1", "erased since"),
        ("goal_discovered.1", "a goal was found"),
        ("pattern_discovered.1", "a pattern was found"),
    ],
)
def test_shredded_events_are_described_as_unreadable(kind: str, words: str) -> None:
    told = describe_event(wrapped(Shredded(kind=kind)))
    assert words in told["what"]
    assert told["kind"] == kind.removesuffix(".1")


def test_a_stored_memory_is_described_with_speaker_place_and_reason() -> None:
    event = stored("Ebbe und Flut", session="harbour", rationale="for the pilot", metadata={"speaker": "Ana"})
    told = describe_event(wrapped(event, IDS[0]), IDS[0])
    assert told["actor"] == "test"
    assert told["at"] == NOON.isoformat()
    for part in (
        "in default",
        "session harbour",
        "13 characters",
        "13 spaces",
        "said by Ana",
        "because: for the pilot",
    ):
        assert part in told["what"]


@pytest.mark.parametrize(
    ("count", "words"), [(0, "0 edges found"), (1, "1 edge (x → y) found"), (5, "and 2 more) found")]
)
def test_edges_from_causes_to_effects_are_described_by_their_ends(count: int, words: str) -> None:
    x, y, *_ = IDS
    links = (CausalLink(x, y, "because", 0.7, y, (8, 20), (22, 40)),) * count
    told = describe_event(wrapped(CausesLinked(run=UUID(int=1), examined=(x, y), links=links)))["what"]
    assert told.startswith("2 memories examined for causes and effects, ")
    assert words in told.replace(str(x), "x").replace(str(y), "y")
    assert told.count("→") == min(count, 3)


def test_every_event_of_a_memory_is_described_from_its_side() -> None:
    x, y, s, *_ = IDS
    run = UUID(int=1_001)
    log = log_of(linked(x, y), forgotten(x), restored(x), pruned(run, x), undone(run, x), merged(run, s, y), erased(x))
    catalog = folded(Catalog(), log)
    lives = {
        memory: [
            describe_event(envelope, memory)["what"] for envelope in log if envelope.seq in catalog.get(memory).events
        ]
        for memory in (x, y, s)
    }
    assert [what.split()[0].rstrip(",:") for what in lives[x]] == [
        *("stored", "linked", "forgotten", "restored", "pruned", "what", "erased")
    ]
    assert lives[y][1].startswith(f"linked from {x}")
    assert lives[y][2] == f"merged into {s}, similarity 1.000 (run {run})"
    assert lives[s][1] == f"absorbed {y} (run {run})"
    assert "salience 0.21" in lives[x][4]
    assert "importance 0.10, recency 0.05, access 0.04" in lives[x][4]


@pytest.mark.parametrize(
    ("actor", "words"),
    [
        ("scheduler", "sleep, on schedule"),
        ("import", "an import"),
        ("http:ui", "a person, on a page"),
        ("http:laptop", "the key laptop"),
        ("a later version's", "a later version's"),
    ],
)
def test_who_caused_an_event_is_told_in_words(actor: str, words: str) -> None:
    told = describe_event(msgspec.structs.replace(wrapped(stored("The tide is high.")), actor=actor))
    assert (told["actor"], told["by"]) == (actor, words)


@pytest.mark.parametrize("trigger", Trigger)
def test_why_a_run_began_or_not_is_told_in_words(trigger: Trigger) -> None:
    words = {
        Trigger.REQUEST: "on request",
        Trigger.SCHEDULE: "on schedule",
        Trigger.MADE_UP: "on schedule, late",
        Trigger.IDLE: "in a quiet moment",
        Trigger.STORED: "after new memories",
    }[trigger]
    began = describe_event(wrapped(started(IDS[0], trigger=trigger)))["what"]
    assert began == f"a light run over all namespaces began {words} (run {IDS[0]})"
    skipped = describe_event(wrapped(ConsolidationSkipped(mode=Mode.REM, trigger=trigger, reason="it is paused")))
    assert skipped["what"] == f"a rem run ({words}) didn't begin: it is paused"


def test_of_many_memories_only_the_first_are_named() -> None:
    (event,) = [event for event in SAMPLES if type(event).__name__ == "MemoryRecalled"]
    many = msgspec.structs.replace(event, memories=tuple(memory_id(number) for number in range(1, 101)))
    told = describe_event(wrapped(many))["what"]
    assert "100 memories" in told
    assert "and 97 more" in told
    assert len(told) < 300
