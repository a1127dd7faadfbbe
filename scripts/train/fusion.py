"""Learn what each kind of question weighs: `actors/comparator/auto.json`, a table that a person can read.

    python -m scripts.train.fusion FOLDER [FOLDER ...]

Each folder is a set in the BEIR layout. Its documents are stored as a user's memories are; for each question, as it
stands and misspelt, the scores of every space on the candidates are kept. The model is linear: the weights of a
question are the sum of the rows of its kinds, shared out to 1; the loss is listwise (the log softmax of the fused score
over the candidates), with what neighbouring turns lend. Rows are held to where they started (L2), and stay where there
is nothing to learn from. Every set is left out once: what the rest teaches is measured on it. Seeded; prints all
figures.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import numpy as np
import torch
from rich.progress import Progress
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 -- the name under which everyone knows it

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.datasets import DEPTH, Document
from benchmarks.retrieval import Loaded, load, misspell

from actors.comparator.messages import Search
from actors.comparator.search import fusion, pipeline
from actors.comparator.search.query_classifier import QueryKind
from actors.comparator.search.weight_profiles import AUTO
from actors.runtime.settings import SearchProfile
from events.spaces import SPACES
from events.storage.log import Log
from events.vocabulary import SpacesDeclared
from projections.memories.atlas import Atlas
from projections.memories.facets import Filter

FILE = Path(__file__).parents[2] / "actors" / "comparator" / "search" / "auto.json"
KEYS = [space.key for space in SPACES]
KINDS = list(QueryKind)
TIMES = {"e2_temporal_recent", "e3_temporal_periodic", "e4_temporal_positional"}
LEARNED: dict[QueryKind, set[str]] = {
    **{kind: set(KEYS) - TIMES - {"e11_entity"} for kind in (QueryKind.TALK, QueryKind.CAUSE)},
    QueryKind.TIME: {"e2_temporal_recent", "e11_entity"},
    QueryKind.VOICE: {"e11_entity"},
    QueryKind.UNKNOWN: {"e9_hdc"},
}
"""Which spaces each row may weigh; the other rows stand as they are. Rhythm and order have no set to learn from. E11
stays out of talk and cause: it reads the words of E6, whose weight the loss would hand to it. Misspelt questions lost
.009 by that on a development set of times; and of two versions of a statement the older one, which held one word more
of the question, came first. For code the loss, which cares most for the first place, gave up Recall@10 (.848 on a
development set of code): its row was chosen near where rows drawn at random were best on average over their neighbours
(.862 of recorded candidates; chosen on one half of the questions, such rows reach .860 on the other).
"""
STEPS = 100
RATE = 0.02
HELD = 0.5
"""Weight of the squared distance from where the table started, against a loss of some two nats."""
MISSPELT = 0.25
"""What a misspelt question counts."""


class Lists(NamedTuple):
    """The candidates of all questions of a set, padded to one length."""

    name: str
    scores: Tensor
    """Standardised, shape (questions, candidates, spaces)."""
    there: Tensor
    """Which places hold a candidate, shape (questions, candidates)."""
    right: Tensor
    """Which of them answer, shape (questions, candidates)."""
    turns: Tensor
    """Places of the neighbouring turns, one past the end for none, shape (questions, candidates, turns)."""
    answers: Tensor
    """How many documents answer, shape (questions,)."""
    kinds: Tensor
    """1 where a question is of a kind, shape (questions, kinds)."""
    counts: Tensor
    """What a question counts in the loss, shape (questions,)."""


async def lists(folder: Path, limit: int | None, bar: Progress) -> list[Lists]:
    """Store a set, and return the candidates of its questions, as they stand and misspelt."""
    async with load([folder], limit, bar, priming=False) as loaded:
        (judged,) = loaded.sets
        atlas = _atlas(loaded.store.hub.log)
        both = ((folder.name, judged.queries, 1.0), (f"{folder.name}, misspelt", misspell(judged.queries), MISSPELT))
        return [
            _padded(
                name,
                [await _candidates(loaded, atlas, query, judged.judgements[query.id]) for query in queries],
                counts,
            )
            for name, queries, counts in both
        ]


def _atlas(log: Log) -> Atlas:
    """Return what the comparator knows, replayed: the first event of a log declares the spaces."""
    envelopes = log.read()
    first = next(iter(envelopes))
    if not isinstance(first.event, SpacesDeclared):
        raise TypeError(f"a log begins with SpacesDeclared, not {type(first.event).__name__}")
    atlas = Atlas.of(first.event)
    for envelope in envelopes:
        atlas.apply(envelope)
    return atlas


async def _candidates(loaded: Loaded, atlas: Atlas, query: Document, relevant: dict[str, float]) -> dict[str, Any]:
    """Return what the fusion of one question would see."""
    embedded = await loaded.store.embed_query(query)
    said, embeddings, wanted = embedded.hints, embedded.embeddings, Filter(namespace=embedded.namespace)
    asked = Search(
        text=query.text,
        cues=said,
        embeddings=embeddings,
        profile=SearchProfile.AUTO,
        filter=wanted,
        limit=DEPTH,
        pool=pipeline.pool(DEPTH),
    )
    eligible = atlas.facets.eligible(wanted)
    rows = pipeline.NONE
    for _, named in pipeline.recall(atlas, embeddings, eligible, asked.pool, said):
        rows = np.union1d(rows, named)
    recalled = len(rows)
    around, _ = atlas.facets.turns(rows, pipeline.REACH)
    joining = np.setdiff1d(around[around >= 0], rows)
    rows = np.concatenate([rows, joining[eligible[joining]]])
    scores = np.zeros((len(rows), len(KEYS)), np.float32)
    for place, key in enumerate(KEYS):
        if key in embeddings:
            raw = atlas.relevance(key, embeddings, rows, said)
            mean, deviation = fusion.standardise(raw[:recalled], pipeline.LEAST_DEVIATION.get(key, 0.0))
            scores[:, place] = (raw - mean) / deviation
    turns, _ = atlas.facets.turns(rows, pipeline.REACH)
    documents = [loaded.documents[str(memory)] for memory in atlas.ids(rows)]
    kinds = pipeline.kinds(atlas, asked, eligible)
    return {
        "scores": scores,
        "right": [document in relevant for document in documents],
        "turns": pipeline.places(turns, rows),
        "answers": len(relevant),
        "kinds": [kind in kinds for kind in KINDS],
    }


def _padded(name: str, questions: Sequence[dict[str, Any]], counts: float) -> Lists:
    longest = max(len(question["scores"]) for question in questions)
    shape = (len(questions), longest)
    scores = torch.zeros(*shape, len(KEYS))
    there, right = torch.zeros(shape, dtype=torch.bool), torch.zeros(shape, dtype=torch.bool)
    turns = torch.full((*shape, 2 * pipeline.REACH), longest)
    for row, question in enumerate(questions):
        count = len(question["scores"])
        scores[row, :count] = torch.from_numpy(question["scores"])
        there[row, :count] = True
        right[row, :count] = torch.tensor(question["right"])
        places = torch.from_numpy(question["turns"])
        turns[row, :count] = torch.where(places < 0, longest, places)
    answers = torch.tensor([float(question["answers"]) for question in questions])
    kinds = torch.tensor([question["kinds"] for question in questions], dtype=torch.float32)
    return Lists(name, scores, there, right, turns, answers, kinds, torch.full((len(questions),), counts))


def fused(table: Tensor, of: Lists) -> Tensor:
    """Return the fused scores with what turns lend, shape (questions, candidates), by a table (kinds, spaces)."""
    weights = of.kinds @ table
    scores = torch.einsum("qcs,qs->qc", of.scores, weights / weights.sum(dim=1, keepdim=True))
    scores = scores.masked_fill(~of.there, -1e4)
    beside = torch.cat([scores, torch.zeros(len(scores), 1)], dim=1)
    lent = torch.gather(beside, 1, of.turns.flatten(1)).view(of.turns.shape).clamp(min=0).amax(dim=2)
    return scores + fusion.SPREAD * lent


def loss(table: Tensor, sharpness: Tensor, of: Lists) -> Tensor:
    """Return the mean negative log likelihood of the answers among the candidates."""
    likelihood = F.log_softmax(sharpness * fused(table, of), dim=1).masked_fill(~of.right, 0).sum(dim=1)
    found = of.right.sum(dim=1)
    counts = of.counts * (found > 0)
    return -(counts * likelihood / found.clamp(min=1)).sum() / counts.sum().clamp(min=1)


@torch.no_grad()
def recall(table: Tensor, of: Lists) -> float:
    """Return Recall@10."""
    best = fused(table, of).topk(DEPTH, dim=1).indices
    return float((torch.gather(of.right, 1, best).sum(dim=1) / of.answers).mean())


def fit(start: Tensor, sets: Sequence[Lists]) -> Tensor:
    """Return the table that does best on these sets, near the one to start from."""
    mask = torch.tensor([[float(key in LEARNED.get(kind, set())) for key in KEYS] for kind in KINDS])
    table = start.clone().requires_grad_()
    sharpness = torch.tensor(4.0, requires_grad=True)
    optimiser = torch.optim.Adam([{"params": [table], "lr": RATE}, {"params": [sharpness], "lr": 0.1}])
    for _ in range(STEPS):
        moved = (start + mask * (table - start)).clamp(min=0)
        losses = [of.counts[0] * loss(moved, sharpness, of) for of in sets]
        total = (
            torch.stack(losses).sum() / sum(float(of.counts[0]) for of in sets) + HELD * ((table - start) ** 2).sum()
        )
        optimiser.zero_grad()
        total.backward()
        optimiser.step()
    return (start + mask * (table - start)).clamp(min=0).detach()


def main() -> None:
    """Read the arguments, learn, print, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--limit", type=int, help="questions of each set")
    parser.add_argument(
        "--keep", type=Path, help="a file for the candidates, read if it is there: storing takes minutes"
    )
    options = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    if options.keep and options.keep.exists():
        sets: list[list[Lists]] = torch.load(options.keep, weights_only=False)
    else:
        with Progress() as bar:
            sets = [anyio.run(lists, folder, options.limit, bar) for folder in options.folders]
        if options.keep:
            torch.save(sets, options.keep)

    start = torch.tensor([[AUTO[kind].get(key, 0.0) for key in KEYS] for kind in KINDS])
    table = fit(start, [each for both in sets for each in both])
    print(f"{'Recall@10':28}{'before':>8}{'fitted':>8}{'left out':>10}")
    for both in sets:
        others = fit(start, [each for other in sets if other is not both for each in other])
        for each in both:
            print(f"{each.name:28}{recall(start, each):8.4f}{recall(table, each):8.4f}{recall(others, each):10.4f}")
    FILE.write_text(json.dumps(readable(table), indent=2) + "\n")
    print(FILE.read_text())


def readable(table: Tensor) -> dict[str, dict[str, float]]:
    """Return the table by name, the rows of the first three kinds summing to 1, without what weighs next to nothing."""
    rows: dict[str, dict[str, float]] = {}
    for kind, row in zip(KINDS, table.tolist(), strict=True):
        kept = {key: weight for key, weight in zip(KEYS, row, strict=True) if weight >= 0.005}
        total = sum(kept.values()) if kind in (QueryKind.TALK, QueryKind.CODE, QueryKind.CAUSE) else 1.0
        rows[kind.value] = {key: round(weight / total, 3) for key, weight in kept.items()}
    return rows


if __name__ == "__main__":
    main()
