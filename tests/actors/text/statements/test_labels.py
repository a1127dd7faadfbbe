"""Two texts are not about one subject because the same label stands before both: a speaker, or a title."""

from time import process_time

import pytest

from actors.text.statements.labels import find_correction_in

ALIKE = 0.8


@pytest.mark.parametrize(
    ("earlier", "later", "speaker"),
    [
        ("Chandler Bing: Hey !", "Chandler Bing: Hey now besides , I 'll be your boyfriend .", "Chandler Bing"),
        ("Project Manager: Okay .", "Project Manager: Okay , it's maybe a bit too flashy .", "Project Manager"),
        ("Chandler: Ahhhhh !", "Chandler: You're not going to die an old maid .", "Chandler Bing"),
        ("Amy Lee: I like the tea here.", "Amy Lee: I bought a new kettle now.", None),
        ("Amy Lee: I like the tea here.", "Bob Ray: I like the coffee here.", None),
        ("Amy Lee: Is the rent 900 euros?", "Amy Lee: The rent is 950 euros.", "Amy Lee"),
        ("Yeah , right .", "No , not right now .", None),
        ("find . -name '*.txt' -mtime 7", "find . -name '*.txt' -mtime 30", None),
        ("history 10", "history 10 | cut -c 8-", None),
        ("Walter Mazzarri: - Coppa Italia : 2008", "Walter Mazzarri: - Coppa Italia : 2011", None),
        ("Ivan Kozhedub: - Medal For Battle Merit", "Ivan Kozhedub: - Medal For Strengthening of Arms", None),
        ("Richmond Kickers: - 2001 : Not held", "Richmond Kickers: - 1997 : Not held", None),
        ("Sirhan Sirhan: Kennedy assassination .", "Sirhan Sirhan: In 2018 Robert Kennedy said no .", None),
    ],
)
def test_what_a_speaker_says_next_corrects_nothing(earlier: str, later: str, speaker: str | None) -> None:
    assert find_correction_in(earlier, later, speaker, ALIKE) is None


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        (
            "Electricity bill for August: 84.20 euros, paid on 3 September.",
            "Electricity bill for October: 103.10 euros, paid on 4 November.",
        ),
        ("Phone bill for May: 30 euros", "Phone bill for June: 32 euros"),
        (
            "Call with Bergmann Logistik: Frau Seidel wants an offer for 40 scanners by Friday.",
            "Call with Solberg Fisk: they need scanners that work at minus 25 degrees.",
        ),
        ("Call with Adler: she wants to renew the contract.", "Call with Berger: she doesn't want to renew it."),
        ("Rent for May: paid on 3 May", "Rent for June: paid on 4 June"),
        (
            'Here is a paper on "Old Weir" repairs for winter: http://weir.example/paper.pdf (see "Sluice Repair").',
            "Sluice Repair (https://chat.example/files/ada/page.png): http://weir.example/paper.pdf",
        ),
        ("2024-02 board\n\n## February 15\n\nThe board couldn't meet.", "Notes › May 2025\n\n## 16\n\nIt was skipped."),
        (
            "# Board 2024-02-15\n\nThe board has 8 members.",
            "# Meeting of the board, 2025-02-12\n\nThe board has 9 members.",
        ),
    ],
)
def test_what_is_said_of_one_of_two_like_things_corrects_nothing_of_the_other(earlier: str, later: str) -> None:
    assert find_correction_in(earlier, later, None, ALIKE) is None


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Note by Ada: the API key is in the vault.", "Note by Ben: the API key is no longer in the vault."),
        ("Kickoff on Monday at 10: room 4", "Kickoff now on Tuesday at 10: room 4"),
        ("Boiler › 2024\n\nThe pressure is 1.5 bar.", "Boiler › 2024\n\nThe pressure is 2 bar."),
        ("# Board\n\nThe board has 8 members.", "# Board\n\nThe board has 9 members since 2025."),
    ],
)
def test_reports_of_one_thing_are_compared(earlier: str, later: str) -> None:
    assert find_correction_in(earlier, later, None, ALIKE) is not None


@pytest.mark.parametrize(
    ("earlier", "later", "speaker"),
    [
        ("Amy Lee: The rent of my flat is 900 euros.", "Amy Lee: The rent of my flat is 950 euros now.", "Amy Lee"),
        ("Amy: My dentist is in Bonn.", "Amy: My dentist is in Trier now.", None),
        ("The build runs with --jobs 4.", "The build runs with --jobs 8 now.", None),
        ("Rent: $900", "Rent: $950", None),
        ("retries = 3", "retries = 8", None),
        ("Minimum Node version: 20", "Minimum Node version: 22", None),
        ("Deadline: 5 May", "Deadline: it has moved to 9 May", None),
        ("Office Hours: until 5", "Office Hours: until 6", None),
        ("The standup is at 9:30.", "The standup is at 10:00 now.", "Amy Lee"),
    ],
)
def test_a_correction_names_its_places_in_the_whole_texts(earlier: str, later: str, speaker: str | None) -> None:
    found = find_correction_in(earlier, later, speaker, ALIKE)
    assert found is not None
    assert found.was is not None
    assert found.now is not None
    assert earlier[slice(*found.was)].lstrip("$-")[0].isalnum()
    assert later[slice(*found.now)].split(maxsplit=1)[0] in {"950", "Trier", "6", "10:00", "22", "moved", "8", "$950"}


@pytest.mark.parametrize(
    ("earlier", "later", "was", "now"),
    [
        ("My landlord: Mr Brandt", "My landlord: Ms Yilmaz", "Brandt", "Yilmaz"),
        ("Database of the ticket service: MySQL", "Database of the ticket service: PostgreSQL", "MySQL", "PostgreSQL"),
        ("Dominant hand: right", "Dominant hand: left", "right", "left"),
        ("Dominant hand: left", "Dominant hand: right", "left", "right"),
        ("Update: I live in Oslo now", "Correction: I live in Rome now", "Oslo", "Rome"),
        ("Old Address: I live in Oslo", "New Address: I live in Rome", "Oslo", "Rome"),
        ("Note: I live in Oslo", "Update: I live in Rome", "Oslo", "Rome"),
        ("My parents live in Springfield, OH.", "My parents live in Springfield, MA.", "OH", "MA"),
        ("The door code is A-OK-7.", "The door code is A-NO-7.", "A-OK-7", "A-NO-7"),
        ("Do we use tabs? Yes, tabs.", "Do we use tabs? No, spaces.", "tabs", "spaces"),
    ],
)
def test_headings_and_values_that_look_like_speech_are_compared(earlier: str, later: str, was: str, now: str) -> None:
    found = find_correction_in(earlier, later, None, ALIKE)
    assert found is not None
    assert found.was is not None
    assert found.now is not None
    assert (earlier[slice(*found.was)], later[slice(*found.now)]) == (was, now)


@pytest.mark.parametrize("piece", ["!", "? ", ", ok ", "- right ", " "])
def test_labels_and_what_follows_are_read_in_linear_time(piece: str) -> None:
    """Four times the length takes sixteen times as long with a pattern that backtracks from each of its beginnings."""

    def seconds(length: int) -> float:
        said = piece * (length // len(piece)) + "a"
        began = process_time()
        assert find_correction_in(f"Al: {said}", f"Bo: {said}", None, ALIKE) is None
        return process_time() - began

    shorter, longer = (min(seconds(length) for _ in range(3)) for length in (5_000, 20_000))
    assert longer < 10 * max(shorter, 0.01)
