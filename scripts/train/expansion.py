"""Train E13's head: words that a text might have used as well, predicted from its E12 token vectors.

    python -m scripts.train.expansion /usr/share/wordnet pairs.jsonl --data "e-CARE, train" --licence MIT

Trains on pairs that state or imply the same in different words: WordNet's definitions with their examples and words,
docstrings with their functions, and causes with effects (lines with `cause` and `effect`, such as those of e-CARE).
A word is initialised as the mean vector of its tokens in all these texts, so the untrained head predicts words of
similar use. The loss is InfoNCE in both directions over the cosine of the E13 vectors, added to E1's cosine, so that
the head learns what E1 misses. A penalty on the squared mean weight of each word keeps the output sparse (FLOPS, Paria
et al. 2020, as in SPLADE, Formal et al. 2021). Writes `expansion.safetensors`. Seeded; about six minutes on one core.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
import torch
import typer
from scipy import sparse
from torch import Tensor
from torch.nn import functional as F

from actors.embedder import weights
from actors.embedder.models.backbone import CLS, MODEL_SHA256, SEP, VOCABULARY, Backbone, pool
from actors.embedder.spaces import tokens
from actors.embedder.spaces.expansion import is_uninformative, most_informative
from events.quantization import Float32
from scripts.train.neutral import LICENCES, common_words, neutral_pairs
from scripts.train.record import Data, Licence, WordNet, read_lines, record, states_of

SHARES = {"words": 0.7, "examples": 1.0, "functions": 1.2, "causes": 1.0}
"""Sampling weight of pairs of each kind."""
TAKEN = {"words": 5_000, "examples": 8_000, "functions": 3_500}
"""Number of pairs of each kind."""
LONGEST = 80
"""Maximum pieces of a text."""
WORDS = 6_000
SHORTEST_WORD = 3
LEAST_COSINE = 0.45
SHARPNESS = 2.0
"""Initial weight of a word: sharpness · (cosine - least cosine)."""
STEPS = 500
BATCH = 96
TOKENS = 24
RATE = 2e-3
SPARSITY = 0.06
MEANING = 10.0
"""Weight of E1's cosine; that of E13 is initialised to `SCALE`."""
SCALE = 12.0


class Pair(msgspec.Struct):
    """One line of the causes and effects; other fields are ignored."""

    cause: str
    effect: str


@dataclass(frozen=True, slots=True)
class Texts:
    """Inputs of the head."""

    pieces: list[npt.NDArray[np.uint16]]
    """The informative pieces of each text."""
    vectors: list[Float32]
    """Their unit vectors, shape (pieces, 128) for each text."""
    meanings: Float32
    """E1 of each text, shape (texts, 384)."""


def main(wordnet: WordNet, file: Path, data: Data, licence: Licence, seed: int = 13, threads: int = 1) -> None:
    """Train, and record."""
    rng = np.random.default_rng(seed)
    torch.manual_seed(seed)
    neutral, neutral_sha256 = neutral_pairs(wordnet)
    causes, sha256 = read_lines(file, Pair)
    pairs = [(kind, *neutral[kind][i]) for kind in TAKEN for i in rng.permutation(len(neutral[kind]))[: TAKEN[kind]]]
    pairs += [("causes", pair.cause, pair.effect) for pair in causes]
    backbone = Backbone.load(threads=threads)
    using = tokens.TokenWeights.load()
    texts = read(backbone, [first for _, first, _ in pairs] + [second for _, _, second in pairs], using)
    shares = np.array([SHARES[kind] for kind, _, _ in pairs])
    vocabulary = backbone.vocabulary()
    words = frequent_words(texts, vocabulary, common_words(wordnet, vocabulary))
    directions, bias, figures = train(texts, words, shares / shares.sum(), using.informativeness, rng)
    record(
        "expansion.safetensors",
        {
            "words": words.astype(np.uint16),
            "directions": directions.astype(np.float16),
            "bias": bias.astype(np.float16),
        },
        script="scripts/train/expansion.py",
        arguments={"seed": seed, "steps": STEPS, "batch": BATCH, "rate": RATE, "sparsity": SPARSITY}
        | {"meaning": MEANING, "least cosine": LEAST_COSINE, "sharpness": SHARPNESS, "pairs": TAKEN, "shares": SHARES},
        data={**LICENCES, data: licence},
        inputs={
            "neutral pairs": neutral_sha256,
            "causes": sha256,
            "all-MiniLM-L6-v2 model.safetensors": MODEL_SHA256,
            "tokens.safetensors": weights.recorded_sha256("tokens.safetensors"),
        },
        figures={"pairs": len(pairs), "words": len(words), **figures},
    )


def read(backbone: Backbone, texts: list[str], using: tokens.TokenWeights) -> Texts:
    """Run all texts through the model, in batches of similar length."""
    rows = [backbone.tokenize(text).ids[:LONGEST] for text in texts]
    pieces: list[Any] = [None] * len(rows)
    vectors: list[Any] = [None] * len(rows)
    meanings: list[Any] = [None] * len(rows)
    for row, states in states_of(backbone, rows):
        framed = np.concatenate([[CLS], rows[row], [SEP]])
        kept = tokens.select_tokens(framed, using)
        projected = states[kept] @ using.projection
        pieces[row] = framed[kept].astype(np.uint16)
        vectors[row] = projected / np.linalg.norm(projected, axis=1, keepdims=True)
        meanings[row] = pool([states])[0]
    return Texts(pieces, vectors, np.stack(meanings))


def frequent_words(texts: Texts, vocabulary: list[str], common: list[bool]) -> npt.NDArray[np.intp]:
    """Return the most frequent common words of three letters or more, ascending.

    Names are excluded: a similar name is no synonym.
    """
    counts = np.bincount(np.concatenate(texts.pieces), minlength=VOCABULARY)
    long = [len(piece) >= SHORTEST_WORD and piece.isalpha() and not is_uninformative(piece) for piece in vocabulary]
    counts[~(np.array(long) & common)] = 0
    return np.sort(np.argsort(-counts, kind="stable")[:WORDS])


def train(
    texts: Texts,
    words: npt.NDArray[np.intp],
    shares: npt.NDArray[np.float64],
    informativeness: Float32,
    rng: np.random.Generator,
) -> tuple[Float32, Float32, dict[str, Any]]:
    """Return the directions of all words, shape (words, 128), their biases, shape (words,), and training figures.

    The first half of the texts are the partners of the second half; `shares` are sampling weights, shape (pairs,).
    """
    directions = torch.nn.Parameter(torch.from_numpy(SHARPNESS * prototypes(texts, words)))
    bias = torch.nn.Parameter(torch.full((len(words),), -SHARPNESS * LEAST_COSINE))
    scale = torch.nn.Parameter(torch.tensor(SCALE))
    groups = [{"params": [directions], "lr": RATE}, {"params": [bias], "lr": 3 * RATE}, {"params": [scale], "lr": 0.03}]
    optimiser = torch.optim.Adam(groups, betas=(0.9, 0.99))
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: min(1, (step + 1) / 20) * (1 - step / STEPS))
    own = own_terms(texts)
    right = torch.arange(BATCH)
    losses, counts = [], []
    for step in range(STEPS):
        drawn = rng.choice(len(shares), BATCH, p=shares, replace=False)
        rows = np.concatenate([drawn, drawn + len(shares)])
        named = head(texts, rows, directions, bias, informativeness)
        cosines = cosine(named, own[rows], words)
        meanings = torch.from_numpy(texts.meanings[rows[:BATCH]] @ texts.meanings[rows[BATCH:]].T)
        scores = scale * cosines + MEANING * meanings
        loss = F.cross_entropy(scores, right) + F.cross_entropy(scores.T, right)
        penalty = SPARSITY * min(1, step / 100) * named.mean(dim=0).square().sum()
        optimiser.zero_grad()
        (loss + penalty).backward()
        optimiser.step()
        schedule.step()
        losses.append(loss.item())
        counts.append((named > 0).sum(dim=1).float().mean().item())
        if step % 50 == 0:
            print(f"step {step}: loss {np.mean(losses[-50:]):.4f}, {counts[-1]:.0f} words a text")
    figures = {
        "loss of the first 50 steps": round(float(np.mean(losses[:50])), 4),
        "loss of the last 50 steps": round(float(np.mean(losses[-50:])), 4),
        "words named of a text": round(float(np.mean(counts[-50:])), 1),
    }
    return directions.detach().numpy(), bias.detach().numpy(), figures


def prototypes(texts: Texts, words: npt.NDArray[np.intp]) -> Float32:
    """Return the unit mean of each word's token vectors, shape (words, 128)."""
    place = np.full(VOCABULARY, len(words))
    place[words] = np.arange(len(words))
    places = place[np.concatenate(texts.pieces)]
    member = sparse.csr_array((np.ones(len(places), np.float32), (places, np.arange(len(places)))))
    sums = (member @ np.concatenate(texts.vectors))[: len(words)]
    return sums / np.linalg.norm(sums, axis=1, keepdims=True)


def own_terms(texts: Texts) -> Any:
    """Return ln(1 + tf) of each text's own pieces, a sparse array of shape (texts, 30522)."""
    rows = np.repeat(np.arange(len(texts.pieces)), [len(pieces) for pieces in texts.pieces])
    pieces = np.concatenate(texts.pieces).astype(np.int64)
    counts = sparse.csr_array((np.ones(len(rows), np.float32), (rows, pieces)), (len(texts.pieces), VOCABULARY))
    counts.data = np.log1p(counts.data)
    return counts


def head(
    texts: Texts, rows: npt.NDArray[np.intp], directions: Tensor, bias: Tensor, informativeness: Float32
) -> Tensor:
    """Return the predicted weights of words for some texts, shape (rows, words)."""
    chosen = [texts.vectors[row][most_informative(texts.pieces[row], informativeness, TOKENS)] for row in rows]
    with torch.autocast("cpu", torch.bfloat16):
        agreement = torch.from_numpy(np.concatenate(chosen)) @ directions.T
    best = torch.stack([each.amax(dim=0) for each in agreement.split([len(vectors) for vectors in chosen])])
    return torch.log1p(F.relu(best.float() + bias))


def cosine(named: Tensor, own: Any, words: npt.NDArray[np.intp]) -> Tensor:
    """Return the cosines of the first half of the rows to the second; the larger of predicted and own weight counts."""
    within = torch.from_numpy(own[:, words].toarray())
    inside = torch.maximum(named, within)
    squares = torch.from_numpy(np.asarray(own.power(2).sum(axis=1))) - within.square().sum(dim=1)
    lengths = (inside.square().sum(dim=1) + squares).clamp_min(1e-4).sqrt()
    half = len(named) // 2
    outside = (own[:half] @ own[half:].T).toarray() - (own[:half][:, words] @ own[half:][:, words].T).toarray()
    products = inside[:half] @ inside[half:].T + torch.from_numpy(outside)
    return products / lengths[:half, None] / lengths[None, half:]


if __name__ == "__main__":
    typer.run(main)
