"""Fit what the embedded profile derives from MiniLM without labels: E1's rotation and E12's projection.

    python -m scripts.train.spaces /usr/share/wordnet

Writes `semantic.safetensors` and `tokens.safetensors`. Seeded; about four minutes on one core.
"""

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import typer
from typer import Option

from actors.embedder.models.backbone import CLS, DIMENSION, MODEL_SHA256, SEP, VOCABULARY, Backbone, pool
from actors.embedder.spaces.tokens import DIMENSION as TOKEN_DIMENSION
from scripts.train.neutral import LICENCES, neutral_texts
from scripts.train.record import WordNet, record, states_of

Float32 = npt.NDArray[np.float32]

SPECIALS = (0, 100, CLS, SEP, 103)
"""[PAD], [UNK], [CLS], [SEP], [MASK]."""


def main(
    wordnet: WordNet,
    sample: Annotated[int, Option(help="Texts that the model reads.")] = 20_000,
    seed: int = 13,
    threads: int = 1,
) -> None:
    """Fit, and record."""
    texts, texts_sha256 = neutral_texts(wordnet)
    backbone = Backbone.load(threads=threads, precision="float32")
    about: dict[str, Any] = {
        "script": "scripts/train/spaces.py",
        "arguments": {"sample": sample, "seed": seed},
        "data": LICENCES,
        "inputs": {"neutral texts": texts_sha256, "all-MiniLM-L6-v2 model.safetensors": MODEL_SHA256},
    }

    pieces = [backbone.tokenize(text).ids for text in texts]
    informativeness = background_idf(pieces, backbone.vocabulary())
    chosen = np.random.default_rng(seed).permutation(len(texts))[:sample]
    rotation, projection, figures = directions(backbone, [pieces[i][:254] for i in chosen], informativeness > 0)
    figures["texts"] = len(texts)
    record("semantic.safetensors", {"rotation": rotation.astype(np.float16)}, **about, figures=figures)
    record(
        "tokens.safetensors",
        {"projection": projection.astype(np.float16), "informativeness": informativeness.astype(np.float16)},
        **about,
        figures=figures,
    )


def background_idf(pieces: Sequence[npt.NDArray[np.uint16]], vocabulary: Sequence[str]) -> Float32:
    """Return ln(1 + (N - df + .5) / (df + .5)) of each wordpiece, and 0 for specials and punctuation."""
    frequency = np.zeros(VOCABULARY)
    for ids in pieces:
        frequency[np.unique(ids)] += 1
    idf = np.log1p((len(pieces) - frequency + 0.5) / (frequency + 0.5)).astype(np.float32)
    mute = [i for i, piece in enumerate(vocabulary) if not any(map(str.isalnum, piece)) or i in SPECIALS]
    idf[mute] = 0
    return idf


def directions(
    backbone: Backbone, rows: Sequence[npt.NDArray[np.uint16]], telling: npt.NDArray[np.bool_]
) -> tuple[Float32, Float32, dict[str, Any]]:
    """Return E1's rotation (384, 384) and E12's projection (384, 128), ordered by falling eigenvalue.

    Moments are not centred, since cosine similarity is not.
    """
    sentences, tokens = np.zeros((2, DIMENSION, DIMENSION))
    for place, states in states_of(backbone, rows):
        vector = pool([states])[0]
        sentences += np.outer(vector, vector)
        unit = states[1:-1][telling[rows[place]]]
        unit = unit / np.linalg.norm(unit, axis=1, keepdims=True)
        tokens += unit.T @ unit
    rotation, e1_share = _principal(sentences)
    axes, token_share = _principal(tokens)
    figures = {
        "share of E1's energy in the first 128 dimensions": round(float(e1_share[TOKEN_DIMENSION - 1]), 4),
        "share of the token states' energy in 128 dimensions": round(float(token_share[TOKEN_DIMENSION - 1]), 4),
    }
    return rotation, axes[:, :TOKEN_DIMENSION], figures


def _principal(moments: npt.NDArray[np.float64]) -> tuple[Float32, npt.NDArray[np.float64]]:
    """Return the eigenvectors as columns by falling eigenvalue, and the cumulative share of the energy."""
    values, vectors = np.linalg.eigh(moments)
    return vectors[:, ::-1].astype(np.float32), np.cumsum(values[::-1]) / values.sum()


if __name__ == "__main__":
    typer.run(main)
