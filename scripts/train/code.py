"""Train E7's head: map functions near the sentences that describe them.

    python -m scripts.train.code

Trains on the functions of installed packages and the first sentences of their docstrings, most of them rewritten as
search queries (`functions.as_query`). The sentences keep their E1 vectors, so that questions and plain memories are
encoded as before. The head is initialised as the mean of its two inputs, and trained by InfoNCE in both directions.

Whole packages are held out for evaluation: each sentence is searched among all of their functions. Then the head is
trained on all packages. Writes `code.safetensors`. Seeded; twelve minutes on two shared cores, nearly all of them for
the model.
"""

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
import typer
from torch import Tensor
from torch.nn import functional as F
from torch.utils.data import TensorDataset

from actors.embedder import weights
from actors.embedder.models.backbone import DIMENSION, MODEL_SHA256, Backbone, pool
from actors.text.code import code_words
from scripts.train.functions import LICENCES, Function, as_query, functions
from scripts.train.record import record, states_of

BATCH = 512
RATE = 1e-3
TEMPERATURE = 0.05
EPOCHS = 4
SEARCHED = 0.7
"""Share of sentences that are rewritten as queries."""
LONGEST = 128
"""Maximum pieces of a function."""
HELD_OUT = {"sklearn", "networkx", "huggingface_hub", "duckdb", "narwhals"}
RECALLED = 10


def main(seed: int = 13, threads: int = 1) -> None:
    """Measure, train, and record."""
    found, sha256 = functions(seed)
    examples = embedded(Backbone.load(threads=threads), found, seed)
    held_out = torch.tensor([each.package in HELD_OUT for each in found])
    rest, others = (TensorDataset(*examples[some]) for some in (~held_out, held_out))
    figures = {"functions": len(found), **measure(rest, others, seed)}
    record(
        "code.safetensors",
        {"head": train(examples, seed).numpy().astype(np.float16)},
        script="scripts/train/code.py",
        arguments={"seed": seed, "batch": BATCH, "rate": RATE, "temperature": TEMPERATURE}
        | {"epochs": EPOCHS, "searched": SEARCHED, "pieces": LONGEST},
        data={f"functions of {package}": licence for package, licence in LICENCES.items()},
        inputs={
            "functions": sha256,
            "all-MiniLM-L6-v2 model.safetensors": MODEL_SHA256,
            "semantic.safetensors": weights.recorded_sha256("semantic.safetensors"),
        },
        figures=figures,
    )


def measure(rest: TensorDataset, held_out: TensorDataset, seed: int) -> dict[str, Any]:
    """Return the held-out Recall@10 of E1's cosine to either input, of their mean, and of the head."""
    nothing = torch.zeros(DIMENSION, DIMENSION)
    return {
        "held-out packages": ", ".join(sorted(HELD_OUT)),
        "held-out functions": len(held_out),
        "held-out Recall@10 of the words": recall(held_out, torch.cat([torch.eye(DIMENSION), nothing])),
        "held-out Recall@10 of the code as written": recall(held_out, torch.cat([nothing, torch.eye(DIMENSION)])),
        "held-out Recall@10 of both": recall(held_out, mean()),
        "held-out Recall@10 of E7's head": recall(held_out, train(rest, seed)),
    }


def mean() -> Tensor:
    """Return the head that averages both inputs, shape (768, 384)."""
    return torch.eye(DIMENSION).repeat(2, 1) / 2


def train(examples: TensorDataset, seed: int) -> Tensor:
    """Return the head, shape (768, 384)."""
    torch.manual_seed(seed)
    head = torch.nn.Parameter(mean())
    scale = torch.nn.Parameter(torch.tensor(1 / TEMPERATURE).log())
    optimiser = torch.optim.AdamW([head, scale], lr=RATE, weight_decay=0)
    steps = EPOCHS * -(-len(examples) // BATCH)
    schedule = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 0.0, steps)
    for epoch in range(1, EPOCHS + 1):
        losses: list[float] = []
        for some in torch.randperm(len(examples)).split(BATCH):
            said, read = examples[some]
            scores = scale.exp() * said @ F.normalize(read @ head, dim=1).T
            right = torch.arange(len(said))
            loss = F.cross_entropy(scores, right) + F.cross_entropy(scores.T, right)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
            losses.append(loss.item())
        print(f"epoch {epoch} of {len(examples)} functions: loss {np.mean(losses):.4f}")
    return head.detach()


@torch.no_grad()
def recall(examples: TensorDataset, head: Tensor) -> float:
    """Return the share of functions among the first ten results for their sentence."""
    said, read = examples.tensors
    scores = said @ F.normalize(read @ head, dim=1).T
    better = (scores > scores.diagonal()[:, None]).sum(dim=1)
    return round(float((better < RECALLED).float().mean()), 4)


def embedded(backbone: Backbone, found: Sequence[Function], seed: int) -> TensorDataset:
    """Return E1 of each description, shape (functions, 384), and of its function's words and code, (functions, 768)."""
    rng = random.Random(seed)
    said = [as_query(each.said, rng) if rng.random() < SEARCHED else each.said for each in found]
    readings = [_e1(backbone, [code_words(each.code) for each in found]), _e1(backbone, [each.code for each in found])]
    return TensorDataset(_e1(backbone, said), torch.cat(readings, dim=1))


def _e1(backbone: Backbone, texts: Sequence[str]) -> Tensor:
    """Return E1 of the first pieces of texts, shape (texts, 384), in batches of similar length."""
    rotation = weights.load("semantic.safetensors")["rotation"]
    rows = [backbone.tokenize(text).ids[:LONGEST] for text in texts]
    found = np.zeros((len(rows), DIMENSION), dtype=np.float32)
    for place, states in states_of(backbone, rows):
        found[place] = pool([states])[0]
    return F.normalize(torch.from_numpy(found @ rotation), dim=1)


if __name__ == "__main__":
    typer.run(main)
