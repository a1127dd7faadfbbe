"""What may be merged: copies whatever their spacing, never two memories that say different things."""

import random
import unicodedata
from datetime import timedelta
from itertools import combinations
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.consolidator.judgement.merge_sets import (
    MAX_NEIGHBOURS,
    MAX_TEXTS,
    DuplicateCandidate,
    MergeSet,
    exact_copies,
    merge_sets,
)
from actors.text import text_equivalence
from actors.text.text_equivalence import NormalizedText, normalize
from tests.events.samples import NOON
from tests.projections.history import memory_id

PROSE = "The meeting about the new bridge is in the town hall"
FUNCTION = "def total(values):\n    # Add them up.\n    return sum(values)\n"


def candidate(number: int, content: str = PROSE, **more: object) -> DuplicateCandidate:
    fields = {"code": False, "importance": 0.5, "created_at": NOON, "row": number} | more
    return DuplicateCandidate(memory=memory_id(number), content=content, **fields)


def contradiction(one: str, other: str, *, code: bool, strict: bool = False) -> str | None:
    texts = (NormalizedText(text, code=code) for text in (one, other))
    return text_equivalence.contradiction(*texts, strict=strict)


def ids(*numbers: int) -> tuple[UUID, ...]:
    return tuple(memory_id(number) for number in numbers)


# ── copies ──────────────────────────────────────────────────────────────────────────────────────────


@given(st.lists(st.text(min_size=1).filter(lambda word: not any(map(str.isspace, word))), min_size=1), st.data())
def test_prose_is_the_same_however_it_is_spaced(words: list[str], data: st.DataObject):
    blanks = st.text(" \n\t\u00a0\r", min_size=1, max_size=3)
    spaced = "".join(data.draw(blanks) + word for word in words) + data.draw(blanks)
    assert normalize(spaced, code=False) == normalize(" ".join(words), code=False)


@given(st.text(), st.booleans())
def test_what_is_normalised_stays_as_it_is(text: str, code: bool):
    once = normalize(text, code=code)
    assert normalize(once, code=code) == once


def test_letters_are_the_same_however_they_are_composed():
    assert normalize(unicodedata.normalize("NFD", "Zoë’s café"), code=False) == "Zoë’s café"


def test_words_that_only_run_together_are_not_the_same():
    assert normalize("no where", code=False) != normalize("nowhere", code=False)


@pytest.mark.parametrize("other", ["\n\n" + FUNCTION, FUNCTION.replace("\n", "  \n"), FUNCTION.replace("\n", "\r\n\n")])
def test_blanks_at_ends_of_lines_and_empty_lines_of_code_do_not_count(other: str):
    assert normalize(other, code=True) == normalize(FUNCTION, code=True)


@pytest.mark.parametrize("other", [FUNCTION.replace("    ", "  "), FUNCTION.replace("\n    ", " "), f" {FUNCTION}"])
def test_indentation_and_lines_of_code_count(other: str):
    assert normalize(other, code=True) != normalize(FUNCTION, code=True)


def test_copies_are_grouped_and_lone_memories_left_out():
    memories = [candidate(1), candidate(2, "Something else"), candidate(3, f" {PROSE}\n"), candidate(4, PROSE.upper())]
    assert exact_copies(memories) == [[memories[0], memories[2]]]


def test_code_is_no_copy_of_the_same_characters_as_prose():
    assert exact_copies([candidate(1), candidate(2, code=True)]) == []


# ── what contradicts ────────────────────────────────────────────────────────────────────────────────

DIFFERENT = [
    ("number", "There were 3 dogs in the yard", "There were 4 dogs in the yard"),
    ("number", "There were three dogs in the yard", "There were four dogs in the yard"),
    ("number", "It was -5 degrees outside", "It was 5 degrees outside"),
    ("number", "Upgrade to v1.2.3 first", "Upgrade to v1.2.4 first"),
    ("number", "He won in 2012 and 2017", "He won in 2012, 2015 and 2017"),
    ("date", "The meeting is on Monday", "The meeting is on Tuesday"),
    ("date", "They moved in March", "They moved in April"),
    ("date", "She calls tomorrow", "She calls yesterday"),
    ("date", "He was diagnosed with lung cancer", "He was diagnosed with early lung cancer"),
    ("negation", "They do agree with it", "They don't agree with it"),
    ("several words", "The build works", "The build doesn’t work"),
    ("negation", "They do agree with it", "They do not agree with it"),
    ("quantity", "All of the tests pass", "None of the tests pass"),
    ("quantity", "He always comes by train", "He never comes by train"),
    ("quantity", "Mary is more likely to win", "Mary is less likely to win"),
    ("possibility", "You must restart it", "You may restart it"),
    ("person", "He told her about the job", "He told him about the job"),
    ("person", "I'm going to the market", "You're going to the market"),
    ("possibility", "They'll pay for it", "They pay for it"),
    ("name", "Caroline went to the zoo", "Melanie went to the zoo"),
    ("name", "They flew to Paris with the kids", "They flew to Lisbon with the kids"),
    ("name", "Set `max_workers` in the file", "Set `min_workers` in the file"),
    ("opposites", "Click the left button", "Click the right button"),
    ("opposites", "Some plants lack male cells", "Some plants lack female cells"),
    ("opposites", "How to increase the moment of inertia", "How to decrease the moment of inertia"),
    ("opposites", "The sales had increased that way", "The sales had decreased that way"),
    ("opposites", "It is an important step", "It is an unimportant step"),
    ("opposites", "The dog is harmful to them", "The dog is harmless to them"),
    ("order", "A tuna had an eye on a squid", "A squid had an eye on a tuna"),
    ("order", "Nate: Bye Joanna!", "Joanna: Bye Nate!"),
    ("order", "Smith moved from Africa to Asia", "Smith moved from Asia to Africa"),
    ("sign", "The server is up?", "The server is up."),
    ("sign", "x < y holds", "x > y holds"),
    ("name", "Press `Save all` first", "Press `Save one` first"),
    ("order", "The price is (base + tax) * rate", "The price is base + (tax * rate)"),
    ("order", 'He said that the "good plan" was his', 'He said that the "good" plan was his'),
    ("several words", 'The plan was "good" in the end', "The plan was good in the end"),
    ("several words", "Tom bought a nice house there", "Tom sold a nice boat there"),
    ("name", "Set PATH in the profile", "Set path in the profile"),
    ("name", "The transmitter draws 5 mW", "The transmitter draws 5 MW"),
    ("number", "The token is aB3xK9qLmZ", "The token is Ab3Xk9QlMz"),
    ("name", "Run it with --dry-run on the replica", "Run it with --force on the replica"),
    ("name", "The channel is #ops-alerts", "The channel is #ops-notices"),
    ("name", "It lives in /etc/shop.conf there", "It lives in /etc/blog.conf there"),
    ("name", "A well-known trick", "A little-known trick"),
    ("name", "Call `fetch` before the other one", "Call `parse` before the other one"),
    ("name", "They call fetch() first", "They call parse() first"),
    ("colour", "The light of the pump is red", "The light of the pump is green"),
    ("measure", "Keep it ten meters away", "Keep it ten miles away"),
    ("letter", "Stay on the alpha release", "Stay on the beta release"),
    ("kin", "His brother works there", "His cousin works there"),
    ("name", "Vitamin A is in the pill", "Vitamin C is in the pill"),
    ("number", "It takes 10² steps", "It takes 102 steps"),
    ("script", "会议在东京举行", "会议不在东京举行"),
]


@pytest.mark.parametrize(("kind", "one", "other"), DIFFERENT)
def test_a_difference_of_fact_is_a_contradiction_from_either_side(kind: str, one: str, other: str):
    for left, right in ((one, other), (other, one)):
        told = contradiction(left, right, code=False)
        assert told is not None
        assert told.split(":")[0] in {kind, *({"quantity", "negation"} if kind == "quantity" else ())}


SAME = [
    (PROSE, PROSE),
    ("He bought a big house near the park", "He bought a large house near the park"),
    ("Mom kept the bird inside the house", "Mom kept the bird inside the hut"),
    ("Joanna: Thanks, Nate! It is appreciated.", "Joanna: Thanks Nate! It is appreciated"),
    ("Tom is a student majoring anthropology.", "Tom is a student majoring in Anthropology."),
    ("I looked it up in the dictionary", "I look it up in the dictionary"),
    ("Luka Dončić – 2018", "- Luka Dončić - 2018"),
    ("I’ll go to the market", "I will go to the market"),
    ("The café was very nice", "The café was nice"),
    ("She's happy about Tom's news", "She’s happy about Tom’s news"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_other_words_punctuation_and_capitals_are_no_contradiction(one: str, other: str):
    assert contradiction(one, other, code=False) is None
    assert contradiction(other, one, code=False) is None


@pytest.mark.parametrize(("one", "other"), [("US", "us"), ("MB", "Mb"), ("PATH", "Path"), ("eBay", "ebay")])
def test_capitals_count_but_for_the_first_of_a_word(one: str, other: str):
    left, right = (f"It was meant for {word} by then" for word in (one, other))
    for strict in (True, False):
        assert contradiction(left, right, code=False, strict=strict) is not None
        assert contradiction(right, right.replace(other, other.capitalize()), code=False, strict=strict) is None


FOREIGN = [
    ("Der Vertrag wurde von keiner Partei unterschrieben", "Der Vertrag wurde von einer Partei unterschrieben"),
    ("Das Paket wird ohne Versicherung geschickt", "Das Paket wird mit Versicherung geschickt"),
    ("Das Treffen findet heute im Büro statt", "Das Treffen findet morgen im Büro statt"),
    ("Das ist gut", "Das ist nicht gut"),
    ("Notre équipe à Lyon a acheté trois serveurs", "Notre équipe à Lyon a acheté cinq serveurs"),
    ("El pedido se entrega sin factura en Madrid", "El pedido se entrega con factura en Madrid"),
    ("La riunione con il cliente non è confermata", "La riunione con il cliente è confermata"),
    ("A reunião com o cliente não está confirmada", "A reunião com o cliente está confirmada"),
    ("Het pakket is niet naar de klant gestuurd", "Het pakket is naar de klant gestuurd"),
    ("Mötet med kunden är inte bekräftat", "Mötet med kunden är bekräftat"),
    ("Spotkanie z klientem w Warszawie nie jest pewne", "Spotkanie z klientem w Warszawie jest pewne"),
    ("Das Treffen ist in der alten Halle", "Das Treffen ist in der neuen Halle"),
    ("Der Zug kommt an und ist voll", "Der Zug kommt und ist voll"),
]


@pytest.mark.parametrize(("one", "other"), FOREIGN)
def test_of_another_language_every_word_counts(one: str, other: str):
    assert contradiction(one, other, code=False) == contradiction(other, one, code=False) == "words"


def test_of_another_language_the_same_words_are_no_contradiction():
    assert contradiction("Das Treffen, heute, ist im Büro!", "das Treffen heute ist im Büro", code=False) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Joanna: Thanks, Nate! It is appreciated.", "Joanna: Thanks Nate. It is appreciated"),
        ("Luka Dončić – 2018", "- Luka Dončić - 2018"),
        ("Oh, the café was really very nice…", "The café was nice."),
        ("A house near the park was sold", "a house near a park was sold"),
        ("I’ll go to the market", "I will go to the market"),
    ],
)
def test_strictly_the_same_words_may_differ_in_form_and_fillers(one: str, other: str):
    assert contradiction(one, other, code=False, strict=True) is None


def test_fillers_count_where_there_is_nothing_else():
    assert contradiction("Just so.", "Oh well!", code=False, strict=True) == "words"
    assert contradiction("Oh well.", "Oh, well!", code=False, strict=True) is None


@pytest.mark.parametrize(("one", "other"), [("big", "large"), ("whole", "entire"), ("old", ""), ("car", "cars")])
def test_strictly_any_other_word_counts_though_it_may_say_the_same(one: str, other: str):
    left, right = (f"He bought the {word} near the park" for word in (one, other))
    assert contradiction(left, right, code=False) is None
    assert contradiction(left, right, code=False, strict=True) == "words"


@given(st.text(), st.text(), st.booleans())
def test_a_text_does_not_contradict_itself_and_any_two_do_so_from_both_sides(one: str, other: str, code: bool):
    assert contradiction(one, one, code=code) is None
    forth, back = contradiction(one, other, code=code), contradiction(other, one, code=code)
    assert (forth is None) == (back is None)
    if contradiction(one, other, code=code, strict=True) is None:
        assert forth is None, "what is the same strictly is the same"


@pytest.mark.parametrize(
    "other",
    [
        FUNCTION.replace("# Add them up.", "# Sum."),
        FUNCTION.replace("    # Add them up.\n", ""),
        FUNCTION.replace("sum(values)", "sum( values )  # all"),
    ],
)
def test_code_may_differ_in_comments_and_blanks(other: str):
    assert contradiction(FUNCTION, other, code=True) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (FUNCTION, FUNCTION.replace("sum", "max")),
        (FUNCTION, FUNCTION.replace("total", "whole")),
        ("if a:\n    b()\n    c()\n", "if a:\n    b()\nc()\n"),
        ("x = '# one'\n", "x = '# two'\n"),
        ("for a in b:\n    c = a // 2\n", "for a in b:\n    c = a // 3\n"),
        ("int a = 1; // one\nint b = 2;", "int a = 1; // one\nint b = 3;"),
        ("#define A 1\nint a;\n", "#define A 2\nint a;\n"),
        ('"""One."""\nx = 1\n', '"""Two."""\nx = 1\n'),
    ],
)
def test_any_other_difference_of_code_is_a_contradiction(one: str, other: str):
    assert contradiction(one, other, code=True) == "code"


def test_comments_of_languages_like_c_do_not_count():
    one = "int a = 1; // one\n/* two\nlines */\nint b = 2;\n"
    assert contradiction(one, "int a = 1; // eins\nint b = 2;\n", code=True) is None


# ── sets ────────────────────────────────────────────────────────────────────────────────────────────

WORDS = "bridge tunnel road canal tower".split()


def variants(*numbers: int) -> list[DuplicateCandidate]:
    """Return memories with one ordinary word changed, of which none contradicts another."""
    return [candidate(number, PROSE.replace("bridge", WORDS[number - 1])) for number in numbers]


def test_a_chain_of_pairs_is_one_set_and_each_has_the_similarity_to_its_most_alike():
    pairs = [(*ids(1, 2), 0.92), (*ids(2, 3), 0.97), (*ids(3, 4), 0.91)]
    assert merge_sets(variants(1, 2, 3, 4, 5), pairs, strict=False) == [
        MergeSet(memory_id(1), ids(2, 3, 4), (0.97, 0.97, 0.91))
    ]


@pytest.mark.parametrize(
    ("second", "survivor"),
    [
        ({"importance": 0.6, "created_at": NOON + timedelta(days=1)}, 2),
        ({"created_at": NOON - timedelta(days=1)}, 2),
        ({"created_at": NOON - timedelta(days=1), "importance": 0.4}, 1),
        ({}, 1),
        ({"row": 0}, 2),
    ],
    ids=["the more important", "the older", "the more important one though younger", "the first stored", "its row"],
)
def test_one_survives_by_importance_then_age_then_the_order_of_storing(second: dict[str, object], survivor: int):
    (merged,) = merge_sets([candidate(1), candidate(2, **second)], [], strict=False)
    assert merged == MergeSet(memory_id(survivor), ids(3 - survivor), (1.0,))


def test_copies_need_no_pair_and_bring_what_is_like_any_of_them_into_their_set():
    memories = [candidate(1), candidate(2, f"{PROSE} "), candidate(3, PROSE.replace("bridge", "tunnel"))]
    assert merge_sets(memories, [(*ids(3, 2), 0.93)], strict=False) == [MergeSet(memory_id(1), ids(2, 3), (1.0, 0.93))]


def test_a_pair_that_contradicts_is_not_merged():
    memories = [candidate(1, f"{PROSE} on Monday"), candidate(2, f"{PROSE} on Tuesday")]
    assert merge_sets(memories, [(*ids(1, 2), 0.99)], strict=False) == []


def test_a_chain_does_not_join_two_that_contradict_and_the_more_similar_pair_wins():
    memories = [candidate(number, f"He had a {how} meal") for number, how in enumerate(["hot", "nice", "cold"], 1)]
    assert contradiction(memories[0].content, memories[1].content, code=False) is None
    assert contradiction(memories[1].content, memories[2].content, code=False) is None
    pairs = [(*ids(1, 2), 0.93), (*ids(2, 3), 0.96)]
    assert merge_sets(memories, pairs, strict=False) == [MergeSet(memory_id(2), ids(3), (0.96,))]


def test_two_sets_are_not_joined_where_only_their_other_members_contradict():
    said = ["hot", "nice", "fine", "cold"]
    memories = [candidate(number, f"He had a {how} meal") for number, how in enumerate(said, 1)]
    pairs = [(*ids(1, 2), 0.97), (*ids(3, 4), 0.96), (*ids(2, 3), 0.95)]
    assert merge_sets(memories, pairs, strict=False) == [
        MergeSet(memory_id(1), ids(2), (0.97,)),
        MergeSet(memory_id(3), ids(4), (0.96,)),
    ]


def test_a_strict_pair_has_the_same_words():
    memories = [*variants(1, 2), candidate(3, f"{PROSE}!")]
    pairs = [(*ids(1, 2), 0.99), (*ids(1, 3), 0.96)]
    assert merge_sets(memories, pairs, strict=True) == [MergeSet(memory_id(1), ids(3), (0.96,))]


@pytest.mark.parametrize("count", [MAX_NEIGHBOURS + 1, MAX_NEIGHBOURS + 2])
def test_of_more_texts_of_one_mould_none_is_merged_but_copies_are(count: int):
    memories = [*variants(*range(1, count + 1)), candidate(9)]
    pairs = [(one.memory, other.memory, 0.97) for one, other in combinations(memories, 2)]
    (merged,) = merge_sets(memories, pairs, strict=False)
    assert merged.survivor == memory_id(1)
    assert len(merged.absorbed) == (count if count <= MAX_NEIGHBOURS + 1 else 1)
    assert memory_id(9) in merged.absorbed


def test_a_set_does_not_grow_beyond_its_limit():
    words = [f"{one}{other}" for one in "bcdfg" for other in ("ake", "ill", "orn")]
    memories = [candidate(number, PROSE.replace("bridge", word)) for number, word in enumerate(words, 1)]
    pairs = [(*ids(number, number + 1), 0.99 - number / 1_000) for number in range(1, len(words))]
    sizes = [1 + len(merged.absorbed) for merged in merge_sets(memories, pairs, strict=False)]
    assert max(sizes) == MAX_TEXTS
    assert sum(sizes) == len(words)


@pytest.mark.parametrize("strict", [True, False])
def test_memories_of_different_kinds_are_not_merged_be_they_copies_or_alike(strict: bool):
    memories = [
        candidate(1, kind=("Anna",)),
        candidate(2, kind=("Bert",)),
        candidate(3, f"{PROSE}!", kind=("Bert",)),
        candidate(4, kind=("Anna",)),
    ]
    pairs = [(one.memory, other.memory, 0.99) for one, other in combinations(memories, 2)]
    assert merge_sets(memories, pairs, strict=strict) == [
        MergeSet(memory_id(1), ids(4), (1.0,)),
        MergeSet(memory_id(2), ids(3), (0.99,)),
    ]


texts = st.lists(
    st.sampled_from(["hot", "cold", "nice", "harmful", "harmless", "3", "small", "big", "tall"]), min_size=1, max_size=2
)


@given(st.lists(texts, min_size=2, max_size=8), st.randoms(use_true_random=False))
def test_no_set_holds_two_that_contradict_and_order_does_not_matter(words: list[list[str]], rng: random.Random):
    memories = [
        candidate(number, f"The {' '.join(said)} soup", importance=rng.choice([0.2, 0.5]))
        for number, said in enumerate(words, 1)
    ]
    pairs = [(one.memory, other.memory, rng.uniform(0.9, 1.0)) for one, other in combinations(memories, 2)]
    merged = merge_sets(memories, pairs, strict=False)
    content = {one.memory: one.content for one in memories}
    for found in merged:
        members = (found.survivor, *found.absorbed)
        assert all(
            contradiction(content[one], content[other], code=False) is None for one, other in combinations(members, 2)
        )
    everywhere = [memory for found in merged for memory in (found.survivor, *found.absorbed)]
    assert len(set(everywhere)) == len(everywhere), "each memory is in one set at most"
    rng.shuffle(memories)
    turned = [(other, one, similarity) for one, other, similarity in pairs]
    rng.shuffle(turned)
    assert merge_sets(memories, turned, strict=False) == merged
