"""What holds for a part, an occasion or under a condition corrects nothing that holds in general."""

import pytest

from actors.text.statements.labels import find_correction_in

ALIKE = 0.85


def is_correction(earlier: str, later: str) -> bool:
    return find_correction_in(earlier, later, None, ALIKE) is not None


@pytest.mark.parametrize(
    ("general", "exception"),
    [
        ("The ferry takes 40 minutes.", "In a storm the ferry now takes 70 minutes."),
        ("The ferry takes 40 minutes.", "For cyclists alone the ferry now takes 55 minutes."),
        ("The ferry takes 40 minutes.", "The ferry now takes 70 minutes if the lock is shut."),
        ("Parcels are weighed in grams.", "Parcels to Norway are now weighed in ounces."),
        ("Seeds are kept 2 years.", "Orchid seeds are now kept 9 years."),
        ("Seeds are kept 2 years.", "Seeds of orchids are now kept 9 years."),
        ("Seeds are kept 2 years.", "Seeds that come from the alps are now kept 9 years."),
        ("Rehearsal starts at 19:00.", "This week rehearsal starts at 20:00 instead of 19:00."),
        ("Rehearsal starts at 19:00.", "Rehearsal starts at 20:00 tomorrow instead of 19:00."),
        ("Rehearsal starts at 19:00.", "During Lent rehearsal now starts at 18:00."),
        ("Ilse feeds the hens.", "Until Sunday Bruno feeds the hens instead of Ilse."),
        ("The kiosk is open on Sundays.", "The kiosk is no longer open on Sundays in the old harbour."),
        ("The spell checker reads every file.", "The spell checker no longer reads the files under vendor/."),
        ("Every guest needs a key.", "Every guest except the band no longer needs a key."),
        ("Entry costs 9 euros.", "Entry now costs 4 euros for apprentices."),
        ("We pay with Stripe.", "We no longer use Klarna for refunds."),
    ],
)
def test_an_exception_leaves_the_rule(general: str, exception: str) -> None:
    assert not is_correction(general, exception)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("The ferry takes 40 minutes.", "The ferry now takes 55 minutes."),
        ("In a storm the ferry takes 70 minutes.", "In a storm the ferry now takes 90 minutes."),
        ("If it snows, the bus leaves at 7.", "If it snows, the bus now leaves at 6."),
        ("Seeds of orchids are kept 9 years.", "Seeds of orchids are now kept 5 years."),
        ("Orchid seeds are kept 9 years.", "Orchid seeds are now kept 5 years."),
        ("Rehearsal starts at 19:00.", "From next week on rehearsal starts at 20:00 instead of 19:00."),
        ("Rehearsal starts at 19:00.", "At the request of the altos rehearsal now starts at 20:00."),
        ("Rehearsal starts at 19:00.", "Rehearsal starts at 20:00 now. If you are late, use the side door."),
        ("The kiosk is open on Sundays.", "The kiosk is no longer open on Sundays."),
        ("The harbour crane is in use.", "The harbour crane is no longer in use."),
        ("Entry costs 9 euros.", "Correction: entry costs 8 euros for everybody."),
    ],
)
def test_what_changes_the_rule_itself_is_a_correction(earlier: str, later: str) -> None:
    assert is_correction(earlier, later)
