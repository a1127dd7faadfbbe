from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

from actors.embedder.models.backbone import CLS, SEP, Backbone
from actors.embedder.spaces.tokens import MAX_TOKENS, TokenWeights, select_tokens, token_embeddings
from events.fingerprint import Tokens
from events.quantization import Float32

pytestmark = pytest.mark.numeric


def kept_embedding(
    ids: npt.NDArray[np.integer], states: Float32, using: TokenWeights, limit: int = MAX_TOKENS
) -> Tokens:
    """Return E12 of a text of one window."""
    kept = select_tokens(ids, using, limit)
    return token_embeddings([ids[kept]], [states[kept]], using)[0]


@pytest.fixture(scope="module")
def using():
    return TokenWeights.load()


@pytest.fixture(scope="module")
def embed(backbone: Backbone, using: TokenWeights):
    def embed(text: str, **options: int) -> Tokens:
        ids = backbone.tokenize(text).ids
        return kept_embedding(np.array([CLS, *ids, SEP]), backbone.forward([ids])[0], using, **options)

    return embed


@pytest.fixture(scope="module")
def pieces(backbone: Backbone):
    vocabulary = backbone.vocabulary()
    return lambda tokens: [vocabulary[piece] for piece in tokens.ids]


def random_states(count: int):
    return np.random.default_rng(0).normal(size=(count, 384)).astype(np.float32)


def max_sim(query: Tokens, document: Tokens):
    """Mean over the query's tokens of the best cosine in the document."""
    q, d = (
        tokens.array / np.linalg.norm(tokens.array.astype(np.float32), axis=1)[:, None] for tokens in (query, document)
    )
    return (q @ d.T).max(axis=1).mean()


def test_words_keep_their_order_and_specials_and_punctuation_are_dropped(
    embed: Callable[..., Tokens], pieces: Callable[[Tokens], list[str]]
):
    tokens = embed("Wait, what?! Foxes jump.")
    assert pieces(tokens) == ["wait", "what", "foxes", "jump"]
    assert tokens.array.shape == (4, 128)


def test_the_pangram_of_the_seed_has_a_vector_for_each_of_its_nine_words(embed: Callable[..., Tokens]):
    assert len(embed("The quick brown fox jumps over the lazy dog").ids) == 9


@pytest.mark.parametrize("text", ["?!", "🙂", ""])
def test_a_text_without_words_keeps_all_its_tokens(embed: Callable[..., Tokens], text: str):
    assert len(embed(text).ids) >= 2


def test_a_paraphrase_is_nearer_than_another_subject(embed: Callable[..., Tokens]):
    query = embed("How did the doctor treat the patient?")
    assert max_sim(query, embed("The physician healed a sick man.")) > max_sim(
        query, embed("Our ship left the harbour.")
    )


def test_the_projection_keeps_the_cosines_of_token_states(backbone: Backbone, using: TokenWeights):
    states = backbone.forward([backbone.tokenize("The committee moved the deadline to the end of March").ids])[0][1:-1]
    unit = [each / np.linalg.norm(each, axis=1)[:, None] for each in (states, states @ using.projection)]
    whole, projected = (each @ each.T for each in unit)
    assert np.corrcoef(whole.ravel(), projected.ravel())[0, 1] > 0.9


def test_a_long_memory_keeps_its_most_informative_tokens_in_their_order(backbone: Backbone, using: TokenWeights):
    ids = backbone.tokenize("the kubernetes of a postgres and the oscillator " * 3).ids
    tokens = kept_embedding(ids, random_states(len(ids)), using, limit=6)
    kept = tokens.ids.astype(int)
    left_out = set(ids.tolist()) - set(kept.tolist())
    assert len(kept) == 6
    assert using.informativeness[kept].min() >= max(using.informativeness[list(left_out)])
    positions = [ids.tolist().index(piece) for piece in kept]
    assert positions == sorted(positions)


def test_first_occurrences_precede_repeated_ones(backbone: Backbone, using: TokenWeights):
    ids = backbone.tokenize("oscillator oscillator oscillator the of").ids
    tokens = kept_embedding(ids, random_states(len(ids)), using, limit=len(set(ids.tolist())))
    assert sorted(tokens.ids.tolist()) == sorted(set(ids.tolist()))


def test_up_to_the_limit_every_token_is_kept(backbone: Backbone, using: TokenWeights):
    ids = backbone.tokenize("word " * 512).ids
    assert len(kept_embedding(ids, random_states(512), using).ids) == 512
    assert len(kept_embedding(np.append(ids, ids[0]), random_states(513), using).ids) == 512


def test_rare_words_are_more_informative_than_common_ones_and_signs_are_not_informative(
    backbone: Backbone, using: TokenWeights
):
    common, rare, sign = (using.informativeness[backbone.tokenize(text).ids[0]] for text in ("the", "parliament", ","))
    assert 0 == sign < common < rare
