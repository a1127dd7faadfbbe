import dataclasses
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.embedder.backbone import CLS, Backbone
from actors.embedder.expansion import RELATED_WEIGHT, ExpansionTable, expand


@pytest.fixture(scope="module")
def backbone():
    return Backbone.load()


@pytest.fixture(scope="module")
def table(backbone: Backbone):
    return ExpansionTable.load(backbone.vocabulary())


@pytest.fixture(scope="module")
def terms(backbone: Backbone, table: ExpansionTable):
    vocabulary = backbone.vocabulary()

    def terms(text: str, table: ExpansionTable = table) -> dict[str, float]:
        sparse = expand(backbone.tokenize(text).ids, table)
        return {vocabulary[piece]: float(weight) for piece, weight in zip(sparse.ids, sparse.values, strict=True)}

    return terms


def cosine(a: dict[str, float], b: dict[str, float]):
    inner = sum(weight * b.get(term, 0) for term, weight in a.items())
    return inner / np.sqrt(sum(w * w for w in a.values()) * sum(w * w for w in b.values()))


def test_a_car_meets_an_automobile(terms: Callable[..., dict[str, float]], table: ExpansionTable):
    assert terms("car")["automobile"] > 0
    assert cosine(terms("The car broke down"), terms("An automobile in repair")) > 0.1
    bare = dataclasses.replace(table, weights=np.zeros_like(table.weights))
    assert cosine(terms("The car broke down", bare), terms("An automobile in repair", bare)) == 0


def test_own_terms_weigh_more_than_related_ones_and_grow_with_their_count(terms: Callable[..., dict[str, float]]):
    once, thrice = terms("car"), terms("car car car")
    assert once["car"] == pytest.approx(np.log(2), rel=1e-3)
    assert thrice["car"] == pytest.approx(np.log(4), rel=1e-3)
    assert max(weight for term, weight in once.items() if term != "car") < RELATED_WEIGHT * once["car"]


@pytest.mark.requirement("INTEG-001/synth-001/e13")
def test_the_pangram_of_the_seed_has_its_words_and_more(terms: Callable[..., dict[str, float]]):
    found = terms("The quick brown fox jumps over the lazy dog")
    assert {"quick", "brown", "fox", "jumps", "lazy", "dog"} < set(found)
    assert {"puppy", "canine"} & set(found)
    assert "the" not in found


def test_a_piece_of_a_longer_word_is_kept_but_not_expanded(terms: Callable[..., dict[str, float]]):
    found = terms("doghouse")  # dog ##house
    assert "dog" in found
    assert "puppy" not in found


@pytest.mark.parametrize("text", ["to be or not to be", "?!"])
def test_a_text_of_stop_words_or_signs_alone_keeps_them(terms: Callable[..., dict[str, float]], text: str):
    assert terms(text)


def test_a_text_without_pieces_is_stood_for_by_its_frame(table: ExpansionTable):
    assert expand(np.array([CLS]), table).ids.tolist() == [CLS]


@given(st.lists(st.integers(min_value=0, max_value=30_521), min_size=1, max_size=60))
def test_any_pieces_give_a_sparse_embedding_that_holds_the_telling_ones(table: ExpansionTable, pieces: list[int]):
    ids = np.array(pieces)
    own = set(ids[~table.mute[ids]].tolist()) or set(pieces)
    assert own <= set(expand(ids, table).ids.tolist())


def test_relations_are_mutual(table: ExpansionTable):
    lines, columns = np.nonzero(table.weights)
    related = set(zip(lines.tolist(), table.terms[lines, columns].tolist(), strict=True))
    assert len(related) > 10_000
    assert all((b, a) in related for a, b in related)
