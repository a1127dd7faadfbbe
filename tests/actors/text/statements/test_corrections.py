"""Which texts correct an earlier one. Similarities are what the embedding model gives such pairs."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.text.statements import corrections
from actors.text.statements.corrections import MIN_SHARED, Correction
from actors.text.statements.statement import read_statement
from projections.spaces.lexical import TERM_DIMENSION, term_frequencies
from projections.spaces.sparse import SparseSpace

ALIKE = 0.85
VOCABULARY = (
    "is lives costs not no on off open closed 30 45 Monday Friday Alfons Birgit door lift permit moved gone".split()
)


def find_correction(earlier: str, later: str, similarity: float) -> Correction | None:
    return corrections.find_correction(read_statement(earlier), read_statement(later), similarity)


@pytest.mark.parametrize(
    ("earlier", "later", "rule", "was", "now"),
    [
        ("The parking permit costs 30 euros.", "The parking permit costs 45 euros.", "number", "30", "45"),
        ("Kitchen duty is on Monday.", "Kitchen duty has moved to Wednesday.", "time", "Monday", "Wednesday"),
        ("The caretaker is called Alfons.", "The caretaker is called Birgit now.", "name", "Alfons", "Birgit"),
        ("The lift holds eight people.", "The lift holds six people.", "number", "eight", "six"),
        (
            "The tour group was assigned to Lyon.",
            "The tour group was reassigned to Turin.",
            "name",
            "assigned to Lyon",
            "Turin",
        ),
        (
            "The menu is at https://lunch.example/2025/may.",
            "The menu is at https://lunch.example/2025/june.",
            "name",
            "https://lunch.example/2025/may",
            "https://lunch.example/2025/june",
        ),
        (
            "The menu is at https://lunch.example/menus.",
            "The menu is at https://lunch.example/menu.",
            "name",
            "https://lunch.example/menus",
            "https://lunch.example/menu",
        ),
        ("Our new doctor is Prof. Dr. Brandt.", "Our doctor is Dr. Klee.", "name", "Brandt", "Klee"),
        ("Our router is a Zyxel.", "We replaced the Zyxel; our router is a Mikrotik.", "name", "Zyxel", "Mikrotik"),
    ],
)
def test_a_changed_value_is_found_with_its_place(earlier: str, later: str, rule: str, was: str, now: str) -> None:
    found = find_correction(earlier, later, ALIKE)
    assert found is not None
    assert found.was is not None
    assert found.now is not None
    assert (found.rule, earlier[slice(*found.was)]) == (rule, was)
    assert now in later[slice(*found.now)]


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("The sauna is open.", "The sauna is closed."),
        ("The case is closed.", "The case is reopened."),
        ("The ticket was reopened.", "The ticket is closed again."),
        ("Edgar plays the trumpet.", "Edgar no longer plays the trumpet."),
        ("Our rabbit eats hay and carrots.", "Our rabbit gets no more carrots."),
        ("The ferry runs in winter.", "The ferry doesn't run in winter any more."),
        ("My back aches when I sit too long.", "My back doesn't ache any more when I sit too long."),
        ("Ticket sales open on Monday.", "Ticket sales don't open until Wednesday."),
        ("The raffle draw is at four.", "The raffle draw isn't at four but at five."),
    ],
)
def test_opposites_and_ends_are_corrections(earlier: str, later: str) -> None:
    assert find_correction(earlier, later, ALIKE) is not None


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("The shop sells bread.", "The shop sells bread again."),
        ("The shop was opened.", "The shop is closed on Sundays."),
        ("The ticket was closed.", "The ticket was reopened, and closed in May."),
        ("Anna's cat died in May.", "Anna's dog is ill again."),
        ("Ilse stopped smoking.", "Ilse told us again that smoking is bad."),
        ("Anna left the company in May.", "Anna met the company again in May."),
        ("Marco cancelled the gym membership.", "Marco went back to the gym desk about the membership card."),
    ],
)
def test_what_is_said_again_of_something_that_ended_corrects_nothing(earlier: str, later: str) -> None:
    assert find_correction(earlier, later, ALIKE) is None


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("We cycled 40 km on Saturday.", "We cycled 55 km on Sunday."),
        ("The parking permit costs 30 euros.", "The parking permit used to cost 45 euros."),
        ("The parking permit costs 30 euros.", "Previously the parking permit cost 45 euros."),
        ("The pool size is 20.", "The pool size was 10 before the change."),
        ("Locker 12 is broken.", "Locker 13 is broken."),
        ("Mielke wants 480 euros for the brakes.", "Car sold to Mielke for 2,300 euros."),
        ("Edgar plays the trumpet.", "Edgar also has a piano at home."),
        ("The sauna is open.", "The sauna smells of spruce."),
        ("Who leads the walking group?", "I can't wait for the walking group!"),
        ("The caretaker is called Alfons.", "Alfons has a grey moustache and a ladder."),
        ("The parking permit costs 30 euros.", "The parking permit costs 30 euros."),
        ("We cut the salt, since nobody liked it.", "We  cut  the  salt,\nsince  nobody  liked  it."),
        ("...", "The parking permit costs 45 euros."),
    ],
)
def test_events_other_subjects_and_additions_are_no_corrections(earlier: str, later: str) -> None:
    assert find_correction(earlier, later, ALIKE) is None


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("The bridge was built of oak.", "Built of oak, the bridge can no longer carry lorries."),
        ("We baked the cake with rye flour.", "Baked with coarse flour, the cake doesn't rise anymore."),
        ("The camera is mounted on the roof.", "Mounted on the roof, the camera no longer sees the gate."),
        ("The pump runs on mains power.", "Running on mains power, the pump is no longer any use in a blackout."),
        ("The mural was painted by pupils.", "Painted by pupils, the mural no longer shows its old colours."),
        ("The chapel was built in 1912.", "Built in 1912, the chapel is closed to visitors now."),
        ("The rota was hastily drawn up in May.", "Drawn up in a hurry, the rota doesn't mention the new nurse."),
    ],
)
def test_a_text_that_takes_up_another_in_a_participle_phrase_corrects_no_word_of_it(earlier: str, later: str) -> None:
    assert find_correction(earlier, later, ALIKE) is None


@pytest.mark.parametrize(
    ("earlier", "later", "was", "now"),
    [
        ("The firm has 30 people.", "Founded in Ulm, the firm has 40 people.", "30", "40"),
        (
            "The mill was built in 1901. It opens on Mondays.",
            "Built in 1901, the mill opens on Tuesdays now.",
            "M",
            "T",
        ),
        ("The gate is locked at nine.", "Locked at ten, the gate is shut till morning.", "nine", "till"),
        ("The meeting is at nine.", "Meeting at ten, in the small room.", "nine", "ten"),
    ],
)
def test_a_text_that_opens_with_a_participle_phrase_may_change_a_value(
    earlier: str, later: str, was: str, now: str
) -> None:
    found = find_correction(earlier, later, ALIKE)
    assert found is not None
    assert found.was is not None
    assert found.now is not None
    assert was in earlier[slice(*found.was)]
    assert now in later[slice(*found.now)]


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("https://jobs.example/posts/clerk-wanted-81", "https://jobs.example/posts/baker-wanted-97"),
        ("Look: https://photos.example/harbour_1042", "Look: https://photos.example/Harbour_2207"),
        ("Brilliant", "Turns out it wasn't brilliant after all"),
        ("RUBY too", "Actually it isn't RUBY"),
        ("not seven", "seven, actually"),
        ("are we finished then", "now that we are finished"),
        ("The kettle is broken", "is the kettle still broken"),
    ],
)
def test_links_single_words_and_questions_without_their_mark_state_nothing(earlier: str, later: str) -> None:
    assert find_correction(earlier, later, ALIKE) is None


def test_long_texts_are_read_in_linear_time_and_correct_nothing() -> None:
    assert find_correction("was not " * 8_000, "is now not " * 5_000, ALIKE) is None


def test_corrections_share_the_terms_without_which_no_text_is_compared() -> None:
    pairs = Path(__file__).parents[4] / "scripts/benchmarks/corrections/pairs.tsv"
    lines = [line.split("\t") for line in pairs.read_text("utf-8").splitlines()]
    statements = SparseSpace(TERM_DIMENSION, counts=True)
    for statement, *_ in lines:
        statements.append(term_frequencies(statement))
    shared = np.array([statements.cosine(term_frequencies(correction)) for _, correction, *_ in lines])
    assert np.diag(shared).min() >= MIN_SHARED
    assert np.median(shared) < MIN_SHARED


@settings(max_examples=400)
@given(st.lists(st.sampled_from(VOCABULARY), max_size=12), st.lists(st.sampled_from(VOCABULARY), max_size=12))
def test_what_is_rejected_at_once_for_its_words_would_be_rejected_for_its_points(
    old: list[str], new: list[str]
) -> None:
    found = find_correction(" ".join(old), " ".join(new), 1.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(corrections, "_is_too_different", lambda *_: False)
        assert find_correction(" ".join(old), " ".join(new), 1.0) == found
