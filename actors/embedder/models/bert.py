"""The forward pass of a BERT encoder (Devlin et al. 2019) in plain torch.

Rows of different lengths are not padded: the linear layers take all tokens of a batch as one matrix, attention runs
row by row. On one CPU core the cost equals that of padding for rows of equal length, and falls to a tenth of it for
mixed ones. The states of a row do not depend on the other rows of its batch.

The pass is compiled to TorchScript, which releases the GIL once for the whole pass. Called from Python, each of its
hundreds of operations acquires the GIL anew and waits up to 5 ms: beside a thread that computes in Python, a text of 20
words then takes 600 ms instead of 10, and 16 of them 2 s instead of 50 ms. TorchScript is deprecated in favour of
torch.compile and torch.export, which need a C++ compiler on the machine that runs them; torch is pinned.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional


class Affine(NamedTuple):
    """Weight and bias of a linear layer or a layer norm."""

    weight: Tensor
    bias: Tensor


class Layer(NamedTuple):
    """One encoder layer; query, key and value are concatenated into one matrix."""

    attend: Affine
    attended: Affine
    attention_norm: Affine
    widen: Affine
    narrow: Affine
    output_norm: Affine


class Bert:
    """An encoder with the weights of a BERT checkpoint, on one device and in one dtype.

    Args:
        weights: The checkpoint's tensors by their names in `transformers`.
        heads: The number of attention heads.
        device: The device of weights and computation.
        dtype: The number format of weights and states.
    """

    def __init__(self, weights: dict[str, Tensor], heads: int, device: torch.device, dtype: torch.dtype) -> None:
        w = {name: t.to(device, dtype) for name, t in weights.items() if t.is_floating_point()}

        def affine(prefix: str) -> Affine:
            return Affine(w[f"{prefix}.weight"], w[f"{prefix}.bias"])

        def layer(prefix: str) -> Layer:
            projections = [affine(f"{prefix}.attention.self.{name}") for name in ("query", "key", "value")]
            return Layer(
                attend=Affine(*(torch.cat(parts) for parts in zip(*projections, strict=True))),
                attended=affine(f"{prefix}.attention.output.dense"),
                attention_norm=affine(f"{prefix}.attention.output.LayerNorm"),
                widen=affine(f"{prefix}.intermediate.dense"),
                narrow=affine(f"{prefix}.output.dense"),
                output_norm=affine(f"{prefix}.output.LayerNorm"),
            )

        depth = 1 + max(int(name.split(".")[2]) for name in w if name.startswith("encoder.layer."))
        self.device = device
        self.dtype = dtype
        self._pieces = w["embeddings.word_embeddings.weight"]
        # All text is in the first of BERT's two segments: add the segment embedding to the positions once.
        positions = w["embeddings.position_embeddings.weight"] + w["embeddings.token_type_embeddings.weight"][0]
        self.longest = len(positions)
        """Maximum number of tokens in a row."""
        layers = [layer(f"encoder.layer.{index}") for index in range(depth)]
        self._encode: Any = torch.jit.script(
            _Encoder(self._pieces, positions, affine("embeddings.LayerNorm"), layers, heads)
        )
        for _ in range(2):  # TorchScript profiles the first two runs, which take about 50 ms longer
            self([[0]])

    @torch.inference_mode()
    def embeddings(self, ids: npt.NDArray[np.int64]) -> Tensor:
        """Return the input embeddings of token ids, shape (tokens, hidden), float32 on the CPU."""
        return self._pieces[torch.from_numpy(ids).to(self.device)].float().cpu()

    @torch.inference_mode()
    def __call__(self, rows: Sequence[Sequence[int]]) -> list[Tensor]:
        """Return the last layer's states of each row of token ids, shape (tokens, hidden), float32 on the CPU."""
        return self._encode([token for row in rows for token in row], [len(row) for row in rows])


class _Encoder(nn.Module):
    """The compiled module, restricted to the subset of Python that TorchScript supports."""

    norm: Affine
    layers: list[Layer]
    heads: int

    def __init__(self, pieces: Tensor, positions: Tensor, norm: Affine, layers: list[Layer], heads: int) -> None:
        super().__init__()
        self.pieces = pieces
        self.positions = positions
        self.norm = norm
        self.layers = layers
        self.heads = heads

    def forward(self, ids: list[int], lengths: list[int]) -> list[Tensor]:
        """Return the states of rows with these lengths and concatenated ids."""
        device = self.pieces.device
        places = torch.cat([torch.arange(length, device=device) for length in lengths])
        x = _norm(self.pieces[torch.tensor(ids, device=device)] + self.positions[places], self.norm)
        for layer in self.layers:
            attended = _attention(_linear(x, layer.attend), lengths, self.heads)
            x = _norm(x + _linear(attended, layer.attended), layer.attention_norm)
            x = _norm(x + _linear(functional.gelu(_linear(x, layer.widen)), layer.narrow), layer.output_norm)
        return list(x.float().cpu().split(lengths))


def _attention(projected: Tensor, lengths: list[int], heads: int) -> Tensor:
    """Apply attention within each row; `projected` is query, key and value, shape (tokens, 3 * hidden)."""
    rows: list[Tensor] = []
    for row in projected.unflatten(1, (3, heads, -1)).split(lengths):
        query, key, value = row.permute(1, 2, 0, 3).unsqueeze(1).unbind()
        rows.append(functional.scaled_dot_product_attention(query, key, value)[0].transpose(0, 1).flatten(1))
    return torch.cat(rows)


def _linear(x: Tensor, affine: Affine) -> Tensor:
    return functional.linear(x, affine.weight, affine.bias)


def _norm(x: Tensor, norm: Affine) -> Tensor:
    return functional.layer_norm(x, [x.size(1)], norm.weight, norm.bias, eps=1e-12)  # as in the published configuration
