"""The candidates of the questions of a data set, with what `auto` reads of them: the training data of its weights."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import anyio
import numpy as np
import torch
from benchmarks.datasets import DEPTH, Dataset, Document, read_dataset
from benchmarks.retrieval.loading import misspell
from benchmarks.store import Store, open_store
from rich.progress import Progress
from torch import Tensor
from torch.nn import functional as F

from actors.comparator.messages import Search
from actors.comparator.messages.search import pool_size
from actors.comparator.rows import NO_ROWS
from actors.comparator.search import fusion
from actors.comparator.search.fusion import indices_of
from actors.comparator.search.period import later_penalty
from actors.comparator.search.pipeline import REACH
from actors.comparator.search.recall import recall as recall_rows
from actors.comparator.search.weights import asked_spaces, measure
from actors.runtime.settings import SearchProfile
from events.storage.log import Log
from events.vocabulary import SpacesDeclared
from projections.atlas.atlas import Atlas

MISSPELT: Final = 0.25
"""Weight of misspelt questions in the loss."""


class Lists(NamedTuple):
    """The candidates of all questions of a set, padded to one length."""

    name: str
    scores: Tensor
    """Standardised, shape (questions, candidates, views)."""
    fixed: Tensor
    """Parts of the score that no weight changes; -1e4 where there is no candidate, shape (questions, candidates)."""
    grades: Tensor
    """Grade of relevance, shape (questions, candidates)."""
    turns: Tensor
    """Indices of the neighbouring turns, one past the end for none, shape (questions, candidates, turns)."""
    relying: Tensor
    """How much each candidate relies on the turns around it, shape (questions, candidates)."""
    ideal: Tensor
    """Grades of the relevant documents, best first, shape (questions, DEPTH)."""
    answers: Tensor
    """Number of relevant documents, shape (questions,)."""
    measured: list[dict[str, float]]
    asked: Tensor
    """Whether each view may have a weight, shape (questions, views)."""
    importance: float
    """Weight of the set in the loss."""

    @property
    def kind(self) -> str:
        """The first word of the name."""
        return self.name.replace(",", "-").split("-")[0]


async def lists(folder: Path, keep: Path, views: Sequence[str], limit: int | None, bar: Progress) -> list[Lists]:
    """Store a set, or open its store, and return the candidates of its questions, as they are and misspelt."""
    judged = read_dataset(folder)
    questions = [query for query in judged.queries if query.id in judged.judgements]
    if limit is not None and len(questions) > limit:
        questions = [questions[index] for index in np.linspace(0, len(questions) - 1, limit).astype(int)]
    async with open_store(keep / folder.name / "data") as store:
        documents = await _stored(store, judged, anyio.Path(keep / folder.name / "documents.json"), bar)
        atlas = _atlas(store.hub.log)
        both = ((folder.name, questions, 1.0), (f"{folder.name}, misspelt", misspell(questions)[::3], MISSPELT))
        return [
            _padded(
                name,
                [
                    await _candidates(store, atlas, documents, views, query, judged.judgements[query.id])
                    for query in bar.track(queries, description=name)
                ],
                count,
            )
            for name, queries, count in both
        ]


async def _stored(store: Store, judged: Dataset, file: anyio.Path, bar: Progress) -> dict[str, str]:
    """Return the document of each memory; stores the documents unless `file` says that they are stored."""
    if not await file.exists():
        task = bar.add_task(f"storing {judged.name}", total=len(judged.documents))
        stored = await store.store_documents(judged.documents, lambda: bar.advance(task))
        await file.write_text(json.dumps(stored))
    return json.loads(await file.read_text())


def _atlas(log: Log) -> Atlas:
    """Return the atlas of a log, whose first event declares the spaces."""
    envelopes = log.read()
    first = next(iter(envelopes))
    if not isinstance(first.event, SpacesDeclared):
        raise TypeError(f"a log begins with SpacesDeclared, not {type(first.event).__name__}")
    atlas = Atlas.of(first.event)
    for envelope in envelopes:
        atlas.apply(envelope)
    return atlas


async def _candidates(
    store: Store,
    atlas: Atlas,
    documents: dict[str, str],
    views: Sequence[str],
    query: Document,
    relevant: dict[str, float],
) -> dict[str, Any]:
    """Return the inputs of the fusion of one question."""
    embedded = await store.embed_query(query)
    hints, embeddings = embedded.hints, embedded.embeddings
    pool = pool_size(DEPTH)
    asked = Search(
        text=query.text,
        hints=hints,
        embeddings=embeddings,
        profile=SearchProfile.AUTO,
        filter=embedded.filter,
        limit=DEPTH,
        pool=pool,
    )
    eligible = atlas.facets.eligible(embedded.filter)
    rows = NO_ROWS
    for _, named in recall_rows(atlas, embeddings, eligible, pool, hints):
        rows = np.union1d(rows, named)
    candidates = fusion.Candidates(atlas, embeddings, hints, rows)
    candidates.score(view for view in views if view != fusion.WORDING_AROUND)
    measured = measure(atlas, asked, eligible, candidates)
    around, _ = atlas.facets.turns(rows, REACH)
    joining = np.setdiff1d(around[around >= 0], rows)
    candidates.add(joining[eligible[joining]])
    rows = candidates.rows
    turns = indices_of(atlas.facets.turns(rows, REACH)[0], rows)
    relying = candidates.reliance(turns)
    candidates.score_around(turns, atlas.facets.in_session(rows), relying)
    asks = asked_spaces(hints) | {fusion.WORDING_AROUND: measured["session"] > 0}
    return {
        "scores": np.stack([candidates.standardised(view) for view in views], axis=1),
        "fixed": -later_penalty(atlas, hints, rows),
        "grades": [relevant.get(documents[str(memory)], 0.0) for memory in atlas.ids(rows)],
        "turns": turns,
        "relying": relying,
        "ideal": sorted(relevant.values(), reverse=True),
        "measured": measured,
        "asked": [asks.get(view, True) for view in views],
    }


def _padded(name: str, questions: Sequence[dict[str, Any]], count: float) -> Lists:
    longest = max(DEPTH, *(len(question["grades"]) for question in questions))

    def rows(key: str, filler: float = 0.0, length: int = longest) -> Tensor:
        values = [torch.as_tensor(np.asarray(question[key]))[:length] for question in questions]
        padding = [(0, 0) * (each.dim() - 1) + (0, length - len(each)) for each in values]
        return torch.stack([F.pad(each, pad, value=filler) for each, pad in zip(values, padding, strict=True)])

    turns = rows("turns", longest)
    return Lists(
        name=name,
        scores=rows("scores").float(),
        fixed=rows("fixed", -1e4).float(),
        grades=rows("grades").float(),
        turns=torch.where(turns < 0, longest, turns),
        relying=rows("relying").float(),
        ideal=rows("ideal", length=DEPTH).float(),
        answers=torch.tensor([float(len(question["ideal"])) for question in questions]),
        measured=[question["measured"] for question in questions],
        asked=torch.tensor([question["asked"] for question in questions], dtype=torch.float32),
        importance=count,
    )
