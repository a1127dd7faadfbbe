"""How much of a text the packaged model reads in whole words."""

import pytest

from actors.embedder.models.backbone import Backbone
from actors.embedder.profiles.neural_spaces import WordPieces


@pytest.fixture(scope="module")
def backbone() -> Backbone:
    return Backbone.load()


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("Where did we leave the keys of the boat?", 0, 0),
        ("", 0, 0),
        ("?! ...", 0, 0),
        ("Zbigniew reads meters.", 0.1, 0.6),
        ("Does Zbigniew's kubelet know the tfstate?", 0, 0),
        ("Waar liggen de reservesleutels?", 0.4, 0.9),
        ("Kommer han under helgen over broen?", 0.2, 0.9),
        ("Где пароль от роутера?", 1, 1),
        ("여분의 열쇠는 어디에 있나요?", 1, 1),
    ],
)
def test_the_share_of_pieces_that_are_no_whole_words(backbone: Backbone, text: str, least: float, most: float) -> None:
    pieces = WordPieces(backbone.vocabulary())
    assert least <= pieces.unfamiliar(backbone.tokenize(text).ids) <= most
