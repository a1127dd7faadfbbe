"""Construction of the encoder and its tokenizer. Imports torch, which takes two thirds of a second."""

from typing import Final

import safetensors.torch
import torch
from tokenizers import Tokenizer

from actors.embedder.models.bert import Bert

HEADS: Final = 12


def load_encoder(weights: bytes, *, threads: int, precision: str) -> Bert:
    """Return the encoder from the bytes of `model.safetensors`, on a GPU if torch finds one, else on the CPU.

    Args:
        weights: The published tensors.
        threads: Threads of torch, for the whole process.
        precision: `float32`, `bfloat16` or `auto`.
    """
    torch.set_num_threads(threads)
    device = torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
    dtype = _fastest_dtype(device) if precision == "auto" else getattr(torch, precision)
    return Bert(safetensors.torch.load(weights), HEADS, device, dtype)


def load_tokenizer(data: bytes) -> Tokenizer:
    """Return the tokenizer from the bytes of `tokenizer.json`, without padding and truncation."""
    tokenizer = Tokenizer.from_buffer(data)
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def _fastest_dtype(device: torch.device) -> torch.dtype:
    """Return bfloat16 where a CPU multiplies it in hardware: twice the speed, cosine to float32 .9999."""
    capabilities = torch.cpu.get_capabilities()
    fast = capabilities.get("avx512_bf16", False) or capabilities.get("amx_bf16", False)
    return torch.bfloat16 if device.type == "cpu" and fast else torch.float32
