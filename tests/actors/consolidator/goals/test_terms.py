from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.consolidator.goals.speakers import SLICE_CHARACTERS
from actors.consolidator.goals.terms import MIN_HOLDERS, Topic, extract_topics, index_terms
from tests.actors.slices import worked_off

COUNSELING = [
    "Caroline: I want to become a counselor and work in mental health.",
    "Melanie: Mental health matters. Which counseling courses will you take?",
    "Caroline: The LGBTQ center offers counseling, and mental health workshops too!",
    "Melanie: A counselor helped my sister; LGBTQ youth need that so much.",
    "Caroline: I talked to the lgbtq group about my counseling career.",
]
REST = [
    "Caroline: Hey Mel! How was the camping trip with the kids?",
    "Melanie: Thanks, Caroline! The kids roasted marshmallows by the campfire.",
    "Caroline: Wow, that sounds great. Did the kids see any deer?",
    "Melanie: We hiked to the lake, and the kids swam.",
    "Caroline: I painted a sunset over the lake last week.",
    "Melanie: That's awesome, Caroline! My pottery bowl broke in the kiln.",
    "Caroline: Oh no! Will you make another bowl?",
    "Melanie: Sure, my class meets on Friday.",
]
GREETINGS = [
    "Ann: Hey Bob! Good to see you! How have you been?",
    "Bob: Hi Ann, great to hear from you. What's up?",
    "Ann: Thanks Bob, that means a lot to me.",
    "Bob: Hey Ann! Long time no talk. How's it going?",
    "Ann: Wow, that's awesome, Bob! Thanks for telling me.",
]


def told(members: list[str], rest: list[str], said_by: Iterable[str] = ()) -> Topic:
    _, reading = worked_off(index_terms([*rest, *members], said_by))
    _, (topic,) = worked_off(extract_topics(reading, [range(len(rest), len(rest) + len(members))]))
    return topic


def distinctive(members: list[str], rest: list[str]) -> tuple[str, ...]:
    return told(members, rest).terms


def test_terms_name_what_the_members_talk_about():
    assert {"mental health", "LGBTQ", "counseling"} <= set(distinctive(COUNSELING, REST))


def test_a_word_as_frequent_elsewhere_is_no_term():
    members = [f"The lake was calm, and the heron came to my boat {place}." for place in ("early", "late", "twice")]
    rest = ["We swam in the lake.", "The lake was cold.", "A lake of salt.", "Who owns the lake?", "Rain fell."] * 2
    terms = distinctive(members, rest)
    assert "heron" in " ".join(terms)
    assert "lake" not in " ".join(terms)


def test_a_term_of_fewer_than_three_members_never_stands_in_a_goal():
    members = ["My diagnosis frightens me, says the doctor.", "My diagnosis and the doctor.", "The doctor called."]
    assert distinctive(members, REST) == ("doctor",)


def test_copies_of_a_memory_count_once_among_the_members_that_hold_a_term():
    members = ["My diagnosis frightens me, says the doctor.", "The doctor called.", "A doctor knows."]
    assert distinctive([*members, members[0], members[0]], REST) == ("doctor",)
    assert distinctive(members[:1] * 2, REST) == ()
    assert "doctor" in distinctive(members[:1] * 3, REST), "what was stored three times is shown"


def test_a_term_that_each_member_writes_in_another_form_never_stands_in_a_goal():
    members = ["They widen the harbour.", "A widened harbour.", "The harbour is widening."]
    assert distinctive(members, REST) == ("harbour",)
    assert distinctive([*members, "The city widens the harbour.", "The quay was widened."], REST) == ("harbour",)
    assert {*distinctive([*members, *["The quay was widened."] * 2], REST)} == {"harbour", "widened"}


def test_a_term_of_few_of_many_members_is_left_out():
    members = [f"The heron of pond {number}." for number in range(37)]
    otters = [f"The heron and {number} otters." for number in range(5)]
    few, more = [*members, *otters[:3]], [*members, *otters]
    assert "otters" not in distinctive(few, REST * 8)
    assert "otters" in distinctive(more, REST * 8)
    assert "otters" in distinctive(few[20:], REST * 8)


def test_a_word_repeated_in_one_memory_counts_once():
    members = ["secret secret secret secret garden", "the garden gate", "a garden wall"]
    assert distinctive(members, REST) == ("garden",)


@given(
    st.lists(st.lists(st.sampled_from("kiln glaze heron diagnosis orchard".split()), max_size=4), max_size=8),
    st.lists(st.sampled_from(REST), max_size=5),
)
def test_every_term_stands_in_at_least_three_members(members: list[list[str]], rest: list[str]):
    texts = [" ".join(words) for words in members]
    for term in distinctive(texts, rest):
        assert sum(term in text for text in texts) >= MIN_HOLDERS


def test_fewer_than_three_members_have_no_terms():
    assert distinctive(COUNSELING[:2], REST) == ()
    assert distinctive([], REST) == ()
    assert distinctive([], []) == ()


def test_members_without_a_rest_are_named_by_what_most_of_them_hold():
    assert "counseling" in distinctive(COUNSELING, [])


def test_speakers_and_their_short_names_are_no_terms():
    members = ["Melanie: Mel here, about yoga.", "Melanie: Yoga at nine.", "Melanie: My yoga mat, signed Mel."]
    rest = [text for text in REST if text.startswith("Caroline")]
    assert distinctive(members, rest * 3) == ("yoga",)


def test_speakers_that_only_metadata_name_are_no_terms_but_their_roles_are():
    members = ["Ask Hanna about the kiln, user.", "hanna has the kiln", "to Hanna: kiln at nine, user", "The user kiln"]
    assert "Hanna" in told(members, REST).terms
    assert {*told(members, REST, ["Hanna Roth", "user"]).terms} == {"kiln", "user"}


def test_laughs_and_sounds_are_no_terms_however_long_they_are():
    members = ["Ahahah kiln oooh", "ahahah, hmmm, the kiln! Oooh", "hmmm kiln ahahah lool", "oooh hmmm lool", "lool"]
    assert distinctive(members, REST) == ("kiln",)


def test_words_like_laughs_foreign_courtesies_and_mail_addresses_are_terms():
    members = ["Gut flora, Jeju, lodash@4.17", "the gut and lodash@4.17 in Jeju", "Jeju, lodash@4.17, gut, hija"]
    assert {*told([*members, "hija", "la hija"], REST).terms} == {"Jeju", "gut", "hija", "lodash"}


def test_courtesies_of_other_languages_are_no_terms():
    members = ["danke, Ofen", "Ofen, ja nein", "danke ja, der Ofen", "nein danke", "merci ja", "merci nein"]
    assert distinctive(members, REST) == ("Ofen",)


def test_the_words_of_a_label_that_says_what_a_note_is_about_are_terms():
    members = ["Hotel in Bonn: booked.", "Hotel in Ulm: quiet room.", "Train to Ulm: the hotel is near."]
    assert "Hotel" in distinctive(members, REST)


def test_a_name_is_one_though_it_always_begins_the_sentence():
    """Notes on one person are no topic: nearly all of them begin with the name."""
    notes = ["Tuomas sold the canoe.", "Tuomas dislikes early trains.", "Tuomas lost the badge."]
    assert told(notes, REST) == Topic(terms=("Tuomas",), topicality=0.0)


@pytest.mark.parametrize("word", ["per", "across", "throughout", "against"])
def test_a_preposition_is_no_term(word: str):
    members = [f"three attempts {word} lift", f"Two attempts {word} climber.", f"attempts {word} route"]
    assert distinctive(members, REST) == ("attempts",)


def test_a_possessive_at_the_end_of_a_term_is_left_out():
    members = ["Kilda's well is dry.", "Kilda’s roof leaks.", "A driver's licence", "my driver's licence"]
    members += ["Kilda's pond", "the driver's licence"]
    assert set(distinctive(members, REST)) == {"Kilda", "driver's licence"}


def test_the_words_of_a_heading_are_terms():
    members = ["Vologda: Vologda lies in the north.", "Vologda: The river of Vologda.", "Vologda: It has a kremlin."]
    assert distinctive(members, REST) == ("Vologda",)


def test_stop_words_courtesies_and_numbers_are_no_terms():
    assert distinctive(GREETINGS, COUNSELING + REST) == ()
    assert distinctive(["It was in 1899.", "1899, again", "Of 1899."], REST) == ()


def test_function_words_of_other_languages_are_no_terms():
    members = ["Der Kahn liegt im Schilf.", "Die Reuse und der Aal.", "Das Wasser ist trüb, der Pegel steigt."]
    assert distinctive(members, REST) == ()
    assert "van" in distinctive(["The van leaks.", "Our van is old.", "Sell the van."], REST), "a word of English too"


def test_a_term_is_written_as_the_members_mostly_write_it():
    members = ["LGBTQ rights", "LGBTQ pride", "an lgbtq event", "iPhones ring", "iPhones broke", "one iPhone"]
    terms = distinctive(members, REST * 3)
    assert {"LGBTQ", "iPhones"} <= set(terms)
    assert not {"lgbtq", "iPhone", "iphones"} & set(terms)


def test_words_next_to_each_other_make_a_pair_and_words_across_a_comma_do_not():
    joined = ["ice cream melts", "her ice cream", "ice cream cone"]
    parted = ["ice, cream, snow", "we had ice; cream was out", "no ice. Cream only"]
    assert distinctive(joined, REST) == ("ice cream",)
    assert set(distinctive(parted, REST)) == {"cream", "ice"}


def test_identifiers_are_terms_as_they_are_written():
    members = ["np.array(x)", "return np.array(y)", "np.array(z, dtype)"]
    assert "np.array" in distinctive(members, REST)


def test_the_parts_of_an_address_are_no_terms():
    members = [
        "[![build](https://img.example.org/badge/build.svg)](https://ci.example.org) of the parser",
        '<img src="https://img.example.org/badge/docs.svg"> parser',
        "See https://img.example.org/badge/size.svg for its parser",
    ]
    assert distinctive(members, REST) == ("parser",)


def test_the_ends_of_file_names_are_no_terms():
    members = [
        f"The {name}.rs of the parser in grammar/{name}_rules.toml fails" for name in ("lexer", "tokens", "trees")
    ]
    assert {"rs", "toml"}.isdisjoint(" ".join(distinctive(members, REST)).split())
    assert "parser" in distinctive(members, REST)


def test_the_parts_of_a_mail_address_are_no_terms():
    members = ["CV to jobs@inn.example", "Send a CV: (jobs@inn.example)", "CV, jobs@inn.example please"]
    assert distinctive(members, REST) == ("CV",)


def test_whom_a_message_calls_and_signs_by_their_names_are_no_terms():
    members = ["@ada the parser works :big_smile:", ":big_smile: :+1: parser, @ada!", "(@ada) a parser :big_smile:."]
    assert distinctive(members, REST) == ("parser",)


def test_units_times_and_quantities_are_no_terms():
    members = [
        "Boil the beans for forty minutes.",
        "Soak the beans for two hours, then boil them for ten minutes.",
        "Twenty minutes in the oven on Sunday, 200 degrees.",
        "The dough rests for thirty minutes each morning.",
    ]
    assert not {"minutes", "hours", "degrees", "sunday", "morning"} & {*distinctive([*members, *members], [])}


def test_synonyms_count_as_one_term():
    members = ["My bike is red.", "Oil the bicycle chain.", "His bicycle squeals."]
    assert distinctive(members, REST) == ("bicycle",)


def test_the_order_of_the_texts_does_not_matter():
    assert distinctive(COUNSELING[::-1], REST[::-1]) == distinctive(COUNSELING, REST)


def test_a_topic_covers_its_members_and_greetings_cover_nothing():
    assert told(COUNSELING, REST + GREETINGS).topicality == 1
    assert told(GREETINGS, COUNSELING + REST).topicality == 0


def test_topicality_is_the_share_of_members_that_hold_a_term():
    members = ["the kiln is hot", "a kiln", "kilns", "rain fell", "so what"]
    assert told(members, REST[:5] * 3).topicality == pytest.approx(3 / 5)
    assert told([], REST).topicality == 0


def test_a_name_is_a_term_but_no_topic():
    members = ["Rain fell on Ines.", "I met Ines.", "Ask Ines, she knows.", "The kiln is hot.", "So what?"]
    assert told(members, REST) == Topic(terms=("Ines",), topicality=0)
    assert told([*members, "A kiln for Ines.", "Two kilns."], REST).topicality == pytest.approx(3 / 7)


@pytest.mark.parametrize(("name", "topicality"), [("McKay", 0), ("O'Neill", 0), ("Day-Lewis", 0), ("GitHub", 1)])
def test_a_surname_with_a_capital_inside_is_a_name(name: str, topicality: float):
    members = [f"Rain fell on {name}.", f"I met {name}.", f"Ask {name} again."]
    assert told(members, REST).topicality == topicality


def test_a_form_of_address_alone_names_nothing():
    members = ["Mr Okafor has a new bed.", "Mr Lind is in bed seven.", "Move Mr Tanaka to a bed."]
    assert distinctive(members, REST) == ("bed",)


@pytest.mark.parametrize(
    ("member", "topicality"),
    [
        ("an Atlas of rivers", 1),
        ("The Atlas is late.", 1),
        ("my new atlas", 1),
        ("atlas, again", 1),
        ("ATLAS", 1),
        ("Atlas waits.", 0),
        ("Late, Atlas waits.", 0),
    ],
)
def test_a_word_is_no_name_if_a_text_writes_it_otherwise_or_after_an_article(member: str, topicality: float):
    members = ["We sold Atlas.", "We have Atlas.", "We painted Atlas."]
    assert told([*members, member], REST).topicality == topicality


def test_capitals_tell_no_names_where_all_nouns_have_them():
    members = ["der Chor probt", "im Chor singen", "den Chor leiten"]
    rest = ["neue Tomaten im Garten", "der Arzt mit dem Auto", "am Montag zur Schule", "das Angebot der Werkstatt"]
    assert told(members, rest * 2) == Topic(terms=("Chor",), topicality=1)
    assert told(members, REST * 3).topicality == 0


def test_long_texts_are_read_in_more_slices_and_no_text_is_left_out():
    short = [f"The heron of pond {number}." for number in range(30)]
    long = [text + " " * SLICE_CHARACTERS for text in short]
    few, reading = worked_off(index_terms(short))
    many, longer = worked_off(index_terms(long))
    assert few < 5 < len(long) <= many
    assert reading == longer
    assert reading.holders["heron"] == len(reading.texts) == 30
