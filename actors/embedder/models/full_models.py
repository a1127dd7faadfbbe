"""The nine models of the `full` profile, from the Hugging Face hub or from local folders.

The loading code is tested with randomly initialised models of each architecture: BERT with mean pooling, BERT with a
masked language head, BERT with a ColBERT projection, CLIP. The published weights of e5-large-v2, Longformer, SPLADE,
Qodo-Embed, ColBERT and CLIP have not been tested.
"""

from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from actors.embedder.models.sentence_model import (
    Encoder,
    ModelUnavailableError,
    folder_sha256,
    library,
    local_folder,
    model_name,
    windows,
)
from actors.runtime.types import JsonObject
from actors.text.windows import weighted_mean
from events.fingerprint import Dense, Directed, Embedding, Passage, Sparse, Tokens
from events.quantization import pack
from events.spaces import E1, E5, E6, E7, E8, E10, E11, E12, E13, INDEX, SPACES, Kind
from events.vocabulary.values import SpaceModel


class HubModel(NamedTuple):
    """A published model: its name on the hub, and the dimension of its embeddings."""

    name: str
    dimension: int


MODELS: Mapping[str, HubModel] = {
    E1: HubModel("intfloat/e5-large-v2", 1024),
    E5: HubModel("allenai/longformer-base-4096", 768),
    E6: HubModel("naver/splade-cocondenser-ensembledistil", 30_522),
    E7: HubModel("Qodo/Qodo-Embed-1-1.5B", 1536),
    E8: HubModel("sentence-transformers/paraphrase-MiniLM-L6-v2", 384),
    E10: HubModel("sentence-transformers/clip-ViT-L-14", 768),
    E11: HubModel("sentence-transformers/all-MiniLM-L6-v2", 384),
    E12: HubModel("colbert-ir/colbertv2.0", 128),
    E13: HubModel("prithivida/Splade_PP_en_v1", 30_522),
}
"""The model of each neural space (STORE-001/profile-full); the other four spaces are formulas in every profile."""

PROMPTS: Mapping[str, tuple[str, str]] = {E1: ("query: ", "passage: ")}
"""The prefixes with which a model was trained, of queries and of passages."""

MAX_TERMS: Final = 1500
"""Terms kept of a sparse embedding, by weight."""

SpaceEmbedding: TypeAlias = tuple[Embedding, tuple[Passage, ...]]
"""An embedding, and the passages of a dense space if the text has several windows."""


class FullModels:
    """The nine models, loaded; `models` has their dimensions.

    `sources` are by space key a hub name or a local folder that replaces the default model.

    Raises:
        ModelUnavailableError: A key is unknown, or a folder holds no such model.
    """

    def __init__(self, sources: Mapping[str, str | Path] | None = None, device: str | None = None) -> None:
        sources = sources or {}
        if unknown := sources.keys() - MODELS.keys():
            raise ModelUnavailableError(f"no model fills {', '.join(sorted(unknown))}; models fill {', '.join(MODELS)}")
        st = library()
        loaders: dict[Kind, Any] = {Kind.SPARSE: st.SparseEncoder, Kind.TOKENS: st.MultiVectorEncoder}
        self._encoders: JsonObject = {}
        models: list[SpaceModel] = []
        for key, published in MODELS.items():
            source, kind = str(sources.get(key, published.name)), SPACES[INDEX[key]].kind
            folder = local_folder(source)
            if kind is Kind.TOKENS:
                _require_projection(folder)
            load = loaders.get(kind, st.SentenceTransformer)
            try:
                encoder = load(str(folder), device=device)
            except Exception as error:
                raise ModelUnavailableError(f"{folder} can't be loaded for {key}: {error}") from error
            self._encoders[key] = encoder
            models.append(
                SpaceModel(key, f"{model_name(source)}, windows/1", folder_sha256(folder), _dimension(encoder, kind))
            )
        self.models = tuple(models)

    @property
    def image_encoder(self) -> Encoder:
        """The encoder of E10."""
        return self._encoders[E10]

    def embed(self, key: str, text: str, *, is_query: bool) -> Generator[None, None, SpaceEmbedding]:
        """Compute the embedding of one space. Yields before each window.

        A text longer than the model's limit is split into overlapping windows. Dense vectors are averaged, weighted by
        the tokens that each window owns; of sparse weights the maximum counts; token vectors are concatenated.
        """
        encoder, kind = self._encoders[key], SPACES[INDEX[key]].kind
        prompt = PROMPTS.get(key, ("", ""))[0 if is_query else 1]
        ranges, spans = windows(encoder, text, prompt)
        states: list[Any] = []
        for start, end in spans:
            yield
            states.append(_encode(encoder, kind, prompt + text[start:end], is_query=is_query))
        match kind:
            case Kind.SPARSE:
                return _sparse(states), ()
            case Kind.TOKENS:
                pieces, vectors = zip(*states, strict=True)
                return Tokens.of(np.concatenate(pieces), np.concatenate(vectors)), ()
            case Kind.DIRECTED:
                # Longformer has no heads for cause and effect: E5 is undirected in this profile.
                mean = weighted_mean(ranges, states)
                return Directed.of(mean, mean), ()
            case _:
                windowed = zip(spans, states, strict=True) if len(spans) > 1 else ()
                passages = tuple(Passage(start, end, pack(vector)) for (start, end), vector in windowed)
                return Dense.of(weighted_mean(ranges, states)), passages


def local_sources(folder: Path) -> dict[str, Path]:
    """Return the models in a folder with one sub-folder for each space, named by its key.

    Raises:
        ModelUnavailableError: A sub-folder is missing. The hub is not used as a fallback.
    """
    sources = {key: folder / key for key in MODELS}
    if missing := [key for key, source in sources.items() if not source.is_dir()]:
        raise ModelUnavailableError(f"{folder} has no folder for {', '.join(missing)}")
    return sources


def _encode(encoder: Encoder, kind: Kind, text: str, *, is_query: bool) -> Any:
    """Return the embedding of one window: a vector, term weights, or wordpieces with a vector each."""
    match kind:
        case Kind.SPARSE:
            return encoder.encode([text], convert_to_sparse_tensor=False, max_active_dims=MAX_TERMS)[0].float().cpu()
        case Kind.TOKENS:
            encode = encoder.encode_query if is_query else encoder.encode_document
            (raw,) = encode([text], output_value=None, convert_to_numpy=False)
            mask = raw["attention_mask"].bool()
            return raw["input_ids"][mask].cpu().numpy(), raw["token_embeddings"][mask].float().cpu().numpy()
        case _:
            return encoder.encode([text], normalize_embeddings=True)[0]


def _dimension(encoder: Encoder, kind: Kind) -> int:
    """Return the dimension; a sparse encoder declares that of its hidden states instead of its vocabulary's size."""
    if kind is Kind.SPARSE:
        return encoder.encode(["width"], convert_to_sparse_tensor=False).shape[1]
    return encoder.get_embedding_dimension()


def _sparse(states: Sequence[Any]) -> Sparse:
    weights = np.max([np.asarray(state) for state in states], axis=0)
    heaviest = np.argsort(weights)[::-1][:MAX_TERMS]
    return Sparse.of({int(term): float(weights[term]) for term in heaviest if weights[term] > 0})


def _require_projection(folder: Path) -> None:
    """Raise for a bare encoder: sentence-transformers would add a random projection and only warn."""
    if not (folder / "modules.json").exists() and "HF_ColBERT" not in (folder / "config.json").read_text("utf-8"):
        raise ModelUnavailableError(f"{folder} is not a late-interaction model: it has no trained projection")
