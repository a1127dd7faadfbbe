"""Statements that answer a question in place of an earlier one, beside others that share its words."""

from time import process_time

import pytest

from actors.text.queries.tense import asks_for_present
from actors.text.statements.restatements import restates
from actors.text.statements.statement import read_statement
from projections.time.time_mentions import NO_HINTS

RESTATED = [
    ("When is the choir practice?", "The choir practice is on Monday nights.", "Practice is on Tuesday mornings."),
    ("How many goats do we have?", "We have six goats.", "There are nine goats in the barn."),
    ("Who walks the neighbours' dog?", "Milo walks the neighbours' dog.", "Alina walks the neighbours' dog."),
    ("What is the price of the boat?", "The price of the boat is 900 euros.", "They want 800 euros for the boat."),
    ("How often do I swim?", "I swim three times a week.", "My shoulder hurts, so I swim once a week."),
    ("When is the bill due?", "The bill is due on 3 April.", "The bill is due on 9 May."),
    ("Is the sauna open?", "The sauna is open.", "The sauna is closed for repairs."),
    ("boat deposit", "The deposit for the boat is 200 euros.", "They want 250 euros as the deposit for the boat."),
]
OTHERS = [
    ("When is the choir practice?", "The choir practice is on Monday nights.", "The choir concert is on Sunday."),
    ("How many goats do we have?", "We have six goats.", "We have nine hens."),
    ("What does Lea's bike weigh?", "Lea's bike weighs 12 kilos.", "Her brother's bike weighs 9 kilos."),
    ("What is Kafka for?", "Kafka carries the orders.", "The mailer reads from Kafka."),
    ("What is Kafka for?", "Kafka carries the orders.", "The mailer stores mails. If Kafka is down, it waits."),
    ("What is the boat called?", "The boat is called Iris.", "What is the boat called now?"),
    ("Where do I park?", "I park behind the mill.", "I parked behind the mill."),
    ("Where is the archive?", "The archive is in the cellar of the mill.", "To ask Ada, write to her in the archive."),
    ("Where is the archive?", "The archive is in the cellar.", "The lamp is in the archive."),
    ("Where does Ada live?", "Ada lives in Bern.", "Ada teaches in Basel."),
    ("When does the sauna open?", "The sauna opens at 8.", "The sauna closes at 22."),
    ("When is the bill due?", "The bill is due on 3 May.", "The bill was printed on 9 May."),
    ("What is the limit?", "The limit is 20.", "The limit was 10 until 2019."),
    ("Where does Ada work?", "Ada works at the mill.", "Ada used to work at the harbour."),
    ("What does Milo play?", "Milo plays the flute.", "Milo doesn't play the horn."),
    ("What does Milo play?", "Milo plays the flute.", "Milo may play the horn."),
    ("Why is the ferry late?", "The ferry is late because of ice.", "The ferry is late on Mondays."),
    ("The boat is called Iris, and it is ours.", "The boat is called Iris.", "The boat is called Flora."),
]


@pytest.mark.parametrize(("question", "earlier", "later"), RESTATED)
def test_a_later_statement_about_all_that_is_asked_restates_an_earlier_one(
    question: str, earlier: str, later: str
) -> None:
    assert restates(question, earlier, later, None)


@pytest.mark.parametrize(("question", "earlier", "later"), OTHERS)
def test_a_statement_about_another_thing_restates_nothing(question: str, earlier: str, later: str) -> None:
    assert not restates(question, earlier, later, None)


def test_who_speaks_is_no_part_of_a_statement() -> None:
    question, texts = "Where do you live?", ("Ada: I live in Ghent.", "Ada: I live in Bruges.")
    assert restates(question, *texts, "Ada")


def test_questions_for_what_happened_or_held_before_do_not_ask_for_the_present() -> None:
    assert asks_for_present("Where do we park?", NO_HINTS)
    for question in ("Where did we park?", "Where do we usually park, and where before that?", "What was the fee?"):
        assert not asks_for_present(question, NO_HINTS)


@pytest.mark.parametrize("piece", ["how many ", "who ", "the goats ", "a", "s the ", "is it "])
def test_long_questions_are_read_in_linear_time(piece: str) -> None:
    def seconds(length: int) -> float:
        question = piece * (length // len(piece)) + "?"
        began = process_time()
        restates(question, "We have six goats.", "We have nine goats.", None)
        return process_time() - began

    shorter, longer = (min(seconds(length + step) for step in range(0, 300, 100)) for length in (5_000, 20_000))
    assert longer < 10 * max(shorter, 0.01)


@pytest.mark.parametrize(
    ("text", "is_former"),
    [
        ("The gym used to cost 45 euros.", True),
        ("The limit was 10 until 2019.", True),
        ("The key was used to open the shed.", False),
        ("Ada used to live in Bonn and is in Ulm now.", False),
        ("The newsletter goes out once a month.", False),
    ],
)
def test_a_statement_of_what_no_longer_holds_is_told_from_others(text: str, is_former: bool) -> None:
    assert read_statement(text).is_former == is_former
