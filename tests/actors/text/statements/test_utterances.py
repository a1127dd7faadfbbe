"""What a speaker corrects: two lines of a transcript are not about one subject because one person said both."""

import pytest

from actors.text.statements.utterances import find_spoken_correction

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
    ],
)
def test_what_a_speaker_says_next_corrects_nothing(earlier: str, later: str, speaker: str | None) -> None:
    assert find_spoken_correction(earlier, later, speaker, ALIKE) is None


@pytest.mark.parametrize(
    ("earlier", "later", "speaker"),
    [
        ("Amy Lee: The rent of my flat is 900 euros.", "Amy Lee: The rent of my flat is 950 euros now.", "Amy Lee"),
        ("Amy: My dentist is in Bonn.", "Amy: My dentist is in Trier now.", None),
        ("Office Hours: until 5", "Office Hours: until 6", None),
        ("The standup is at 9:30.", "The standup is at 10:00 now.", "Amy Lee"),
    ],
)
def test_a_correction_names_its_places_in_the_whole_texts(earlier: str, later: str, speaker: str | None) -> None:
    found = find_spoken_correction(earlier, later, speaker, ALIKE)
    assert found is not None
    assert found.was is not None
    assert found.now is not None
    assert earlier[slice(*found.was)][0].isalnum()
    assert later[slice(*found.now)].split(maxsplit=1)[0] in {"950", "Trier", "6", "10:00"}
