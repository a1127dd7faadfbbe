"""How many of a text's words the packaged model does not read whole."""

import pytest

from actors.embedder.models.backbone import Backbone
from actors.embedder.profiles.neural_spaces import WordPieces


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("Where did we leave the keys of the boat?", 0, 0),
        ("", 0, 0),
        ("?! ...", 0, 0),
        ("Zbigniew reads meters.", 0.3, 0.4),
        ("Does Zbigniew's kubelet know the tfstate?", 0, 0),
        ("redis eviction, failure modes", 0.25, 0.5),
        ("ITestAbfsRestOperationException failing", 0.5, 0.5),
        ("Waar liggen de reservesleutels?", 1, 1),
        ("Kommer han under helgen over broen?", 0.7, 1),
        ("Welche Kapitel von The Hobbit hat Peter gestern gelesen?", 0.7, 1),
        ("¿Quién compró las entradas para The Lion King en Madrid?", 0.7, 1),
        ("Hvor svømmer den lille and?", 0.6, 1),
        ("Combien coûte le cours de poterie ?", 0.7, 1),
        ("Где пароль от роутера?", 1, 1),
        ("여분의 열쇠는 어디에 있나요?", 1, 1),
    ],
)
def test_the_share_of_words_that_are_not_read_whole(backbone: Backbone, text: str, least: float, most: float) -> None:
    pieces = WordPieces(backbone.vocabulary())
    assert least <= pieces.unfamiliar(backbone.tokenize(text).ids) <= most
