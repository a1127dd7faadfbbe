"""The loading code of the full profile, with tiny models of random weights saved to disk: no download."""

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import BertConfig, BertForMaskedLM, BertModel, PreTrainedTokenizerFast

from actors.embedder import full
from actors.embedder.backbone import package_folder
from actors.embedder.full import MODELS, FullModels, FullProfileError
from events.fingerprint import Dense, Directed, Sparse, Tokens

LIMIT = 64
SHAPE = {
    "vocab_size": 30_522,
    "hidden_size": 32,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 64,
    "max_position_embeddings": LIMIT,
}


SPECIALS = {f"{name}_token": f"[{name.upper()}]" for name in ("unk", "cls", "sep", "pad", "mask")}


def save_tokenizer(folder: Path):
    for name in ("tokenizer.json", "special_tokens_map.json"):
        shutil.copy(package_folder() / name, folder / name)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_file=str(package_folder() / "tokenizer.json"),
        **SPECIALS,
        model_max_length=LIMIT,
    )
    tokenizer.backend_tokenizer.no_padding()
    tokenizer.backend_tokenizer.no_truncation()
    tokenizer.save_pretrained(folder)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory):
    """One folder for each kind of model."""
    root = tmp_path_factory.mktemp("models")
    torch.manual_seed(0)
    for name, kind in (("dense", BertModel), ("masked", BertForMaskedLM), ("colbert", BertModel)):
        kind(BertConfig(**SHAPE)).save_pretrained(root / name)
        save_tokenizer(root / name)
    # ColBERT's own layout: the encoder under `bert.`, the projection as `linear.weight`.
    weights = root / "colbert" / "model.safetensors"
    states = {f"bert.{name}": tensor for name, tensor in load_file(weights).items()}
    save_file({**states, "linear.weight": torch.randn(16, 32)}, weights, {"format": "pt"})
    config = root / "colbert" / "config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | {"architectures": ["HF_ColBERT"]}))
    return root


@pytest.fixture(scope="module")
def sources(folders: Path):
    kinds = {"e6_sparse": "masked", "e13_splade": "masked", "e12_late_interaction": "colbert"}
    return {key: folders / kinds.get(key, "dense") for key in MODELS}


@pytest.fixture(autouse=True)
def _offline(monkeypatch: pytest.MonkeyPatch) -> Tokens:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)


@pytest.fixture(scope="module")
def models(sources: dict[str, Path]):
    return FullModels(sources, device="cpu")


def test_all_nine_parts_are_made_in_the_dimensions_that_are_declared(models: FullModels):
    parts = models.embed("A quick brown fox.", asking=False)
    dimension = {model.key: model.dimension for model in models.models}
    assert list(parts) == list(MODELS) == list(dimension)
    for key, part in parts.items():
        match part:
            case Dense():
                assert part.array.shape == (dimension[key],) == (32,)
            case Directed():
                assert part.as_cause.shape == part.as_effect.shape == (dimension[key],) == (32,)
            case Sparse():
                assert 0 < len(part.ids) <= full.ACTIVE
                assert part.ids.max() < dimension[key] == 30_522
            case Tokens():
                assert part.array.shape == (len(part.ids), dimension[key])
                assert dimension[key] == 16


def test_the_seeds_models_and_dimensions_are_the_default():
    assert MODELS["e1_semantic"] == ("intfloat/e5-large-v2", 1024)
    assert MODELS["e12_late_interaction"].dimension == 128


def test_a_question_and_a_passage_are_read_with_the_prefixes_of_e5_and_only_by_e1(models: FullModels):
    asked, told = (models.embed("Where is the fox?", asking=asking) for asking in (True, False))
    plain = models._encoders["e1_semantic"].encode(["query: Where is the fox?"], normalize_embeddings=True)[0]
    np.testing.assert_allclose(asked["e1_semantic"].array, plain, atol=1e-3)
    assert asked["e1_semantic"] != told["e1_semantic"]
    assert asked["e8_graph"] == told["e8_graph"]


def test_the_end_of_a_text_beyond_the_models_limit_changes_every_part(models: FullModels):
    beginning = "memory and time " * (2 * LIMIT)
    one, other = (models.embed(beginning + end, asking=False) for end in ("a quick fox", "an old harbour"))
    for key in MODELS:
        assert one[key] != other[key], key
    assert len(one["e12_late_interaction"].ids) > 3 * LIMIT


def test_other_weights_have_another_hash(models: FullModels, sources: dict[str, Path], folders: Path, tmp_path: Path):
    shutil.copytree(folders / "dense", tmp_path / "dense")
    settings = tmp_path / "dense" / "config.json"
    settings.write_text(settings.read_text() + "\n")
    changed = full._sha256(tmp_path / "dense")
    by_key = {model.key: model for model in models.models}
    assert by_key["e1_semantic"].sha256 == by_key["e8_graph"].sha256 == full._sha256(sources["e1_semantic"]) != changed
    assert by_key["e1_semantic"].model == str(sources["e1_semantic"])


def test_a_late_interaction_model_without_a_trained_projection_is_refused(sources: dict[str, Path], folders: Path):
    with pytest.raises(FullProfileError, match="no trained projection"):
        FullModels({**sources, "e12_late_interaction": folders / "dense"}, device="cpu")


def test_a_missing_extra_names_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch, sources: dict[str, Path]):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(FullProfileError, match=r"pip install 'context-graph\[full\]'"):
        FullModels(sources)


def test_a_model_that_can_not_be_had_is_named(sources: dict[str, Path]):
    with pytest.raises(FullProfileError, match="nobody/nothing"):
        FullModels({**sources, "e1_semantic": "nobody/nothing"})


def test_a_space_without_a_model_is_refused(sources: dict[str, Path]):
    with pytest.raises(FullProfileError, match="e9_hdc"):
        FullModels({**sources, "e9_hdc": "x"})
