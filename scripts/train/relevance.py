"""Fit the relevance of an answer: `actors/comparator/search/relevance.json`.

    python -m scripts.train.relevance FOLDER [FOLDER ...] [--keep STORES]

Each folder is a set in the BEIR layout, one kind of text. Its questions are put to its own store, to another person's
store of the same set, and to the stores of the other sets (`scripts/benchmarks/relevance.py`). A logistic regression
tells the first from the others by the features that the product computes; kinds weigh the same, and so do answerable
and other questions of each kind. Two features, since more of them generalise worse: each kind is also judged by a model
and thresholds that never saw its questions or its store. The prompts of the benchmark are never trained on.

The threshold `uncertain` is the probability below which all but `1 - REFUSED` of the questions to wrong stores stay;
`confident` is where a wrong store reaches it in one of a hundred. Prints all figures; ten minutes on one core, two with
kept stores.
"""

import platform
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated, NamedTuple

import anyio
import msgspec
import numpy as np
import numpy.typing as npt
import typer
from rich.progress import Progress
from scipy.optimize import minimize
from typer import Option

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.datasets import read_dataset
from benchmarks.relevance import PROMPTS, Asked, ask_all, auroc, sample

from actors.comparator.search.relevance import FILE, Model, features

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

REFUSED = 0.975
"""Share of questions to wrong stores that bring nothing."""
CERTAIN = 0.99
RIDGE = 1e-3
"""Weight of the squared coefficients of standardised features, for a loss of some tenths of a nat."""


class Samples(NamedTuple):
    """Questions by row."""

    features: Floats
    """Shape (questions, features)."""
    answerable: Mask
    weights: Floats
    """They sum to 1."""


class Fit(NamedTuple):
    """A fitted model."""

    coefficients: Floats
    intercept: float
    uncertain: float
    confident: float

    def __call__(self, values: Floats) -> Floats:
        """Return the probabilities of rows of features."""
        return 1 / (1 + np.exp(-(values @ self.coefficients + self.intercept)))


def samples(asked: Sequence[Asked]) -> Samples:
    """Return the features, labels and weights of questions."""
    groups = [(one.kind, one.answerable) for one in asked]
    counts = {group: groups.count(group) for group in set(groups)}
    weights = np.array([1 / counts[group] for group in groups])
    rows = [features(one.similarity, np.arange(len(one.hits))) for one in asked]
    values = np.array([[*row.values()] for row in rows])
    return Samples(values, np.array([one.answerable for one in asked]), weights / weights.sum())


def fit(given: Samples) -> Fit:
    """Return the model that minimises the weighted, regularised log loss, and its thresholds."""
    mean = given.weights @ given.features
    deviation = np.sqrt(given.weights @ (given.features - mean) ** 2)
    standard = (given.features - mean) / deviation
    signs = np.where(given.answerable, 1.0, -1.0)

    def loss(parameters: Floats) -> float:
        logits = standard @ parameters[:-1] + parameters[-1]
        return float(given.weights @ np.logaddexp(0, -signs * logits) + RIDGE * parameters[:-1] @ parameters[:-1])

    best = minimize(loss, np.zeros(standard.shape[1] + 1)).x
    coefficients = best[:-1] / deviation
    found = Fit(coefficients, float(best[-1] - coefficients @ mean), 0.0, 0.0)
    wrong = ~given.answerable
    probabilities, weights = found(given.features[wrong]), given.weights[wrong]
    order = np.argsort(probabilities)
    share = np.cumsum(weights[order]) / weights.sum()
    uncertain, confident = (float(probabilities[order][np.searchsorted(share, least)]) for least in (REFUSED, CERTAIN))
    return found._replace(uncertain=uncertain, confident=confident)


def figures(model: Fit, judged: Samples) -> dict[str, float]:
    """Return AUROC, and the shares that the threshold refuses and keeps."""
    probabilities = model(judged.features)
    brought = probabilities >= model.uncertain
    return {
        "auroc": round(auroc(probabilities, judged.answerable), 3),
        "refused": round(float(1 - brought[~judged.answerable].mean()), 3),
        "kept": round(float(brought[judged.answerable].mean()), 3),
    }


def main(
    folders: list[Path],
    questions: Annotated[int, Option(help="Of each set.")] = 300,
    documents: Annotated[int, Option(help="Of a set without namespaces.")] = 1_600,
    keep: Annotated[Path | None, Option(help="A folder for the stores, used again by the next run.")] = None,
) -> None:
    """Ask, fit, judge each kind left out, and write the model."""
    sets = [sample(read_dataset(folder), questions, documents) for folder in folders]
    with Progress() as bar:
        everything = anyio.run(partial(ask_all, sets, keep, bar))
    asked = [one for one in everything if one.source != PROMPTS.stem]

    left_out: dict[str, dict[str, float]] = {}
    refused, kept = [], []
    for kind in (dataset.name for dataset in sets):
        model = fit(samples([one for one in asked if kind not in {one.kind, one.source}]))
        judged = [one for one in asked if one.kind == kind]
        given = samples(judged)
        left_out[kind] = figures(model, given)
        brought = model(given.features) >= model.uncertain
        refused += (~brought[~given.answerable]).tolist()
        kept += brought[given.answerable].tolist()
        if own := [one for one in judged if one.source == kind and not one.answerable]:
            people = samples([*(one for one in judged if one.answerable), *own])
            left_out[f"{kind}, another person"] = figures(model, people)
        print(f"without {kind}: {model.coefficients.round(2)} {model.intercept:.2f}, from {model.uncertain:.3f}")
    left_out["all"] = {"refused": round(float(np.mean(refused)), 3), "kept": round(float(np.mean(kept)), 3)}
    shipped = fit(samples(asked))
    for name, row in left_out.items():
        print(f"{name:30}", *(f"{what} {value:.3f}" for what, value in row.items()))
    prompts = samples([one for one in everything if one.source == PROMPTS.stem]).features
    prompts_refused = round(float((shipped(prompts) < shipped.uncertain).mean()), 3)
    print(f"fitted to all: {figures(shipped, samples(asked))}, prompts refused {prompts_refused}")
    model = Model(
        provenance={
            "script": "scripts/train/relevance.py",
            "arguments": {"questions": questions, "documents": documents},
            "sets": [dataset.name for dataset in sets],
            "left out": left_out,
            "prompts refused": prompts_refused,
            "date": f"{datetime.now(UTC):%Y-%m-%d}",
            "python": platform.python_version(),
        },
        intercept=round(shipped.intercept, 3),
        coefficients=dict(zip(("meaning", "words"), shipped.coefficients.round(3).tolist(), strict=True)),
        uncertain=round(shipped.uncertain, 3),
        confident=round(shipped.confident, 3),
    )
    FILE.write_bytes(msgspec.json.format(msgspec.json.encode(model), indent=2) + b"\n")
    print(FILE.read_text())


if __name__ == "__main__":
    typer.run(main)
