"""The packaged model through torch on a device, for which the graph of `bert` is not made: a GPU."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
import torch

from actors.embedder.models.sentence_model import ModelUnavailableError, library
from actors.embedder.spaces.vectors import TokenIds
from events.quantization import Float32

ROWS: Final = 64
"""Rows of one pass, of similar length."""


class TorchBert:
    """The encoder of `bert.Bert` on a device, in float32 (`ModelUnavailableError`: torch has no such device).

    The hash of the model's folder is checked already.
    """

    precision = "float32"

    def __init__(self, folder: Path, device: str) -> None:
        try:
            model = library().SentenceTransformer(str(folder), device=device, local_files_only=True)
        except (RuntimeError, AssertionError) as error:
            raise ModelUnavailableError(f"device {device!r} can't be used: {error}") from error
        self._model = model[0].auto_model.eval()
        self._device = model.device
        self.longest: int = self._model.config.max_position_embeddings

    @torch.inference_mode()
    def embeddings(self, ids: TokenIds) -> Float32:
        """Return the input embeddings of token ids, shape (tokens, hidden)."""
        table = self._model.embeddings.word_embeddings
        return table(torch.from_numpy(ids.astype(np.int64)).to(self._device)).cpu().numpy()

    @torch.inference_mode()
    def __call__(self, rows: Sequence[Sequence[int] | TokenIds]) -> list[Float32]:
        """Return the last layer's states of each row of token ids, shape (tokens, hidden)."""
        states: list[Float32] = [np.empty(0, np.float32)] * len(rows)
        by_length = sorted(range(len(rows)), key=lambda row: len(rows[row]))
        for start in range(0, len(rows), ROWS):
            group = by_length[start : start + ROWS]
            ids = np.zeros((len(group), len(rows[group[-1]])), np.int64)
            mask = np.zeros_like(ids)
            for line, row in enumerate(group):
                ids[line, : len(rows[row])], mask[line, : len(rows[row])] = rows[row], 1
            inputs = {"input_ids": ids, "attention_mask": mask}
            tensors = {name: torch.from_numpy(each).to(self._device) for name, each in inputs.items()}
            found = self._model(**tensors).last_hidden_state.float().cpu().numpy()
            for line, row in enumerate(group):
                states[row] = found[line, : len(rows[row])]
        return states
