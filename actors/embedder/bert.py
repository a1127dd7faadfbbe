"""The forward pass of a BERT encoder (Devlin et al. 2019) in plain torch.

Rows of different lengths aren't padded: the linear layers see all tokens of a batch as one matrix, and
attention is taken row by row. On one CPU core that costs what padding costs for rows of one length and
up to a tenth of it for mixed ones, and a row's states don't depend on who shares its batch.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 -- the name under which everyone knows it

EPSILON = 1e-12
"""`layer_norm_eps` of the published configuration."""


class Affine(NamedTuple):
    """Weight and bias of a linear layer or a layer norm."""

    weight: Tensor
    bias: Tensor


class Layer(NamedTuple):
    """One encoder layer, with query, key and value in one matrix."""

    attend: Affine
    attended: Affine
    attention_norm: Affine
    widen: Affine
    narrow: Affine
    output_norm: Affine


class Bert:
    """An encoder with the weights of a BERT checkpoint, on one device and in one dtype.

    Args:
        weights: The checkpoint's tensors under the names that `transformers` gives them.
        heads: The number of attention heads.
        device: Where to compute.
        dtype: In what to compute.
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
        self._heads = heads
        self._pieces = w["embeddings.word_embeddings.weight"]
        # All text is of the first of BERT's two segments, so its embedding joins the positions once.
        self._positions = w["embeddings.position_embeddings.weight"] + w["embeddings.token_type_embeddings.weight"][0]
        self._norm = affine("embeddings.LayerNorm")
        self._layers = [layer(f"encoder.layer.{index}") for index in range(depth)]

    @property
    def longest(self) -> int:
        """How many tokens a row may have."""
        return len(self._positions)

    @torch.inference_mode()
    def embeddings(self, ids: Sequence[int]) -> Tensor:
        """Return the input embeddings of token ids, shape (tokens, hidden), float32 on the CPU."""
        return self._pieces[torch.tensor(ids, device=self.device)].float().cpu()

    @torch.inference_mode()
    def __call__(self, rows: Sequence[Sequence[int]]) -> list[Tensor]:
        """Return the last layer's states of each row of token ids, shape (tokens, hidden), float32 on the CPU."""
        lengths = [len(row) for row in rows]
        ids = torch.tensor([token for row in rows for token in row], device=self.device)
        positions = torch.cat([torch.arange(length, device=self.device) for length in lengths])
        x = _norm(self._pieces[ids] + self._positions[positions], self._norm)
        for layer in self._layers:
            x = _norm(
                x + F.linear(self._attention(F.linear(x, *layer.attend), lengths), *layer.attended),
                layer.attention_norm,
            )
            x = _norm(x + F.linear(F.gelu(F.linear(x, *layer.widen)), *layer.narrow), layer.output_norm)
        return list(x.float().cpu().split(lengths))

    def _attention(self, projected: Tensor, lengths: list[int]) -> Tensor:
        """Attend within each row; `projected` holds query, key and value, shape (tokens, 3 * hidden)."""
        split = projected.unflatten(1, (3, self._heads, -1))
        rows: list[Tensor] = []
        for row in split.split(lengths):
            query, key, value = row.permute(1, 2, 0, 3).unsqueeze(1)
            rows.append(F.scaled_dot_product_attention(query, key, value)[0].transpose(0, 1).flatten(1))
        return torch.cat(rows)


def _norm(x: Tensor, norm: Affine) -> Tensor:
    return F.layer_norm(x, x.shape[-1:], norm.weight, norm.bias, EPSILON)
