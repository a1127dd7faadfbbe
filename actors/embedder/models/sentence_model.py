"""Any transformer of sentence-transformers: sentence vectors and token states of windows, on a CPU or a GPU.

Importing this module is cheap: a model imports sentence-transformers, which takes seconds.
"""

import hashlib
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt

from actors.embedder.spaces.vectors import TokenIds, unit
from actors.runtime.faults import EmbeddingFault
from actors.runtime.types import JsonObject
from actors.text.windows import OVERLAP_TOKENS, Range, character_ranges, split_windows
from events.quantization import Float32

PROMPTS: Final = {True: ("query",), False: ("document", "passage", "corpus")}
"""The names of a model's prompts for queries and for memories, as in sentence-transformers."""

IGNORED: Final = ["onnx/*", "openvino/*", "*.h5", "*.msgpack", "*.ot"]
"""Files of a model on the hub in formats of other libraries."""

KIND: Final = "SentenceTransformer"
"""The kind of model that gives sentence vectors, as sentence-transformers names it in a saved model."""

MAX_WINDOW: Final = 512
"""Tokens of a window for a model that declares no limit."""

Encoder: TypeAlias = Any
"""A loaded `SentenceTransformer`, `SparseEncoder` or `MultiVectorEncoder`."""


class ModelUnavailableError(EmbeddingFault):
    """A model can't be found, loaded or used; the message names it and the remedy."""


class EncodedWindow(NamedTuple):
    """What a model says about one window."""

    vector: Float32
    """The sentence vector at length 1, shape (dimension,)."""
    pieces: TokenIds
    """The tokens of the text itself, without special ones and the prompt, shape (tokens,)."""
    states: Float32
    """Their states, shape (tokens, width)."""


class SentenceModel:
    """A loaded model: a local folder, or a name on the Hugging Face hub.

    Raises:
        ModelUnavailableError: There is no such model, or it has no token states, no finite vectors, or no room for a
            text beside its prompt.
    """

    def __init__(self, source: str, device: str | None = None, encoder: Encoder | None = None) -> None:
        self._encoder = encoder or load_encoder(source, device)
        self.name = model_name(source)
        self.sha256 = folder_sha256(local_folder(source))
        try:
            tokenizer = self._encoder.tokenizer
            self._special = np.array([piece for piece in tokenizer.all_special_ids if piece != tokenizer.unk_token_id])
            for is_query in (True, False):
                self.windows("words", is_query=is_query)
            with np.errstate(invalid="ignore"):
                (probe,) = self.encode(["words"], is_query=False)
        except (KeyError, TypeError, AttributeError) as error:
            raise ModelUnavailableError(
                f"{source} has no states of its tokens, which E12 needs; choose a transformer model"
            ) from error
        check_finite(source, probe.vector)
        self.dimension = len(probe.vector)
        self.width = probe.states.shape[1]
        """Columns of the token states."""

    def windows(self, text: str, *, is_query: bool) -> tuple[list[Range], list[Range]]:
        """Return a text's windows in tokens and in characters, as `windows` does."""
        return windows(self._encoder, text, self._prompt(is_query=is_query))

    def encode(self, texts: Sequence[str], *, is_query: bool) -> list[EncodedWindow]:
        """Encode texts that fit the model, in batches of similar length."""
        prompt = self._prompt(is_query=is_query)
        rows: Any = self._encoder.encode(list(texts), prompt=prompt or None, output_value=None, show_progress_bar=False)
        prompted = len(self._encoder.tokenizer(prompt, add_special_tokens=False)["input_ids"]) if prompt else 0
        return [self._window(row, prompted) for row in rows]

    def _window(self, row: JsonObject, prompted: int) -> EncodedWindow:
        real = row["attention_mask"].bool()
        ids = row["input_ids"][real].cpu().numpy()
        own = np.flatnonzero(~np.isin(ids, self._special))[prompted:]
        own = own if len(own) else np.arange(len(ids))  # nothing but special tokens
        states = row["token_embeddings"][real].float().cpu().numpy()
        return EncodedWindow(unit(row["sentence_embedding"].float().cpu().numpy()), ids[own], states[own])

    def _prompt(self, *, is_query: bool) -> str:
        prompts = self._encoder.prompts
        return next((prompts[name] for name in PROMPTS[is_query] if prompts.get(name)), "")


class _Saved(msgspec.Struct):
    """What sentence-transformers writes into `config_sentence_transformers.json`."""

    model_type: str = KIND


def load_encoder(source: str, device: str | None) -> Encoder:
    """Return the `SentenceTransformer` of a folder or a name on the hub.

    Raises:
        ModelUnavailableError: There is no such model, it is of another kind, or weights of it are missing.
    """
    import torch

    folder = local_folder(source)
    if (kind := _saved_kind(folder)) != KIND:
        raise ModelUnavailableError(f"{source} is a {kind}, which gives no sentence vectors; choose a {KIND}")
    before = torch.get_rng_state()
    encoder = _load(source, folder, device)
    # Weights that a folder lacks are drawn at random, also those that no vector depends on.
    if not torch.equal(before, torch.get_rng_state()) and not _agree(encoder, _load(source, folder, device)):
        raise ModelUnavailableError(
            f"{source} lacks weights that its config.json asks for, and would give other vectors at each start; "
            "get the whole model"
        )
    return encoder


def _load(source: str, folder: Path, device: str | None) -> Encoder:
    import torch

    try:
        encoder = library().SentenceTransformer(str(folder), device=device)
    except Exception as error:
        if "trust_remote_code" in str(error):
            raise ModelUnavailableError(
                f"{source} contains code of its own, which is never run; choose a model without it"
            ) from error
        raise ModelUnavailableError(f"{source} can't be loaded by sentence-transformers: {error}") from error
    # MiniLM in float16 takes 2.8 times as long on a processor.
    is_slow = encoder.device.type == "cpu" and encoder.dtype == torch.float16
    return encoder.float() if is_slow else encoder


def _agree(one: Encoder, other: Encoder) -> bool:
    """Tell whether two loads of a model give the same vector."""
    vectors = [encoder.encode(["words"], show_progress_bar=False) for encoder in (one, other)]
    return np.allclose(*vectors, atol=1e-3, equal_nan=True)


def _saved_kind(folder: Path) -> str:
    """Return what sentence-transformers saved in a folder: `KIND`, a `CrossEncoder`, a `SparseEncoder`, …."""
    try:
        settings = (folder / "config_sentence_transformers.json").read_bytes()
        return msgspec.json.decode(settings, type=_Saved).model_type
    except (OSError, msgspec.DecodeError):  # older models have none; what is damaged names its loader
        return KIND


def check_finite(source: str, vector: Float32) -> None:
    """Raise `ModelUnavailableError` unless the vector of a text has a length."""
    if not np.isfinite(vector).all():
        raise ModelUnavailableError(f"{source} gives no vector for a text that has a length; its weights are damaged")


def library() -> Any:
    """Return sentence-transformers, which takes seconds to import, without its progress and advice to programmers."""
    import sentence_transformers
    from transformers.utils import logging as reports

    reports.disable_progress_bar()
    reports.set_verbosity_error()
    logging.getLogger("sentence_transformers").setLevel(logging.ERROR)
    return sentence_transformers


def windows(encoder: Encoder, text: str, prompt: str) -> tuple[list[Range], list[Range]]:
    """Return a text's windows in tokens of an encoder and in characters; a single one if the text fits.

    Raises:
        ModelUnavailableError: The prompt leaves no room for a text.
    """
    encode = encoder.tokenizer
    room = (
        (encoder.max_seq_length or MAX_WINDOW) - len(encode(prompt)["input_ids"]) - 2
    )  # two for ColBERT's marker and its space
    if room < 1:
        raise ModelUnavailableError(
            f"the model reads {encoder.max_seq_length} tokens, of which its prompt leaves none for a text; "
            "choose another model, or mend its max_seq_length"
        )
    encoding = encode(text, add_special_tokens=False, return_offsets_mapping=True, truncation=False, verbose=False)
    offsets: npt.NDArray[np.int64] = np.array(encoding["offset_mapping"]).reshape(-1, 2)
    if len(offsets) <= room:
        return [(0, len(offsets))], [(0, len(text))]
    ranges = split_windows(len(offsets), room, min(OVERLAP_TOKENS, room // 2))
    return ranges, character_ranges(ranges, offsets)


def model_name(source: str) -> str:
    """Return the name under which a store records a model: without the folders of this machine."""
    return Path(source).absolute().name if Path(source).is_dir() else source


def local_folder(source: str) -> Path:
    """Return the local folder of a model, downloaded from the hub if `source` is not a folder."""
    if Path(source).is_dir():
        return Path(source)
    from huggingface_hub import errors, snapshot_download

    try:
        return Path(snapshot_download(source, ignore_patterns=IGNORED))
    except (errors.HfHubHTTPError, errors.HFValidationError, errors.LocalEntryNotFoundError, OSError) as error:
        raise ModelUnavailableError(
            f"{source} is neither a local folder nor available from the hub; configure a folder of a "
            "sentence-transformers model"
        ) from error


def folder_sha256(folder: Path) -> str:
    """Return one SHA-256 (hex) over the names and contents of a folder's weights and settings."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.suffix in {".safetensors", ".bin", ".json", ".txt", ".model"}:
            with path.open("rb") as file:
                content = hashlib.file_digest(file, "sha256").hexdigest()
            digest.update(f"{path.relative_to(folder).as_posix()} {content}\n".encode())
    return digest.hexdigest()
