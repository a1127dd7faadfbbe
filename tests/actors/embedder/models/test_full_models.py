"""The loading code of the full profile, with tiny models of random weights saved to disk: no download."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from actors.embedder.models import full_models as full
from actors.embedder.models.full_models import MODELS, FullModels
from actors.embedder.models.sentence_model import ModelUnavailableError, folder_sha256
from events.fingerprint import Dense, Directed, Embedding, Sparse, Tokens
from tests.actors.embedder.tiny_models import LIMIT
from tests.actors.slices import worked_off

pytestmark = pytest.mark.usefixtures("offline")


@pytest.fixture(scope="module")
def models(sources: dict[str, Path]):
    return FullModels(sources, device="cpu")


def embed(models: FullModels, text: str, *, is_query: bool = False) -> dict[str, Embedding]:
    """Embed a text in all nine spaces."""
    return {key: worked_off(models.embed(key, text, is_query=is_query))[1][0] for key in MODELS}


def test_all_nine_parts_are_made_in_the_dimensions_that_are_declared(models: FullModels):
    parts = embed(models, "A quick brown fox.")
    dimension = {model.key: model.dimension for model in models.models}
    assert list(parts) == list(MODELS) == list(dimension)
    for key, part in parts.items():
        match part:
            case Dense():
                assert part.array.shape == (dimension[key],) == (32,)
            case Directed():
                assert part.as_cause.shape == part.as_effect.shape == (dimension[key],) == (32,)
            case Sparse():
                assert 0 < len(part.ids) <= full.MAX_TERMS
                assert part.ids.max() < dimension[key] == 30_522
            case Tokens():
                assert part.array.shape == (len(part.ids), dimension[key])
                assert dimension[key] == 16


def test_the_seeds_models_and_dimensions_are_the_default():
    assert MODELS["e1_semantic"] == ("intfloat/e5-large-v2", 1024)
    assert MODELS["e12_late_interaction"].dimension == 128


def test_a_question_and_a_passage_are_read_with_the_prefixes_of_e5_and_only_by_e1(models: FullModels):
    asked, told = (embed(models, "Where is the fox?", is_query=is_query) for is_query in (True, False))
    plain = models._encoders["e1_semantic"].encode(["query: Where is the fox?"], normalize_embeddings=True)[0]
    np.testing.assert_allclose(asked["e1_semantic"].array, plain, atol=3e-3)
    assert asked["e1_semantic"] != told["e1_semantic"]
    assert asked["e8_graph"] == told["e8_graph"]


def test_the_end_of_a_text_beyond_the_models_limit_changes_every_part(models: FullModels):
    beginning = "memory and time " * (2 * LIMIT)
    one, other = (embed(models, beginning + end) for end in ("a quick fox", "an old harbour"))
    for key in MODELS:
        assert one[key] != other[key], key
    assert len(one["e12_late_interaction"].ids) > 3 * LIMIT


def test_other_weights_have_another_hash(models: FullModels, sources: dict[str, Path], tmp_path: Path):
    shutil.copytree(sources["e1_semantic"], tmp_path / "dense")
    settings = tmp_path / "dense" / "config.json"
    settings.write_text(settings.read_text() + "\n")
    changed = folder_sha256(tmp_path / "dense")
    by_key = {model.key: model for model in models.models}
    assert by_key["e1_semantic"].sha256 == by_key["e8_graph"].sha256 == folder_sha256(sources["e1_semantic"]) != changed
    assert by_key["e1_semantic"].model == "dense, windows/1", "and no path of this machine"


def test_a_late_interaction_model_without_a_trained_projection_is_refused(sources: dict[str, Path]):
    with pytest.raises(ModelUnavailableError, match="no trained projection"):
        FullModels({**sources, "e12_late_interaction": sources["e1_semantic"]}, device="cpu")


def test_an_unavailable_model_is_named(sources: dict[str, Path]):
    with pytest.raises(ModelUnavailableError, match="nobody/nothing"):
        FullModels({**sources, "e1_semantic": "nobody/nothing"})


def test_a_folder_that_holds_no_model_is_named(sources: dict[str, Path], tmp_path: Path):
    with pytest.raises(ModelUnavailableError, match=f"{tmp_path} can't be loaded for e7_code"):
        FullModels({**sources, "e7_code": tmp_path})


def test_a_folder_of_models_has_a_folder_for_each_space(tmp_path: Path):
    for key in list(MODELS)[1:]:
        (tmp_path / key).mkdir()
    with pytest.raises(ModelUnavailableError, match=r"no folder for e1_semantic$"):
        full.local_sources(tmp_path)
    (tmp_path / "e1_semantic").mkdir()
    assert full.local_sources(tmp_path)["e13_splade"] == tmp_path / "e13_splade"


def test_a_space_without_a_model_is_refused(sources: dict[str, Path]):
    with pytest.raises(ModelUnavailableError, match="e9_hdc"):
        FullModels({**sources, "e9_hdc": "x"})
