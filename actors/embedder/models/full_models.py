"""The models of the `full` profile: those that the seeds name, from the Hugging Face hub or from local folders.

What loads here is tested with randomly initialised models of each shape: BERT with mean pooling, BERT with a masked
language head, BERT with a ColBERT projection. Tried with no other weights than such: no hub can be reached where this
is built, so e5-large-v2, Longformer, SPLADE, Qodo-Embed and ColBERT themselves have not been through it, and of CLIP
not even the shape.
"""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from actors.runtime.faults import EmbeddingFault
from actors.text.windows import OVERLAP, Range, characters, weighted_mean, windows
from events.fingerprint import Dense, Directed, Embedding, Passage, Sparse, Tokens, pack
from events.spaces import SPACES, Kind
from events.vocabulary.values import SpaceModel

INSTALL = "pip install 'context-graph[full]'"


class FullProfileError(EmbeddingFault):
    """The full profile can't be used as it is installed or configured; the message says what to do."""


class Seeded(NamedTuple):
    """What the seeds put into a space: the hub's name of a model, and the dimension."""

    model: str
    dimension: int


MODELS: Mapping[str, Seeded] = {
    "e1_semantic": Seeded("intfloat/e5-large-v2", 1024),
    "e5_causal": Seeded("allenai/longformer-base-4096", 768),
    "e6_sparse": Seeded("naver/splade-cocondenser-ensembledistil", 30_522),
    "e7_code": Seeded("Qodo/Qodo-Embed-1-1.5B", 1536),
    "e8_graph": Seeded("sentence-transformers/paraphrase-MiniLM-L6-v2", 384),
    "e10_multimodal": Seeded("sentence-transformers/clip-ViT-L-14", 768),
    "e11_entity": Seeded("sentence-transformers/all-MiniLM-L6-v2", 384),
    "e12_late_interaction": Seeded("colbert-ir/colbertv2.0", 128),
    "e13_splade": Seeded("prithivida/Splade_PP_en_v1", 30_522),
}
"""The nine spaces that a model fills; the other four are formulas and the same in every profile."""

PROMPTS: Mapping[str, tuple[str, str]] = {"e1_semantic": ("query: ", "passage: ")}
"""What a model was trained to read before a question and before anything else."""

ACTIVE = 1500
"""Terms kept of a sparse embedding, the heaviest first."""

Embedded: TypeAlias = tuple[Embedding, tuple[Passage, ...]]
"""An embedding, and of a dense space the windows of a text that has several."""

KIND = {space.key: space.kind for space in SPACES}


class FullModels:
    """The nine models, loaded.

    Args:
        sources: By space key a hub name or a local folder that takes the place of the seeds' model. A space's own
            dimension may differ from the seeds'; `models` tells the real one.
        device: A torch device, or None for what sentence-transformers finds.

    Raises:
        FullProfileError: sentence-transformers isn't installed, a key is unknown, or a folder holds no such model.
    """

    def __init__(self, sources: Mapping[str, str | Path] | None = None, device: str | None = None) -> None:
        sources = sources or {}
        if unknown := sources.keys() - MODELS.keys():
            raise FullProfileError(f"no model fills {', '.join(sorted(unknown))}; those are {', '.join(MODELS)}")
        try:
            import sentence_transformers as library  # noqa: PLC0415 -- seconds, and an optional dependency
        except ImportError as error:
            raise FullProfileError(f"the full profile needs sentence-transformers: {INSTALL}") from error
        loaders: dict[Kind, Any] = {
            Kind.SPARSE: library.SparseEncoder,
            Kind.TOKENS: library.MultiVectorEncoder,
        }
        self._encoders: dict[str, Any] = {}
        models: list[SpaceModel] = []
        for key, (published, _) in MODELS.items():
            source = str(sources.get(key, published))
            folder = _folder(source)
            if KIND[key] is Kind.TOKENS:
                _refuse_without_projection(folder)
            load = loaders.get(KIND[key], library.SentenceTransformer)
            try:
                encoder = load(str(folder), device=device)
            except Exception as error:
                raise FullProfileError(f"{folder} can't be loaded for {key}: {error}") from error
            self._encoders[key] = encoder
            name = folder.name if Path(source).is_dir() else source
            models.append(SpaceModel(key, f"{name}, windows/1", _sha256(folder), _dimension(encoder, KIND[key])))
        self.models = tuple(models)

    def embed(self, key: str, text: str, *, asking: bool) -> Generator[None, None, Embedded]:
        """Make the embedding of one space, pausing before each window, and return it.

        A text longer than the model's limit is read in overlapping windows: dense vectors are averaged by the tokens
        that each window owns, of sparse weights the largest counts, token vectors are joined.

        Args:
            key: Of a space in `MODELS`.
            text: Anything that has a letter, a digit or a sign.
            asking: Whether it is a question, which some models read otherwise than what answers it.
        """
        encoder = self._encoders[key]
        prompt = PROMPTS.get(key, ("", ""))[0 if asking else 1]
        ranges, spans = _windows(encoder, text, prompt)
        states: list[Any] = []
        for start, end in spans:
            yield
            states.append(_encode(encoder, KIND[key], prompt + text[start:end], asking=asking))
        match KIND[key]:
            case Kind.SPARSE:
                return _sparse(states), ()
            case Kind.TOKENS:
                pieces, vectors = zip(*states, strict=True)
                return Tokens.of(np.concatenate(pieces), np.concatenate(vectors)), ()
            case Kind.DIRECTED:
                # Longformer has no heads for cause and effect, so both are one vector and E5 has no direction here.
                mean = weighted_mean(ranges, states)
                return Directed.of(mean, mean), ()
            case _:
                windowed = zip(spans, states, strict=True) if len(spans) > 1 else ()
                passages = tuple(Passage(start, end, pack(vector)) for (start, end), vector in windowed)
                return Dense.of(weighted_mean(ranges, states)), passages


def sources_in(folder: Path) -> dict[str, Path]:
    """Return the models in a folder that holds one folder for each space, named by its key.

    Raises:
        FullProfileError: one is missing; none of them is fetched from the hub in its place.
    """
    sources = {key: folder / key for key in MODELS}
    if missing := [key for key, source in sources.items() if not source.is_dir()]:
        raise FullProfileError(f"{folder} has no folder for {', '.join(missing)}")
    return sources


def _windows(encoder: Any, text: str, prompt: str) -> tuple[list[Range], list[Range]]:
    """Return a text's windows in tokens of the encoder and in characters; one that is the whole text if it fits."""
    encode = encoder.tokenizer
    room = encoder.max_seq_length - len(encode(prompt)["input_ids"]) - 2  # two for a ColBERT marker and its blank
    offsets = np.array(
        encode(text, add_special_tokens=False, return_offsets_mapping=True, truncation=False, verbose=False)[
            "offset_mapping"
        ]
    ).reshape(-1, 2)
    if len(offsets) <= room:
        return [(0, len(offsets))], [(0, len(text))]
    ranges = windows(len(offsets), room, min(OVERLAP, room // 2))
    return ranges, characters(ranges, offsets)


def _encode(encoder: Any, kind: Kind, text: str, *, asking: bool) -> Any:
    """Return what one window is embedded as: a vector, a weight for each term, or pieces with a vector each."""
    match kind:
        case Kind.SPARSE:
            return encoder.encode([text], convert_to_sparse_tensor=False, max_active_dims=ACTIVE)[0].float().cpu()
        case Kind.TOKENS:
            encode = encoder.encode_query if asking else encoder.encode_document
            (raw,) = encode([text], output_value=None, convert_to_numpy=False)
            kept = raw["attention_mask"].bool()
            return raw["input_ids"][kept].cpu().numpy(), raw["token_embeddings"][kept].float().cpu().numpy()
        case _:
            return encoder.encode([text], normalize_embeddings=True)[0]


def _dimension(encoder: Any, kind: Kind) -> int:
    """Return what comes out; a sparse encoder declares the width of its hidden states instead of its vocabulary."""
    if kind is Kind.SPARSE:
        return encoder.encode(["width"], convert_to_sparse_tensor=False).shape[1]
    return encoder.get_embedding_dimension()


def _sparse(states: Sequence[Any]) -> Sparse:
    weights = np.max([np.asarray(state) for state in states], axis=0)
    heaviest = np.argsort(weights)[::-1][:ACTIVE]
    return Sparse.of({int(term): float(weights[term]) for term in heaviest if weights[term] > 0})


def _folder(source: str) -> Path:
    """Return the local folder of a model, from the hub or its cache if it isn't one already."""
    if Path(source).is_dir():
        return Path(source)
    from huggingface_hub import snapshot_download  # noqa: PLC0415 -- comes with sentence-transformers
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError  # noqa: PLC0415

    try:
        return Path(snapshot_download(source, ignore_patterns=["onnx/*", "openvino/*", "*.h5", "*.msgpack", "*.ot"]))
    except (HfHubHTTPError, HFValidationError, LocalEntryNotFoundError, OSError) as error:
        raise FullProfileError(
            f"{source} is neither a local folder nor to be had from the hub; give its space a folder"
        ) from error


def _refuse_without_projection(folder: Path) -> None:
    """Refuse a bare encoder: sentence-transformers would give it a random projection and only warn."""
    if not (folder / "modules.json").exists() and "HF_ColBERT" not in (folder / "config.json").read_text("utf-8"):
        raise FullProfileError(f"{folder} holds no late-interaction model: it has no trained projection")


def _sha256(folder: Path) -> str:
    """Return one SHA-256 (hex) over the names and contents of a folder's weights and settings."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.suffix in {".safetensors", ".bin", ".json", ".txt", ".model"}:
            with path.open("rb") as file:
                content = hashlib.file_digest(file, "sha256").hexdigest()
            digest.update(f"{path.relative_to(folder).as_posix()} {content}\n".encode())
    return digest.hexdigest()
