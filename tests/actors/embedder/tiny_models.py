"""Tiny models of random weights, of each shape that the full profile loads: they mean nothing."""

import json
import shutil
from pathlib import Path

from actors.embedder.models.backbone import package_folder
from actors.embedder.models.full_models import MODELS

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
    from transformers import PreTrainedTokenizerFast

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


def save_models(root: Path) -> dict[str, Path]:
    """Save one model of each kind, and return the folder of each space's."""
    import torch
    from safetensors.torch import load_file, save_file
    from transformers import BertConfig, BertForMaskedLM, BertModel

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
    kinds = {"e6_sparse": "masked", "e13_splade": "masked", "e12_late_interaction": "colbert"}
    return {key: root / kinds.get(key, "dense") for key in MODELS}
