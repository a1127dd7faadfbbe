"""Train E5's two heads on pairs of causes and effects, such as those of e-CARE (Du et al. 2022, MIT licence).

    python -m scripts.train.causal pairs.jsonl --data "e-CARE, train" --licence MIT

Each line of the pairs has `cause`, `effect`, `asked` ("cause" or "effect") and `wrong`, a wrong answer to what was
asked. Both heads start as one isometry 384 -> 768, so that untrained they give E1's cosine. The loss is InfoNCE in
both directions, with the wrong answers as further negatives; training stops when the held-out tenth gains no more.
Writes `causal.safetensors`. Seeded; about two minutes on one core, half of them for E1.
"""

import argparse
import hashlib
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 -- the name under which everyone knows it

from actors.embedder import weights
from actors.embedder.backbone import DIMENSION, MODEL_SHA256, Backbone, pool
from actors.embedder.causal import DIMENSION as CAUSAL_DIMENSION
from scripts.train.record import record

BATCH = 512
RATE = 3e-4
TEMPERATURE = 0.05
EPOCHS = 60
PATIENCE = 5


class Pair(msgspec.Struct):
    """One line of the training data."""

    cause: str
    effect: str
    asked: str
    wrong: str


def main() -> None:
    """Read the arguments, train, and record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", type=Path)
    parser.add_argument("--data", required=True, help="what the pairs are, for the provenance")
    parser.add_argument("--licence", required=True)
    parser.add_argument("--seed", type=int, default=13)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()

    raw = options.pairs.read_bytes()
    pairs = msgspec.json.decode(b"[" + b",".join(raw.splitlines()) + b"]", type=list[Pair])
    backbone = Backbone.load(threads=options.threads, dtype="float32")
    rotation = weights.load("semantic.safetensors")["rotation"].astype(np.float32)
    causes, effects, wrongs = (
        torch.from_numpy(_e1(backbone, texts) @ rotation)
        for texts in ([p.cause for p in pairs], [p.effect for p in pairs], [p.wrong for p in pairs])
    )
    effect_asked = torch.tensor([pair.asked == "effect" for pair in pairs])
    heads, figures = train(causes, effects, wrongs, effect_asked, options.seed)
    record(
        "causal.safetensors",
        heads,
        script="scripts/train/causal.py",
        arguments={"seed": options.seed, "batch": BATCH, "rate": RATE, "temperature": TEMPERATURE},
        data={options.data: options.licence},
        inputs={
            "pairs": hashlib.sha256(raw).hexdigest(),
            "all-MiniLM-L6-v2 model.safetensors": MODEL_SHA256,
            "semantic.safetensors": weights.recorded_sha256("semantic.safetensors"),
        },
        figures={"pairs": len(pairs), **figures},
    )


def train(causes: Tensor, effects: Tensor, wrongs: Tensor, effect_asked: Tensor, seed: int) -> tuple[Any, Any]:
    """Return the heads of the epoch that does best on the held-out tenth, and what they reach there.

    The texts are given as rotated E1, shape (pairs, 384) each; `effect_asked` says what each wrong answer answers.
    """
    torch.manual_seed(seed)
    isometry = torch.linalg.qr(torch.randn(CAUSAL_DIMENSION, DIMENSION)).Q.T
    cause, effect = (torch.nn.Parameter(isometry.clone()) for _ in range(2))
    scale = torch.nn.Parameter(torch.tensor(1 / TEMPERATURE).log())
    optimiser = torch.optim.AdamW([cause, effect, scale], lr=RATE, weight_decay=0)
    held_out, rest = torch.randperm(len(causes)).split([len(causes) // 10, len(causes) - len(causes) // 10])
    best = untrained = _recall(causes[held_out], effects[held_out], cause, effect)
    chosen, chosen_epoch = (cause.detach().clone(), effect.detach().clone()), 0
    for epoch in range(1, EPOCHS + 1):
        for batch in rest[torch.randperm(len(rest))].split(BATCH):
            as_cause, as_effect = _head(causes[batch], cause), _head(effects[batch], effect)
            asked = effect_asked[batch]
            wrong_effects = _head(wrongs[batch][asked], effect)
            wrong_causes = _head(wrongs[batch][~asked], cause)
            right = torch.arange(len(batch))
            forwards = scale.exp() * as_cause @ torch.cat([as_effect, wrong_effects]).T
            backwards = scale.exp() * as_effect @ torch.cat([as_cause, wrong_causes]).T
            loss = F.cross_entropy(forwards, right) + F.cross_entropy(backwards, right)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        reached = _recall(causes[held_out], effects[held_out], cause, effect)
        print(f"epoch {epoch}: held-out Recall@10 {reached:.4f}")
        if reached > best:
            best, chosen, chosen_epoch = reached, (cause.detach().clone(), effect.detach().clone()), epoch
        elif epoch - chosen_epoch >= PATIENCE:
            break
    heads = {name: head.numpy().astype(np.float16) for name, head in zip(("cause", "effect"), chosen, strict=True)}
    return heads, {
        "held-out pairs": len(held_out),
        "held-out Recall@10 of E1": round(untrained, 4),
        "held-out Recall@10 of E5": round(best, 4),
        "epochs": chosen_epoch,
    }


def _head(e1: Tensor, head: Tensor) -> Tensor:
    return F.normalize(e1 @ head, dim=-1)


@torch.no_grad()
def _recall(causes: Tensor, effects: Tensor, cause: Tensor, effect: Tensor) -> float:
    """Return how often the right partner is among the first ten of all held-out ones, mean of both directions."""
    scores = _head(causes, cause) @ _head(effects, effect).T
    right = torch.arange(len(causes))[:, None]
    hits = [(each.topk(10).indices == right).any(dim=1).float().mean() for each in (scores, scores.T)]
    return float(sum(hits) / len(hits))


def _e1(backbone: Backbone, texts: list[str]) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Return the unrotated E1 of short texts, shape (texts, 384)."""
    rows = [backbone.tokenize(text).ids for text in texts]
    batches = (rows[start : start + 64] for start in range(0, len(rows), 64))
    return np.stack([pool(states) for batch in batches for states in backbone.forward(batch)])


if __name__ == "__main__":
    main()
