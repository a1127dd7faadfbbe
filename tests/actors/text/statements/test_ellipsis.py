"""Corrections that name only what changed, beside statements of the same shape about another thing or property."""

from functools import cached_property
from time import process_time

import pytest

from actors.text.statements.corrections import find_correction
from actors.text.statements.ellipsis import find_ellipsis, find_new_place
from actors.text.statements.phrases import subject
from actors.text.statements.statement import Statement, read_statement
from actors.text.statements.values import read_values
from tests.sampling import sampled

NEAR = 0.45
"""Below what a weighed sum needs: only one value in place of another of its kind is found."""

MARKS = [name for name, value in vars(Statement).items() if isinstance(value, cached_property)]

CORRECTIONS = [
    ("The stand-up is at 9:30 every weekday, in the small room.", "Stand-up is at 10:00 now.", "9:30", "10:00"),
    ("We sharpen the saws on Tuesdays.", "Correction: we sharpen the saws on Mondays and Wednesdays.", "Tuesdays", ""),
    ("The pottery kiln is free at six, behind the shed.", "Now it's 7:30 for the kiln.", "six", "7:30"),
    ("I said that the tent needs six pegs.", "Make that eight pegs.", "six", "eight"),
    ("The optician appointment is on Tuesday at noon.", "The optician: Thursday instead.", "Tuesday", "Thursday"),
    ("Violin lessons are at half past four, at Mr Ek's.", "Violin is at five now.", "half past four", "five"),
    ("The scanner runs Debian 11 on an old box.", "Scanner is on Debian 12 now.", "11", "12"),
    ("The harvest pay is 14 euros an hour, in cash.", "I was wrong about the harvest pay, it's 16.", "14", "16"),
    ("The harvest pay is 14 euros an hour, in cash.", "Sorry, the harvest pay is 15 euros.", "14", "15"),
    ("The choir practice is at seven, in the old mill.", "No, choir practice starts at eight.", "seven", "eight"),
    ("Our beekeeper is Ines Roth, from the next village.", "Our beekeeper is Karl Voss.", "Roth", "Voss"),
    ("Our oats have 12 % fibre, says the packet.", "Our oats have 9 % fibre.", "12", "9"),
    ("Backups take 16 GB of the disk.", "Backups take 2 TB.", "16", "2"),
    ("Water aerobics is on Monday afternoons.", "Water aerobics is on Sunday mornings.", "afternoons", "mornings"),
    ("The auction takes place in Hall North.", "Owing to the leak the auction is in Hall South.", "North", "South"),
]
OTHERS = [
    ("Our crew has 8 people.", "Our crew has moved its lunch to 1."),
    ("The library is open until seven.", "The library card costs 12 euros now."),
    ("The rehearsal is on Thursday at 15:00.", "The rehearsal takes 45 minutes now."),
    ("We need six chairs in the hall.", "We also need two tables in the hall."),
    ("The train to Ghent leaves at 8:12.", "The train to Bruges leaves at 9:12."),
    ("Backups of Monday are 40 GB.", "Backups of Tuesday are 42 GB."),
    ("The auction takes place in Hall North.", "Owing to the leak the bazaar is in Hall South."),
    ("The kiosk is closed on Mondays.", "I'm free on Sundays."),
    ("The tram leaves at 7:10.", "Does the tram leave at 7:20 now?"),
    ("The queue limit is 500 jobs.", "The queue has 200 jobs now."),
]
OTHER_ROLES = [
    ("Anna lives in Bonn.", "Anna is German."),
    ("My bank is N26.", "My bank is in Berlin."),
    ("My dentist is Dr Weber.", "My dentist is in Bonn."),
    ("The server runs Ubuntu.", "The server is in Frankfurt."),
    ("The dog is called Rex.", "The dog is at Anna's."),
]
OPENINGS = [
    ("The meeting is at 9.", "Sorry, maybe the meeting is at 10."),
    ("The meeting is at 9.", "Wait, should the meeting be at 10"),
    ("I met Anna at 9.", "No, Anna is at 10."),
    ("Tom has the car on Monday.", "Sorry, Tom is out on Tuesday."),
    ("I paid 20 euros for the cake.", "Sorry, the cake takes 30 euros."),
]
OTHER_TIMES_AND_VERBS = [
    ("The dentist is on Monday.", "The dentist was on Friday."),
    ("Lea has yoga on Mondays.", "Lea has yoga on Thursdays too."),
    ("The pass costs 49 euros a month.", "The pass costs 500 euros a year."),
    ("The meeting is at 9 in room 3.", "The meeting was at 10 before."),
    ("The train takes 3 hours.", "The train starts in 2 hours."),
    ("The battery lasts 8 hours.", "The battery takes 2 hours."),
    ("The meeting is at 9.", "The meeting isn't at 10."),
]
OTHER_KINDS = [
    ("The oven is 180 degrees.", "The oven is 60 cm."),
    ("The disk is 2 TB.", "The disk is 9 cm."),
    ("The laptop has 16 GB.", "The laptop is 14 inches."),
    ("The call is at quarter to 10.", "The call takes 45 minutes."),
    ("The barrel holds 40 litres.", "The barrel is 90 cm."),
    ("The contract is until 2027.", "The contract is at 10."),
]


@pytest.mark.parametrize(("earlier", "later", "was", "now"), CORRECTIONS)
def test_a_new_value_alone_corrects_what_leaves_nothing_else_to_say(
    earlier: str, later: str, was: str, now: str
) -> None:
    found = find_correction(read_statement(earlier), read_statement(later), NEAR)
    assert found is not None
    assert found.was is not None
    assert found.now is not None
    assert was in earlier[slice(*found.was)]
    assert now in later[slice(*found.now)]


@pytest.mark.parametrize(("earlier", "later"), [*OTHERS, *OTHER_ROLES, *OPENINGS, *OTHER_TIMES_AND_VERBS, *OTHER_KINDS])
def test_a_value_of_another_kind_or_thing_corrects_nothing(earlier: str, later: str) -> None:
    for similarity in (NEAR, 0.8):
        assert find_correction(read_statement(earlier), read_statement(later), similarity) is None


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("The ladder is in the barn.", "I've put the ladder in the hayloft."),
        ("The key for the tractor hangs under the eaves.", "The tractor key has moved to the office drawer."),
        ("Our tent is in the attic.", "I have finally put the tent in the shed."),
        ("Tom's skates are in the hall.", "Tom has put his skates under the bench."),
        ("The trailer is in the yard.", "We put the trailer in the barn now."),
    ],
)
def test_what_was_put_elsewhere_is_corrected(earlier: str, later: str) -> None:
    assert find_correction(read_statement(earlier), read_statement(later), NEAR) is not None


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("The ladder is in the barn.", "I've put the rake in the hayloft."),
        ("The vote is on Monday.", "I've put the vote on the agenda of Tuesday."),
        ("The ladder is in the cellar.", "Never put the ladder in the loft."),
        ("The ladder is in the cellar.", "If you put the ladder in the loft, it gets wet."),
        ("The ladder is in the cellar.", "I'll put the ladder in the loft tomorrow."),
        ("The ladder is in the cellar.", "Before 2020 we had put the ladder in the loft."),
        ("The milk is in the fridge.", "I put the milk in the coffee."),
        ("The keys are in the drawer.", "Tom has put his keys in the bag."),
        ("The rowing boat is at the pier.", "We couldn't have moved the rowing boat to the shed."),
    ],
)
def test_another_thing_in_a_place_corrects_nothing(earlier: str, later: str) -> None:
    assert find_new_place(read_statement(earlier), read_statement(later)) is None


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("It opens at ten and closes at half past six.", ["clock", "clock"]),
        ("Open from seven to ten on Fridays", ["clock", "clock", "weekday"]),
        ("Two jars cost €4 in room 12, for three nights.", ["count", "money", "label", "duration", "daypart"]),
        ("Due on 3 March, 40% paid, 25 kg", ["date", "month", "percent", "weight"]),
        ("Valid until 2027, from quarter to ten, 5 % off", ["date", "clock", "percent"]),
        ("A jug of 2 litres, 30 cm, at 40 degrees, on a disk of 8 GB", ["volume", "length", "degrees", "data"]),
    ],
)
def test_the_words_around_a_number_tell_its_kind(text: str, kinds: list[str]) -> None:
    assert [value.kind for value in read_values(read_statement(text))] == kinds


LONG = ["put it ", "make that six, ", "from ", "sorry, no, ", "left the ", " ", "is at 5 and ", "update: ", "a", "not "]


@pytest.mark.parametrize("piece", LONG)
def test_long_texts_correct_nothing(piece: str) -> None:
    long = piece * (100_000 // len(piece))
    for pair in ((long, "The vote is at six."), ("The vote is at five.", long)):
        earlier, later = map(read_statement, pair)
        assert find_correction(earlier, later, 0.9) is None
        assert find_ellipsis(earlier, later) is None
        assert find_new_place(earlier, later) is None


@pytest.mark.parametrize("start", ["The fee ", "a b: "])
@sampled("piece", [*LONG, "1", "n't", "an't ", "changed "])
def test_marks_of_a_statement_are_read_in_linear_time(start: str, piece: str) -> None:
    """Four times the length takes sixteen times as long with a pattern that backtracks from each of its beginnings."""

    def seconds(length: int) -> float:
        statement = Statement(start + piece * (length // len(piece)) + " is 7.")
        began = process_time()
        for name in MARKS:
            getattr(statement, name)
        subject(statement)
        find_new_place(statement, statement)
        return process_time() - began

    shorter, longer = (min(seconds(length) for _ in range(3)) for length in (5_000, 20_000))
    assert longer < 10 * max(shorter, 0.01)
