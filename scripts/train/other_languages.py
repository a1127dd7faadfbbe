"""Fit the relevance of an answer to a query in a language that the packaged model hardly knows.

    python -m scripts.train.other_languages [FOLDER]

`other_languages.toml` has twenty memories and questions in each of some languages. Ten are stored, all twenty asked:
ten questions have an answer. FOLDER may hold texts to store beside them, as LANGUAGE.txt with one on a line; the same
questions are put to such a larger store too, which teaches what the number of memories does. Every language weighs the
same. Each is also judged by a regression that never saw it.

Writes the regression `other_languages` into `actors/comparator/search/relevance.json`, its intercept such that a share
of `REFUSED` of the questions without an answer stays below the threshold `uncertain`. Three minutes on one core.
"""

import tomllib
from math import log
from pathlib import Path
from typing import Annotated

import anyio
import msgspec
import numpy as np
import typer
from benchmarks.datasets import DEPTH, Document
from benchmarks.relevance import Asked
from benchmarks.store import open_store

from actors.api.operations.retrieval.query import search
from actors.comparator.search.relevance import FILE, Model, Regression
from actors.runtime.settings import SearchProfile
from scripts.train.record import today, write_json
from scripts.train.relevance import OTHERS, figures, quantile, regress, rounded, shares

PAIRS = Path(__file__).with_suffix(".toml")
TEXTS = 300
"""Of those of FOLDER, in each language."""
REFUSED = 0.84
"""Share of the questions without an answer that bring nothing. With more, more answers would be called nothing."""


async def ask(language: str, pairs: dict[str, str], texts: list[str]) -> list[Asked]:
    """Put all questions of a language to a store of half of its memories, and to the same store with more texts."""
    asked: list[Asked] = []
    stored = list(pairs)[: len(pairs) // 2]
    async with open_store() as store:
        for batch in filter(None, (stored, texts)):
            await store.store_texts(batch)
            for memory, question in pairs.items():
                query = await store.embed_query(Document(id=question, text=question))
                found = await search(store.context, query, SearchProfile.AUTO, DEPTH, primed={})
                if found.relevance is None or OTHERS not in found.relevance.features:
                    continue  # a question that the model reads in whole words
                asked.append(Asked(language, language, memory in stored, found.relevance))
    return asked


def fit(asked: list[Asked], uncertain: float) -> Regression:
    """Return the regression, shifted so that `REFUSED` of the questions without an answer are below a probability."""
    found = regress(asked, OTHERS)
    wrong = [one for one in asked if not one.answerable]
    by_wrong = np.array([found.probability(one.relevance.features[OTHERS]) for one in wrong])
    threshold = quantile(by_wrong, shares(wrong), REFUSED)
    shift = log(uncertain / (1 - uncertain)) - log(threshold / (1 - threshold))
    return rounded(msgspec.structs.replace(found, intercept=found.intercept + shift))


def judged(regression: Regression, uncertain: float, asked: list[Asked]) -> dict[str, float]:
    """Return AUROC, and the shares of questions that the threshold refuses and keeps."""
    return figures(
        np.array([regression.probability(one.relevance.features[OTHERS]) for one in asked]), asked, uncertain
    )


def main(folder: Annotated[Path | None, typer.Argument()] = None) -> None:
    """Ask, fit, judge each language left out, and write the regression."""
    model = msgspec.json.decode(FILE.read_bytes(), type=Model)
    asked: list[Asked] = []
    for language, pairs in tomllib.loads(PAIRS.read_text()).items():
        file = folder and folder / f"{language}.txt"
        texts = file.read_text().splitlines()[:TEXTS] if file and file.is_file() else []
        asked += anyio.run(ask, language, pairs, texts)
        print(language, len(texts), "more texts,", len(asked), "questions so far", flush=True)
    left_out = {}
    for language in dict.fromkeys(one.kind for one in asked):
        regression = fit([one for one in asked if one.kind != language], model.uncertain)
        left_out[language] = judged(regression, model.uncertain, [one for one in asked if one.kind == language])
        print(f"{language:12}", *(f"{what} {value:.3f}" for what, value in left_out[language].items()))
    regression = fit(asked, model.uncertain)
    provenance = {
        "script": "scripts/train/other_languages.py",
        "questions": len(asked),
        "left out": left_out,
        **today(),
    }
    written = msgspec.structs.replace(
        model,
        regressions={**model.regressions, OTHERS: regression},
        provenance={**model.provenance, OTHERS: provenance},
    )
    write_json(FILE, written)
    print("all", judged(regression, model.uncertain, asked), regression)


if __name__ == "__main__":
    typer.run(main)
