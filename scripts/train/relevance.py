"""Fit the relevance of an answer: `actors/comparator/search/relevance.json`.

    python -m scripts.train.relevance FOLDER [FOLDER ...] --join SET [--join SET ...] [--keep STORES]

Each folder is a set in the BEIR layout, one kind of text. Its questions are put to its own store, to another person's
store of the same set, and to the stores of the other sets (`scripts/benchmarks/relevance.py`); some also to a store of
`FEW` of its documents, which teaches what the number of memories does; those of a set named by `--join` also to stores
of its neighbouring documents, joined to long memories. Logistic regressions tell the first from the others by the
features that the product computes: one of all results of the sets and their small stores, and one of long results where
nearly all are. Stores weigh the same in the first, sets in the second, and so do answerable and other questions. More
features generalise worse. Each set is also judged by a model and thresholds that never saw its questions or its stores.
The prompts of the benchmark are never trained on.

By the first regression a share of `REFUSED` of the questions to wrong stores stays below the threshold `uncertain`; the
second lifts a further share of `MORE` above it. `confident` is where one in a hundred reaches it. Prints all figures;
twenty minutes on one core, three with kept stores.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from math import log
from pathlib import Path
from typing import Annotated

import anyio
import msgspec
import numpy as np
import numpy.typing as npt
import typer
from benchmarks.datasets import read_dataset
from benchmarks.relevance import JOINED, PROMPTS, Asked, ask_all, join, origin, sample, small
from rich.progress import Progress
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from typer import BadParameter, Option

from actors.comparator.search.relevance import FILE, Model, Regression
from scripts.train.record import today, write_json

Floats = npt.NDArray[np.float64]

FEATURES = {
    "memories": ("meaning", "words", "size"),
    "passages": ("meaning", "coverage"),
    "other_languages": ("lead", "own_words", "size"),
}
"""What each regression reads."""
FEW = 100
"""Documents of a small store."""
TOGETHER = (12, 60)
"""Documents of a long memory: of two or three windows, and of some ten."""
LONG = 0.95
"""Share of a kind's questions with long results, from which on its memories count as long."""
REFUSED = 0.975
"""Share of questions to wrong stores that bring nothing by the regression of whole memories."""
MORE = 0.005
"""Share of them that bring something by that of passages alone."""
CERTAIN = 0.99
OTHERS = "other_languages"
"""The regression that `scripts/train/other_languages.py` fits, which stays as it is."""
RIDGE = 1e-3
"""Weight of the squared coefficients of standardised features, for a loss of some tenths of a nat."""


def regress(asked: Sequence[Asked], name: str) -> Regression:
    """Return the regression that minimises the weighted log loss.

    Args:
        asked: Questions.
        name: Of its features.
    """
    given = [one for one in asked if name in one.relevance.features]
    if name == "memories":
        given = [one for one in given if not one.kind.endswith(JOINED)]
    else:  # of few long results among others none may be the one that answers
        read, every = (Counter(one.kind for one in questions) for questions in (given, asked))
        given = [one for one in given if read[one.kind] > LONG * every[one.kind]]
    if not given:
        raise BadParameter(f"no question teaches the regression of {name}: --join a set, or name one of long memories")
    weights = shares(given, (lambda kind: kind) if name == "memories" else origin)
    values = np.array([[one.relevance.features[name][feature] for feature in FEATURES[name]] for one in given])
    mean = weights @ values
    deviation = np.sqrt(weights @ (values - mean) ** 2)
    standard = (values - mean) / deviation
    answerable = [one.answerable for one in given]
    best = LogisticRegression(C=0.5 / RIDGE, tol=1e-8).fit(standard, answerable, sample_weight=weights)
    coefficients = best.coef_[0] / deviation
    by_name = dict(zip(FEATURES[name], coefficients.tolist(), strict=True))
    return Regression(float(best.intercept_[0] - coefficients @ mean), by_name)


def shares(asked: Sequence[Asked], group_of: Callable[[str], str] = origin) -> Floats:
    """Return the weights of questions, by which all groups count the same, and both kinds of question; they sum to 1.

    Args:
        asked: Questions.
        group_of: Returns the group of a kind; by default the set that it is made from.
    """
    groups = [(group_of(one.kind), one.answerable) for one in asked]
    counts = Counter(groups)
    weights = np.array([1 / counts[group] for group in groups])
    return weights / weights.sum()


def fit(asked: Sequence[Asked]) -> Model:
    """Return the model of all questions; the regression of passages is shifted to the threshold of the other one."""
    memories, passages = regress(asked, "memories"), regress(asked, "passages")
    wrong = [one for one in asked if not one.answerable and one.relevance.features]
    whole = [one for one in wrong if not one.kind.endswith(JOINED)]
    by_memories = np.array([memories.probability(one.relevance.features["memories"]) for one in whole])
    uncertain = quantile(by_memories, shares(whole, lambda kind: kind), REFUSED)

    more = [
        passages.probability(features["passages"])
        if "passages" in features and memories.probability(features["memories"]) < uncertain
        else 0.0
        for features in (one.relevance.features for one in wrong)
    ]
    threshold = quantile(np.array(more), shares(wrong), 1 - MORE)
    shift = log(uncertain / (1 - uncertain)) - log(threshold / (1 - threshold))
    shipped = msgspec.json.decode(FILE.read_bytes(), type=Model)
    regressions = {
        **shipped.regressions,
        "memories": rounded(memories),
        "passages": rounded(msgspec.structs.replace(passages, intercept=passages.intercept + shift)),
    }
    model = Model({}, regressions, round(uncertain, 3), 0.999)
    confident = quantile(probabilities(model, wrong), shares(wrong), CERTAIN)
    return msgspec.structs.replace(model, confident=round(confident, 3))


def rounded(one: Regression) -> Regression:
    """Return a regression as the file holds it."""
    coefficients = {name: round(weight, 3) for name, weight in one.coefficients.items()}
    return Regression(round(one.intercept, 3), coefficients)


def probabilities(model: Model, asked: Sequence[Asked]) -> Floats:
    """Return the probability of each question, 0 where nothing was found."""
    return np.array([model.probability(one.relevance.features) if one.relevance.features else 0.0 for one in asked])


def quantile(values: Floats, weights: Floats, share: float) -> float:
    """Return the value below which a share of the weights is."""
    return float(np.quantile(values, share, weights=weights, method="inverted_cdf"))


def figures(found: Floats, judged: Sequence[Asked], threshold: float) -> dict[str, float]:
    """Return AUROC, and the shares of questions that a threshold refuses and keeps."""
    answerable = np.array([one.answerable for one in judged])
    return {
        "auroc": round(float(roc_auc_score(answerable, found)), 3),
        "refused": round(float((found < threshold)[~answerable].mean()), 3),
        "kept": round(float((found >= threshold)[answerable].mean()), 3),
    }


def main(
    folders: list[Path],
    questions: Annotated[int, Option(help="Of each set.")] = 300,
    documents: Annotated[int, Option(help="Of a set without namespaces.")] = 1_600,
    joined: Annotated[list[str] | None, Option("--join", help="A set whose documents are also joined.")] = None,
    keep: Annotated[Path | None, Option(help="A folder for the stores, used again by the next run.")] = None,
) -> None:
    """Ask, fit, judge each set left out, and write the model."""
    whole = {folder.name: read_dataset(folder) for folder in folders}
    sets = [sample(dataset, questions, documents) for dataset in whole.values()]
    few = [part for dataset in whole.values() if (part := small(dataset, FEW))]
    long = [join(whole[name], together, questions) for name in joined or () for together in TOGETHER]
    with Progress() as bar:
        everything = anyio.run(partial(ask_all, sets, [*few, *long], keep, bar))
    asked = [one for one in everything if one.source != PROMPTS.stem]

    left_out: dict[str, dict[str, float]] = {}
    for dataset in sets:
        model = fit([one for one in asked if dataset.name not in {origin(one.kind), origin(one.source)}])
        for kind in (one.name for one in (*sets, *few, *long) if origin(one.name) == dataset.name):
            judged = [one for one in asked if one.kind == kind]
            left_out[kind] = figures(probabilities(model, judged), judged, model.uncertain)
            own = [one for one in judged if one.source == kind]
            if not all(one.answerable for one in own):
                left_out[f"{kind}, another person"] = figures(probabilities(model, own), own, model.uncertain)
        print(f"without {dataset.name}: {msgspec.json.encode(model.regressions).decode()}, from {model.uncertain:.3f}")
    shipped = fit(asked)
    for name, row in left_out.items():
        print(f"{name:30}", *(f"{what} {value:.3f}" for what, value in row.items()))
    prompts = [one for one in everything if one.source == PROMPTS.stem]
    prompts_refused = round(float((probabilities(shipped, prompts) < shipped.uncertain).mean()), 3)
    fitted = figures(probabilities(shipped, asked), asked, shipped.uncertain)
    print(f"fitted to all: {fitted}, prompts refused {prompts_refused}")
    provenance = {
        "script": "scripts/train/relevance.py",
        "arguments": {"questions": questions, "documents": documents, "joined": joined or []},
        "sets": [dataset.name for dataset in sets],
        "left out": left_out,
        "prompts refused": prompts_refused,
        **today(),
        OTHERS: msgspec.json.decode(FILE.read_bytes(), type=Model).provenance[OTHERS],
    }
    model = msgspec.structs.replace(shipped, provenance=provenance)
    write_json(FILE, model)
    print(FILE.read_text())


if __name__ == "__main__":
    typer.run(main)
