import dataclasses
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.embedder.models.backbone import CLS, SEP, Backbone
from actors.embedder.spaces.expansion import INPUT_TOKENS, RELATED_WORDS, ExpansionHead, expand, most_informative
from actors.embedder.spaces.tokens import TokenWeights, select_tokens, token_embeddings
from events.fingerprint import Tokens

pytestmark = pytest.mark.numeric

Terms = Callable[..., dict[str, float]]
"""From a text to the weights of its terms."""


@pytest.fixture(scope="module")
def head(backbone: Backbone):
    return ExpansionHead.load(backbone.vocabulary(), TokenWeights.load().informativeness)


@pytest.fixture(scope="module")
def mute_head(head: ExpansionHead):
    """A head without related words."""
    return dataclasses.replace(head, bias=np.full_like(head.bias, -100))


@pytest.fixture(scope="module")
def terms(backbone: Backbone, head: ExpansionHead):
    vocabulary = backbone.vocabulary()
    using = TokenWeights.load()

    def terms(text: str, head: ExpansionHead = head) -> dict[str, float]:
        pieces = backbone.tokenize(text).ids
        framed = np.concatenate([[CLS], pieces, [SEP]])
        kept = select_tokens(framed, using)
        tokens = token_embeddings([framed[kept]], [backbone.forward([pieces])[0][kept]], using)
        (sparse,) = expand([pieces], tokens, head)
        return {vocabulary[piece]: float(weight) for piece, weight in zip(sparse.ids, sparse.values, strict=True)}

    return terms


def cosine(a: dict[str, float], b: dict[str, float]):
    inner = sum(weight * b.get(term, 0) for term, weight in a.items())
    return inner / np.sqrt(sum(w * w for w in a.values()) * sum(w * w for w in b.values()))


def test_texts_of_one_meaning_match_without_a_common_word(terms: Terms, mute_head: ExpansionHead):
    car, automobile, unrelated = "The car broke down", "An automobile in repair", "Tulips bloom in spring"
    assert cosine(terms(car), terms(automobile)) > max(0.2, 3 * cosine(terms(car), terms(unrelated)))
    assert cosine(terms(car, mute_head), terms(automobile, mute_head)) == 0


def test_a_text_about_an_automobile_is_found_by_words_that_it_does_not_contain(terms: Terms):
    texts = ["She parked her automobile in the garage", "The choir sang in the cathedral", "He peeled three potatoes"]
    for question in ("vehicle", "cars", "driving"):
        scores = [cosine(terms(question), terms(text)) for text in texts]
        assert scores[0] == max(scores) > 0, question


def test_related_words_depend_on_the_context_of_a_word(terms: Terms):
    money, river = terms("He put his money in the bank"), terms("He sat on the bank of the river")
    assert money.get("cash", 0) > river.get("cash", 0)
    assert river.get("stream", 0) > money.get("stream", 0)


def test_own_terms_grow_with_their_frequency(terms: Terms, mute_head: ExpansionHead):
    assert terms("car", mute_head) == {"car": pytest.approx(np.log(2), rel=1e-3)}
    assert terms("car car car", mute_head) == {"car": pytest.approx(np.log(4), rel=1e-3)}


def test_an_own_term_never_weighs_less_than_without_the_head(terms: Terms, mute_head: ExpansionHead):
    text = "The disk was full, so saving the report failed"
    found = terms(text)
    assert all(found[term] >= weight for term, weight in terms(text, mute_head).items())


@pytest.mark.requirement("INTEG-001/synth-001/e13")
def test_the_pangram_of_the_seed_has_its_words_and_more(terms: Terms):
    found = terms("The quick brown fox jumps over the lazy dog")
    assert {"quick", "brown", "fox", "jumps", "lazy", "dog"} < set(found)
    assert {"puppy", "dogs", "leap"} & set(found)
    assert "the" not in found


@pytest.mark.parametrize("text", ["to be or not to be", "?!"])
def test_a_text_of_stop_words_or_signs_alone_keeps_them(terms: Terms, text: str):
    assert terms(text)


def test_a_text_without_pieces_is_represented_by_its_cls_token(head: ExpansionHead):
    frame = Tokens.of([CLS], np.ones((1, 128)))
    assert expand([np.array([CLS])], [frame], head)[0].ids.tolist() == [CLS]


@given(st.lists(st.integers(min_value=0, max_value=30_521), min_size=1, max_size=60))
def test_any_text_keeps_its_informative_pieces_and_gets_a_bounded_number_of_related_words(
    head: ExpansionHead, pieces: list[int]
):
    ids = np.array(pieces)
    own = set(ids[~head.uninformative[ids]].tolist()) or set(pieces)
    vectors = np.random.default_rng(sum(pieces)).normal(size=(len(pieces), 128))
    found = set(expand([ids], [Tokens.of(pieces, vectors)], head)[0].ids.tolist())
    assert own <= found
    assert len(found) <= len(own) + RELATED_WORDS


@given(st.lists(st.integers(min_value=0, max_value=30_521), min_size=1, max_size=3 * INPUT_TOKENS))
def test_the_head_sees_the_most_informative_tokens(head: ExpansionHead, pieces: list[int]):
    information = head.informativeness[pieces]
    places = most_informative(np.array(pieces), head.informativeness, INPUT_TOKENS)
    assert len(places) == min(INPUT_TOKENS, len(pieces))
    assert sorted(information[places]) == sorted(information)[-INPUT_TOKENS:]


def test_the_head_predicts_no_people_and_no_places(backbone: Backbone, head: ExpansionHead):
    vocabulary = backbone.vocabulary()
    named = {vocabulary[word] for word in head.words}
    assert {"car", "vehicle", "doctor"} < named
    assert not {"emma", "lucy", "william", "london", "california"} & named
