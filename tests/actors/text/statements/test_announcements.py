"""A text that says that something has changed corrects notes with labels and further clauses, too."""

import pytest

from actors.text.statements.labels import find_correction_in

ALIKE = 0.6


@pytest.mark.parametrize(
    ("earlier", "later", "was"),
    [
        (
            "Watering rota: Selma and Idris, twice a week",
            "The watering rota has changed: Bo instead of Idris, and three times a week.",
            "Idris",
        ),
        ("Membership fee: 40 euros, paid in May", "The membership fee has changed: it is now 55 euros.", None),
        ("Toolbox: under the bench; the saw is lent out", "The toolbox has moved: it is now in the shed.", None),
        (
            "Decided: tickets are sold through Eventbrite; fee 3 %.",
            "We no longer use Eventbrite: too dear.",
            "Eventbrite",
        ),
        ("Run the seeds with `rake seed`; takes a minute.", "`rake seed` is gone; use `bin/seed`.", "rake seed"),
        (
            "Minutes go to the folder /srv/minutes, as PDF.",
            "Minutes now go to Nextcloud instead of /srv/minutes.",
            None,
        ),
    ],
)
def test_a_change_of_a_labelled_note_is_found(earlier: str, later: str, was: str | None) -> None:
    found = find_correction_in(earlier, later, None, ALIKE)
    assert found is not None
    if was is not None:
        assert found.was is not None
        assert earlier[slice(*found.was)] == was


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Watering rota: Selma and Idris", "The cleaning rota has changed: Bo instead of Idris."),
        ("Watering rota of the lower garden: Selma", "The watering rota has changed: it is printed on blue paper."),
        ("Toolbox: red, two drawers", "The toolbox has moved: it is now in the shed."),
        ("Tickets are sold through Eventbrite; fee 3 %.", "We no longer use Doodle: too dear."),
        ("Tickets are sold through Eventbrite.", "We no longer use Eventbrite for the members' evening."),
        ("Run the seeds with `rake seed`; takes a minute.", "`rake lint` is gone; use `bin/lint`."),
        ("The safe opens with the spare key.", "If the spare key is gone, call Ada."),
        ("Minutes go to the folder /srv/minutes.", "Photos now go to Nextcloud instead of /srv/photos."),
    ],
)
def test_a_change_of_something_else_is_none(earlier: str, later: str) -> None:
    assert find_correction_in(earlier, later, None, ALIKE) is None
