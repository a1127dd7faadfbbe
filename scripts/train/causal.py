"""Train E5's two heads on pairs of causes and effects, such as those of e-CARE (Du et al. 2022, MIT licence).

    python -m scripts.train.causal pairs.jsonl --data "e-CARE, train" --licence MIT

Each line of the pairs has `cause`, `effect`, `asked` ("cause" or "effect") and `wrong`, a wrong answer. The heads are
initialised by canonical correlation analysis (Hotelling 1936): whitened causes and effects are rotated so that partners
correlate, each direction weighted by its correlation. Training uses InfoNCE in both directions, with the wrong answers
as further negatives.

The last pairs are held out for evaluation, as a block, since neighbouring pairs can be about the same fact: each is
searched among the right and wrong answers of all. Then the heads are trained on all pairs. Writes `causal.safetensors`.
Seeded; about two minutes on one core, half of them for the model.
"""

from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import torch
import typer
from torch import Tensor
from torch.nn import functional as F
from torch.utils.data import TensorDataset

from actors.embedder import weights
from actors.embedder.models.backbone import CLS, DIMENSION, MODEL_SHA256, SEP, Backbone, pool
from actors.embedder.spaces.causal import INPUT_DIMENSION, causal_inputs
from scripts.train.record import Data, Licence, read_lines, record, states_of

BATCH = 512
RATE = 3e-4
TEMPERATURE = 0.05
EPOCHS = 5
RIDGE = 0.1
"""Share of the mean variance that is added to every direction before whitening."""
HELD_OUT = 2_000
RECALLED = 10


class Pair(msgspec.Struct):
    """One line of the training data."""

    cause: str
    effect: str
    asked: str
    wrong: str


def main(file: Path, data: Data, licence: Licence, seed: int = 13, threads: int = 1) -> None:
    """Measure, train, and record."""
    pairs, sha256 = read_lines(file, Pair)
    backbone = Backbone.load(threads=threads, precision="float32")
    examples = TensorDataset(  # evidence of each text, shape (pairs, 768), and whether the effect was asked
        _evidence(backbone, [pair.cause for pair in pairs]),
        _evidence(backbone, [pair.effect for pair in pairs]),
        _evidence(backbone, [pair.wrong for pair in pairs]),
        torch.tensor([pair.asked == "effect" for pair in pairs]),
    )
    cause, effect = train(examples, seed)
    record(
        "causal.safetensors",
        {"cause": cause.numpy().astype(np.float16), "effect": effect.numpy().astype(np.float16)},
        script="scripts/train/causal.py",
        arguments={"seed": seed, "batch": BATCH, "rate": RATE, "temperature": TEMPERATURE}
        | {"epochs": EPOCHS, "ridge": RIDGE},
        data={data: licence},
        inputs={
            "pairs": sha256,
            "all-MiniLM-L6-v2 model.safetensors": MODEL_SHA256,
            "semantic.safetensors": weights.recorded_sha256("semantic.safetensors"),
        },
        figures={"pairs": len(pairs), **measure(examples, seed)},
    )


def measure(examples: TensorDataset, seed: int) -> dict[str, Any]:
    """Return the held-out Recall@10 of E1's cosine, of the initial heads and of the trained heads."""
    rest, held_out = TensorDataset(*examples[:-HELD_OUT]), TensorDataset(*examples[-HELD_OUT:])
    untrained = torch.eye(INPUT_DIMENSION)[:, :DIMENSION]  # E1 comes first
    return {
        "held-out pairs": len(held_out),
        "held-out Recall@10 of E1": recall(held_out, untrained, untrained),
        "held-out Recall@10 of correlations": recall(held_out, *correlations(rest)),
        "held-out Recall@10 of E5": recall(held_out, *train(rest, seed)),
    }


def train(examples: TensorDataset, seed: int) -> tuple[Tensor, Tensor]:
    """Return the heads of causes and of effects, shape (768, 768) each."""
    torch.manual_seed(seed)
    cause, effect = (torch.nn.Parameter(start) for start in correlations(examples))
    scale = torch.nn.Parameter(torch.tensor(1 / TEMPERATURE).log())
    optimiser = torch.optim.AdamW([cause, effect, scale], lr=RATE, weight_decay=0)
    steps = EPOCHS * -(-len(examples) // BATCH)
    schedule = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 0.0, steps)
    for epoch in range(1, EPOCHS + 1):
        losses: list[float] = []
        for some in torch.randperm(len(examples)).split(BATCH):
            causes, effects, wrongs, effect_asked = examples[some]
            as_cause, as_effect = _head(causes, cause), _head(effects, effect)
            wrong_effects = _head(wrongs[effect_asked], effect)
            wrong_causes = _head(wrongs[~effect_asked], cause)
            right = torch.arange(len(causes))
            forwards = scale.exp() * as_cause @ torch.cat([as_effect, wrong_effects]).T
            backwards = scale.exp() * as_effect @ torch.cat([as_cause, wrong_causes]).T
            loss = F.cross_entropy(forwards, right) + F.cross_entropy(backwards, right)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
            losses.append(loss.item())
        print(f"epoch {epoch} of {len(examples)} pairs: loss {np.mean(losses):.4f}")
    return cause.detach(), effect.detach()


def correlations(examples: TensorDataset) -> tuple[Tensor, Tensor]:
    """Return heads by canonical correlation, scaled to outputs of a norm near 1."""
    (causes, effects, *_), count = examples.tensors, len(examples)
    of_causes, of_effects = _whitening(causes.T @ causes / count), _whitening(effects.T @ effects / count)
    left, strength, right = torch.linalg.svd(of_causes @ (causes.T @ effects / count) @ of_effects)
    cause, effect = of_causes @ left * strength, of_effects @ right.T * strength
    return cause / (causes @ cause).norm(dim=1).mean(), effect / (effects @ effect).norm(dim=1).mean()


@torch.no_grad()
def recall(examples: TensorDataset, cause: Tensor, effect: Tensor) -> float:
    """Return the share of answers among the first ten of all right and wrong answers."""
    causes, effects, wrongs, effect_asked = examples.tensors
    asked = effect_asked[:, None]
    questions, answers = torch.where(asked, causes, effects), torch.where(asked, effects, causes)
    corpus = torch.cat([answers, wrongs])
    as_effects = _head(questions, cause) @ _head(corpus, effect).T
    as_causes = _head(questions, effect) @ _head(corpus, cause).T
    scores = torch.where(asked, as_effects, as_causes)
    better = (scores > scores.diagonal()[:, None]).sum(dim=1)
    return round(float((better < RECALLED).float().mean()), 4)


def _whitening(moments: Tensor) -> Tensor:
    """Return the inverse square root of a moment matrix."""
    values, vectors = torch.linalg.eigh(moments)
    return vectors / (values + RIDGE * values.mean()).sqrt() @ vectors.T


def _head(texts: Tensor, head: Tensor) -> Tensor:
    return F.normalize(texts @ head, dim=-1)


def _evidence(backbone: Backbone, texts: list[str]) -> Tensor:
    """Return the inputs of the heads for short texts, shape (texts, 768)."""
    rotation = weights.load("semantic.safetensors")["rotation"]
    rows = [backbone.tokenize(text).ids for text in texts]
    found = np.zeros((len(rows), INPUT_DIMENSION), np.float32)
    for place, states in states_of(backbone, rows):
        pieces = backbone.input_embeddings([CLS, *rows[place], SEP])
        found[place] = causal_inputs(pool([states]) @ rotation, [pieces])[0]
    return torch.from_numpy(found)


if __name__ == "__main__":
    typer.run(main)
