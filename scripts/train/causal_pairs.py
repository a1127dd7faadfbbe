"""Fit which pairs of plain statements E5 is sure of: `actors/comparator/compare/causal_pairs.json`.

    python -m scripts.train.causal_pairs PAIRS OTHERS

PAIRS holds lines with `cause` and `effect` that the heads of E5 were not trained on, OTHERS lines with `text`: one
statement each, such as sentences of conversations and encyclopaedias. Half of both fits the regression, the other half
chooses the probability from which on four of five edges are right, and shows precision and recall. Stores of several
sizes are simulated, since preferences depend on what else is stored.
"""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
import torch
import typer

from actors.comparator.compare.causal_neighbours import (
    CANDIDATES,
    MAX_SIMILARITY,
    MIN_SCORE,
    Fit,
    expanded,
    pair_features,
)
from actors.embedder.profiles.embedded import EmbeddedProfile
from actors.runtime.metrics import Latencies
from events.fingerprint import Dense, Directed, Tokens
from events.spaces import E1, E5, E12
from scripts.train.calibration import embed

FILE = Path(__file__).parents[2] / "actors" / "comparator" / "compare" / "causal_pairs.json"
PRECISION = 0.8
STORES = ((4, 24), (20, 80), (100, 300), (200, 500), (400, 500))
"""Pairs and other statements of the simulated stores."""
STEPS = 400
DECAY = 0.01

Array = npt.NDArray[Any]
Embedded = tuple[Array, Array, Array, int]
"""E1, as cause, as effect, tokens."""


def embedded_text(profile: EmbeddedProfile, text: str) -> Embedded:
    """Embed a text as a memory."""
    found = embed(profile, text)
    directed = found.take(E5, Directed)
    e1 = found.take(E1, Dense).levels
    return e1, directed.cause_levels, directed.effect_levels, len(found.take(E12, Tokens).ids)


def examples(
    pairs: Sequence[tuple[str, str]], others: Sequence[str], embedded: dict[str, Embedded]
) -> tuple[Array, Array]:
    """Return the features of all candidate pairs of a store, and which are right."""
    texts = list(dict.fromkeys([*(text for pair in pairs for text in pair), *others]))
    place = {text: index for index, text in enumerate(texts)}
    e1, causes, effects = (_unit(np.stack([embedded[text][part] for text in texts])) for part in range(3))
    right = {(place[cause], place[effect]) for cause, effect in pairs}
    forward, similar = np.clip(causes @ effects.T, 0, 1), np.clip(e1 @ e1.T, 0, 1)
    np.fill_diagonal(forward, 0)
    lengths = [embedded[text][3] for text in texts]
    wanted = {(row, int(other)) for row in range(len(texts)) for other in np.argsort(-forward[row])[:CANDIDATES]}
    wanted |= {(int(row), other) for other in range(len(texts)) for row in np.argsort(-forward[:, other])[:CANDIDATES]}
    kept = sorted(
        (i, j)
        for i, j in wanted
        if forward[i, j] >= MIN_SCORE and forward[i, j] > forward[j, i] and similar[i, j] <= MAX_SIMILARITY
    )
    features = [
        pair_features(forward[i], forward[:, j], j, forward[j, i], similar[i, j], (lengths[i], lengths[j]))
        for i, j in kept
    ]
    return np.array(features), np.array([pair in right for pair in kept])


def _unit(vectors: Array) -> Array:
    vectors = vectors.astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def stores(
    pairs: Sequence[tuple[str, str]], others: Sequence[str], embedded: dict[str, Embedded]
) -> tuple[Array, Array, int]:
    """Return the examples of stores of several sizes, and the number of pairs in them."""
    parts, total = [], 0
    for count, more in STORES:
        for start in range(0, len(pairs) - count + 1, count):
            parts.append(examples(pairs[start : start + count], _some(others, start, more), embedded))
            total += count
    features, right = zip(*parts, strict=True)
    return np.concatenate(features), np.concatenate(right), total


def _some(others: Sequence[str], start: int, count: int) -> list[str]:
    """Return so many of the others, from another place for each store."""
    return [others[(start + index) % len(others)] for index in range(min(count, len(others)))]


def fit(features: Array, right: Array) -> Fit:
    """Return the regression, with a minimum that no pair reaches."""
    inputs = expanded(features)
    mean, scale = inputs.mean(axis=0), inputs.std(axis=0) + 1e-6
    x, y = torch.tensor((inputs - mean) / scale), torch.tensor(right, dtype=torch.float64)
    weights, intercept = torch.zeros(x.shape[1], dtype=torch.float64), torch.zeros(1, dtype=torch.float64)
    parameters = [weights.requires_grad_(), intercept.requires_grad_()]
    optimizer = torch.optim.AdamW(parameters, 1e-2, weight_decay=DECAY)
    for _ in range(STEPS):
        optimizer.zero_grad()
        torch.nn.functional.binary_cross_entropy_with_logits(x @ weights + intercept, y).backward()
        optimizer.step()
    rounded = [tuple(round(float(value), 5) for value in part) for part in (mean, scale, weights.detach())]
    intercept = intercept.detach()
    return Fit(*rounded, intercept=round(float(intercept), 5), minimum=2.0)


def curve(found: Fit, features: Array, right: Array, pairs: int) -> list[tuple[float, float, float]]:
    """Return minimum, precision and recall, the surest pairs first."""
    scores = np.array([found.probability(one) for one in features])
    order = np.argsort(-scores)
    hits = np.cumsum(right[order])
    return [(float(scores[order[i]]), hits[i] / (i + 1), hits[i] / pairs) for i in range(len(order))]


def main(causes: Path, statements: Path) -> None:
    """Fit, choose the minimum, and write both."""
    lines = [msgspec.json.decode(line) for line in causes.read_bytes().splitlines()]
    pairs = list(dict.fromkeys((line["cause"], line["effect"]) for line in lines))
    others = list(dict.fromkeys(msgspec.json.decode(line)["text"] for line in statements.read_bytes().splitlines()))
    for some in (pairs, others):
        random.Random(7).shuffle(some)
    texts = list(dict.fromkeys([*(text for pair in pairs for text in pair), *others]))
    profile = EmbeddedProfile(Latencies())
    embedded = {text: embedded_text(profile, text) for text in texts}
    halves = [(pairs[half::2], others[half::2]) for half in range(2)]
    found = fit(*stores(*halves[0], embedded)[:2])
    points = curve(found, *stores(*halves[1], embedded))
    for precision in (0.9, 0.8, 0.7, 0.6, 0.5, 0.4):
        reached = max((recall, minimum) for minimum, right, recall in [*points, (2.0, 1.0, 0.0)] if right >= precision)
        print(f"precision {precision}: recall {reached[0]:.3f} from probability {reached[1]:.3f}")
        if precision == PRECISION:
            found = msgspec.structs.replace(found, minimum=round(reached[1], 4))
    FILE.write_bytes(msgspec.json.format(msgspec.json.encode(found)) + b"\n")


if __name__ == "__main__":
    typer.run(main)
