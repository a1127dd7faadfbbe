"""Fit the weights of `auto`: `actors/comparator/search/auto.json`.

    python -m scripts.train.fusion --keep STORES [--only VIEW] FOLDER [FOLDER ...]

Each folder is a set in the BEIR layout. Its documents are stored as memories; for each question, as it is and misspelt,
the standardised scores of every view on the candidates are recorded, and what `auto` measures. Weights are
softplus(bias + Σ effect · measurement). The loss is listwise: log softmax of the fused score over the candidates, and
the distance of each relevant one from the tenth best other. Biases and effects are regularised (L2) towards `START`.

With `--only`, the other views keep the numbers of the present file, and that view alone is fitted beside them.

Sets whose names share the first word are one kind. For each kind the fit is repeated without it, and evaluated on it:
that figure, not the one of the fit that includes it, says what another kind of text may expect. Seeded; prints all.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

import anyio
import numpy as np
import torch
import typer
from benchmarks.datasets import DEPTH
from rich.progress import Progress
from torch import Tensor
from torch.nn import functional as F
from typer import BadParameter, Option

from actors.comparator.search import fusion
from actors.comparator.search.weights import AUTO, FILE, LIMIT
from events.spaces import E1, E2, E3, E4, E5, E6, E7, E8, E9, E11, E12, E13
from scripts.train.candidates import Lists, lists

START: dict[str, tuple[float, dict[str, float]]] = {
    E1: (0.45, {"code": 0.6, "session": -1.5, "unknown_share": 3.0}),
    fusion.WHOLE: (0.35, {}),
    fusion.OPENING: (0.12, {}),
    E2: (0.6, {}),
    E5: (0.7, {"event": 5.0, "speaker": -5.0, "code": -3.0}),
    E6: (0.3, {"code": -1.2, "time": -1.0}),
    E7: (0.1, {"code": 2.5}),
    E8: (0.03, {"session": 1.0}),
    E9: (0.04, {"unknown_word": 0.5}),
    E11: (0.05, {"speaker": 2.0, "time": 3.0, "code": -1.0}),
    E12: (0.8, {"code": -0.4}),
    fusion.WORDING_AROUND: (0.007, {"session": 4.5}),
    E13: (0.15, {}),
}
"""Weight of each view for a plain question, and what changes it: what the spaces are made for. E3, E4 and
images, which no set teaches, have a fixed share. E10 of texts is left out: without a modality in the question it
repeats E1."""
SHARES = {E3: 0.3, E4: 1.2, fusion.IMAGES_ALONE: 0.5}
VIEWS = [*START]
FLAGS = {"event", "time", "speaker", "unknown_word", "unknown_share", "code", "session", "passages"}
"""Measurements in [0, 1], which are neither centred nor scaled: a bias is the weight where none applies."""
COMMON = {*FLAGS, "question_length", "memory_length", "nearness", "agreement", "e1_tail", "e6_tail"}
LEARNED = {
    **{view: {*effects} for view, (_, effects) in START.items()},
    **dict.fromkeys((E1, E6, E12), COMMON),
    **{key: {"passages", "question_length", "memory_length"} for key in (fusion.WHOLE, fusion.OPENING)},
    fusion.WORDING_AROUND: {"session", "memory_length"},
    E11: {"speaker", "session", "time", "code", "question_length"},
    E13: {"unknown_word", "question_length"},
}
"""Effects that are fitted; a weight follows only from what can bear on its space."""
STEPS = 60
RATE = 0.08
HELD_BIAS, HELD_EFFECT = 0.1, 0.008
"""Weights of the squared distances from `START`, chosen by the mean over left-out kinds."""
TENTH = 0.5
"""Share of the loss that measures the distance from the tenth place; the rest favours the first."""
HARDEST = 80
"""Candidates of a question that the fit reads: its relevant ones and the best others at the start."""


class Table:
    """The biases and effects of all views.

    Args:
        sets: Whose measurements are centred and scaled.
        only: The one view that is fitted, beside the present numbers; None for all, from `START`.
    """

    def __init__(self, sets: Sequence[Lists], only: str | None) -> None:
        self.names: Final = sorted(COMMON)
        values = [torch.tensor([[one[name] for name in self.names] for one in of.measured]) for of in sets]
        means = torch.stack([each.mean(dim=0) for each in values]).mean(dim=0)
        squares = torch.stack([((each - means) ** 2).mean(dim=0) for each in values]).mean(dim=0)
        plain = torch.tensor([name in FLAGS for name in self.names])
        self.means = means.masked_fill(plain, 0.0)
        self.deviations = (squares.sqrt() + 1e-3).masked_fill(plain, 1.0)
        if only is not None:
            self.means = torch.tensor([AUTO.measurements[name].mean for name in self.names])
            self.deviations = torch.tensor([AUTO.measurements[name].deviation for name in self.names])
        begin = [_begin(view, only) for view in VIEWS]
        self.start: Final = torch.tensor([bias for bias, _ in begin])
        self.first: Final = torch.tensor([[effects.get(name, 0.0) for name in self.names] for _, effects in begin])
        self.fitted: Final = torch.tensor([only in {None, view} for view in VIEWS])
        self.free: Final = self.fitted[:, None] & torch.tensor(
            [[name in LEARNED.get(view, ()) for name in self.names] for view in VIEWS]
        )
        self.biases = self.start.clone().requires_grad_()
        self.effects = self.first.clone().requires_grad_()
        self.sharpness = torch.tensor(4.0, requires_grad=True)

    def measurements(self, of: Lists) -> Tensor:
        """Return the scaled and clipped measurements, shape (questions, measurements)."""
        values = torch.tensor([[one[name] for name in self.names] for one in of.measured])
        return ((values - self.means) / self.deviations).clamp(-LIMIT, LIMIT)

    def fused(self, of: Lists, measured: Tensor) -> Tensor:
        """Return the fused scores with the bonus from neighbouring turns, shape (questions, candidates)."""
        weights = F.softplus(self.numbers()[0] + measured @ self.numbers()[1].T) * of.asked
        scores = torch.einsum("qcv,qv->qc", of.scores, weights / weights.sum(dim=1, keepdim=True)) + of.fixed
        beside = torch.cat([scores, torch.zeros(len(scores), 1)], dim=1)
        lent = torch.gather(beside, 1, of.turns.flatten(1)).view(of.turns.shape).clamp(min=0).amax(dim=2)
        return scores + fusion.NEIGHBOUR_SHARE * of.relying * lent

    def numbers(self) -> tuple[Tensor, Tensor]:
        """Return the biases, shape (views,), and effects, shape (views, measurements)."""
        return (
            torch.where(self.fitted, self.biases, self.start),
            torch.where(self.free, self.effects, self.first),
        )

    def held(self) -> Tensor:
        """Return the penalty of the distance from the start."""
        biases, effects = self.numbers()
        return HELD_BIAS * ((biases - self.start) ** 2).sum() + HELD_EFFECT * ((effects - self.first) ** 2).sum()


def _begin(view: str, only: str | None) -> tuple[float, dict[str, float]]:
    """Return the bias and effects that the fit of a view starts from."""
    if only is not None and view != only:
        return AUTO.views[view].bias, AUTO.views[view].effects
    weight, effects = START[view]
    return float(np.log(np.expm1(weight))), effects


def loss(table: Table, of: Lists, measured: Tensor) -> Tensor:
    """Return the mean loss of the relevant candidates: of the first place, and of the first ten."""
    scores, relevant = table.fused(of, measured), of.grades > 0
    first = -F.log_softmax(table.sharpness * scores, dim=1)
    others = scores.masked_fill(relevant, -1e4)
    tenth = F.softplus(5 * (others.topk(DEPTH, dim=1).values[:, -1:] - scores))
    both = ((1 - TENTH) * first + 1.5 * TENTH * tenth).masked_fill(~relevant, 0).sum(dim=1)
    found = relevant.sum(dim=1)
    return (both / found.clamp(min=1)).sum() / (found > 0).sum().clamp(min=1)


@torch.no_grad()
def quality(table: Table, of: Lists) -> tuple[float, float]:
    """Return Recall@10 and NDCG@10."""
    best = table.fused(of, table.measurements(of)).topk(DEPTH, dim=1).indices
    grades = torch.gather(of.grades, 1, best)
    discounts = 1 / torch.log2(torch.arange(2, DEPTH + 2))
    gain = (grades * discounts).sum(dim=1) / (of.ideal * discounts).sum(dim=1)
    return float(((grades > 0).sum(dim=1) / of.answers).mean()), float(gain.mean())


def hardest(of: Lists, only: str | None) -> Lists:
    """Return the candidates that the fit reads: the relevant ones and the best others at the start."""
    start = Table([of], only)
    with torch.no_grad():
        order = start.fused(of, start.measurements(of)) + 1e6 * (of.grades > 0)
    count = min(HARDEST, order.shape[1])
    best = order.topk(count, dim=1).indices
    places = torch.full((len(best), order.shape[1] + 1), count)
    places.scatter_(1, best, torch.arange(count).expand_as(best))
    turns = torch.gather(of.turns, 1, best[..., None].expand(-1, -1, of.turns.shape[2]))
    return of._replace(
        scores=torch.gather(of.scores, 1, best[..., None].expand(-1, -1, of.scores.shape[2])),
        fixed=torch.gather(of.fixed, 1, best),
        grades=torch.gather(of.grades, 1, best),
        relying=torch.gather(of.relying, 1, best),
        turns=torch.gather(places, 1, turns.flatten(1)).view(turns.shape),
    )


def fit(sets: Sequence[Lists], only: str | None) -> Table:
    """Return the table that minimises the regularised loss on these sets."""
    table = Table(sets, only)
    measured = [table.measurements(of) for of in sets]
    optimiser = torch.optim.Adam(
        [{"params": [table.biases, table.effects], "lr": RATE}, {"params": [table.sharpness], "lr": 0.1}]
    )
    schedule = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 0.1, STEPS)
    counts = torch.tensor([of.importance for of in sets])
    for _ in range(STEPS):
        losses = torch.stack([loss(table, of, each) for of, each in zip(sets, measured, strict=True)])
        optimiser.zero_grad()
        ((counts * losses).sum() / counts.sum() + table.held()).backward()
        optimiser.step()
        schedule.step()
    return table


def readable(table: Table) -> dict[str, object]:
    """Return the table by name, without effects below .02."""
    biases, effects = (numbers.tolist() for numbers in table.numbers())
    scales = zip(table.names, table.means.tolist(), table.deviations.tolist(), strict=True)
    return {
        "measurements": {name: {"mean": round(mean, 3), "deviation": round(width, 3)} for name, mean, width in scales},
        "views": {
            view: {
                "bias": round(bias, 3),
                "effects": {
                    name: round(effect, 3) for name, effect in zip(table.names, row, strict=True) if abs(effect) >= 0.02
                },
            }
            for view, bias, row in zip(VIEWS, biases, effects, strict=True)
        },
        "shares": SHARES,
    }


def main(
    folders: list[Path],
    keep: Annotated[Path, Option(help="A folder for the stores, which are read if there.")],
    only: Annotated[str | None, Option(metavar="VIEW", help="Fit this view beside the others of the file.")] = None,
    limit: Annotated[int | None, Option(help="Questions of each set.")] = None,
) -> None:
    """Learn, print, and write the table."""
    if only is not None and only not in VIEWS:
        raise BadParameter(f"no view is called {only}; there are {', '.join(VIEWS)}")
    torch.manual_seed(0)
    torch.set_num_threads(1)
    sets: list[Lists] = []
    with Progress() as bar:
        for folder in folders:
            kept = keep / folder.name / "candidates.pt"
            if not kept.exists():
                kept.parent.mkdir(parents=True, exist_ok=True)
                torch.save(anyio.run(lists, folder, keep, VIEWS, limit, bar), kept)
            sets += torch.load(kept, weights_only=False)
    hard = [hardest(of, only) for of in sets]
    table, start = fit(hard, only), Table(hard, only)
    figures: dict[str, dict[str, float]] = {}
    print(f"{'Recall@10, NDCG@10':28}{'at the start':>16}{'fitted':>16}{'left out':>16}")
    for kind in dict.fromkeys(of.kind for of in sets):
        others = fit([of for of in hard if of.kind != kind], only)
        for of in (of for of in sets if of.kind == kind):
            results = [quality(each, of) for each in (start, table, others)]
            print(f"{of.name:28}" + "".join(f"{recall:9.3f}{ndcg:7.3f}" for recall, ndcg in results), flush=True)
            figures[of.name] = {"fitted": round(results[1][0], 3), "left_out": round(results[2][0], 3)}
    provenance = {"command": "python -m scripts.train.fusion", "limit": limit, "recall_at_10": figures}
    if only is not None:
        former = {key: value for key, value in AUTO.provenance.items() if key != only}
        provenance = former | {only: {**provenance, "command": f"{provenance['command']} --only {only}"}}
    FILE.write_text(json.dumps({"provenance": provenance, **readable(table)}, indent=2) + "\n")


if __name__ == "__main__":
    typer.run(main)
