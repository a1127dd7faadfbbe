"""Fit the calibration of each space to a scale that all spaces share, on pairs that people have graded.

    python -m scripts.train.calibration pairs.jsonl --data "SemEval STS 2012-2014" --licence "research use"

Each line of the pairs has `text_a`, `text_b`, `set` (its source) and `score`, a mean grade on the scale of SemEval's
semantic textual similarity (Agirre et al. 2012): 0 different topics, 1 not equivalent but on the same topic, 2 sharing
some details, 3 roughly equivalent, 4 and 5 equivalent. All texts are embedded as memories without a session, stored at
one moment, and compared as the product compares two memories. Two levels are fitted in each space:

- Unrelated maps to 0. It is the 90th percentile of random pairings of all texts, so that unrelated texts score 0. With
  the mean instead, half of them would score more, in E11, whose scores are noisy, a tenth of them more than .37. Pairs
  of grade 0 would set it too high: they were selected for shared words, which pairs of a store are not.
- Half maps to .5. It is where people call half of the pairs related. Related means a grade of at least 1, the only
  border on that scale that is about relatedness; higher grades tell degrees of equivalence. The share of related pairs
  rises with the score; isotonic regression estimates it without further assumptions. Its half point depends on the
  share of unrelated pairs, and neither that of a benchmark (one in ten) nor that of a store (nearly all) is right, so
  related and unrelated pairs get equal weight. Half of the unrelated weight is on graded pairs, which look alike, half
  on random pairings, which dominate a store.

The three temporal spaces keep their raw scores: nobody graded times, and the inner product of two random moments, or of
two random positions of a long session, is 0 on average by construction. E8 holds E1 of other memories, and takes the
curve of E1; it has nothing to say of these pairs, and no weight.

The weight of each space in comparisons (`Strategy.GRADED`) is fitted to the grades (`grading`).

The pair SYNTH-001, SYNTH-002 is no part of the fit, which refuses data that contain it; it is the check at the end.
Writes `calibration.json` and `calibration.txt`. Seeded; about two minutes on one core. Needs SciPy, a development
dependency.
"""

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeVar
from uuid import UUID

import msgspec
import numpy as np
import numpy.typing as npt
import typer
from scipy.optimize import isotonic_regression

from actors.comparator.compare.calibration import FILE, Calibration, Curve, Fit
from actors.embedder.actor import plan_memory
from actors.embedder.jobs import EmbeddingJob, Plan, advance
from actors.embedder.messages import Content, EmbedMemory
from actors.embedder.profiles.embedded import EmbeddedProfile
from actors.embedder.spaces import temporal
from actors.runtime.metrics import Latencies
from events.fingerprint import Fingerprint
from events.spaces import E2, E3, E4, E8, SEMANTIC, SPACES
from events.storage.log import Envelope
from events.vocabulary import MemoryStored, SpacesDeclared
from events.vocabulary.codec import compress
from events.vocabulary.values import WIDTH, JohariRow, Learning, Modality
from projections.atlas.atlas import Atlas
from projections.memories.sessions import Sessions
from projections.storage.arrays import Scores
from scripts.train.grading import PULLS, agreement, left_out, weigh
from scripts.train.record import Data, Licence, read_lines, today, write_json

T = TypeVar("T")
Float64 = npt.NDArray[np.float64]

RELATED = 1.0
"""Minimum grade of a related pair."""
UNRELATED = 0.9
"""Share of random pairings that maps to 0."""
JUDGED = 0.5
"""Share of graded pairs in the weight of unrelated pairs; random pairings have the rest."""
MOST = 5.0
"""The grade of two equivalent texts."""
FITTED = tuple(key for key in SEMANTIC if key != E8)
"""The spaces that have something to say of a text without a session."""
RANDOM_PAIRS = 20_000
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
SYNTH = ("The quick brown fox jumps over the lazy dog", "A fast auburn fox leaps above the sleepy hound")
"""The published pair SYNTH-001 and SYNTH-002."""


class Pair(msgspec.Struct):
    """One line of the data."""

    text_a: str
    text_b: str
    score: float
    set: str


class Sample(msgspec.Struct, frozen=True):
    """The raw scores of one space: graded pairs with their grades, random pairs, and the SYNTH pair."""

    graded: Scores
    grades: Float64
    random: Scores
    synth: Scores


def main(file: Path, data: Data, licence: Licence, seed: int = 13) -> None:
    """Measure, fit, check, and write."""
    pairs, sha256 = read_lines(file, Pair)
    rng = np.random.default_rng(seed)
    profile = EmbeddedProfile(Latencies())
    declared = SpacesDeclared(profile="embedded", spaces=profile.models)
    samples = measure(profile, declared, pairs, rng)
    samples[E8] = samples[SEMANTIC[0]]
    curves = {
        model.key: Curve(model.model, model.sha256, *levels(samples[model.key]))
        if model.key in samples
        else Curve(model.model, model.sha256, 0.0, 0.5)  # the identity
        for model in profile.models
    }
    provenance = {
        "script": "scripts/train/calibration.py",
        "arguments": {"seed": seed, "related": RELATED, "judged": JUDGED, "unrelated": UNRELATED},
        "data": {data: licence},
        "inputs": {"pairs": sha256},
        "figures": {
            "graded pairs": len(pairs),
            "related": sum(pair.score >= RELATED for pair in pairs),
            "random pairs": RANDOM_PAIRS,
            "mean of random moments or positions": chance(rng),
        },
        "unrelated": "raw score that nine in ten random pairings stay below",
        "half": "where isotonic regression finds half of the pairs related, related and unrelated weighing the same",
        "temporal spaces": "raw scores: two random moments, or positions below 100,000, meet at 0 on average",
        **today(),
    }
    weights, graded = weighed(samples, curves, [pair.set for pair in pairs])
    curves = {key: msgspec.structs.replace(curve, weight=weights.get(key, 0.0)) for key, curve in curves.items()}
    fit = Fit(provenance, curves)
    write_json(FILE, fit)
    report = "\n".join([*table(fit, samples, Calibration.of(declared)), "", *graded])
    print(report)
    FILE.with_suffix(".txt").write_text(report + "\n", "utf-8")


def measure(
    profile: EmbeddedProfile, declared: SpacesDeclared, pairs: Sequence[Pair], rng: np.random.Generator
) -> dict[str, Sample]:
    """Embed and compare all pairs in the fitted spaces.

    Raises:
        ValueError: the SYNTH pair is among the data.
    """
    rows = {
        text: row for row, text in enumerate(dict.fromkeys(t for pair in pairs for t in (pair.text_a, pair.text_b)))
    }
    if rows.keys() & set(SYNTH):
        raise ValueError("the pair of the check must not be among the data")
    atlas = Atlas.of(declared)
    for row, text in enumerate([*rows, *SYNTH]):
        atlas.apply(stored(row, text, embed(profile, text)))
    first = rng.integers(0, len(rows), RANDOM_PAIRS)
    second = (first + rng.integers(1, len(rows), RANDOM_PAIRS)) % len(rows)  # never a text with itself
    ends = np.array([(rows[pair.text_a], rows[pair.text_b]) for pair in pairs])
    ends = np.concatenate([ends, np.stack([first, second], axis=1), [[len(rows), len(rows) + 1]]])
    grades = np.array([pair.score for pair in pairs])
    samples = {}
    for key in FITTED:
        scores = np.concatenate(
            [atlas.symmetric_scores(key, atlas.embedding(key, a), np.array([b])) for a, b in ends.tolist()]
        )
        samples[key] = Sample(scores[: len(pairs)], grades, scores[len(pairs) : -1], scores[-1:])
    return samples


def run_plan(plan: Plan[T], profile: EmbeddedProfile) -> T:
    """Run a plan in passes of all its rows, and return its result; any exception is raised as a `Fault`."""
    job = EmbeddingJob(plan)
    while not job.done:
        advance([(job, profile.forward(job.pending_rows))])
    job.resolve()
    return job.future.get()


def embed(profile: EmbeddedProfile, text: str) -> Fingerprint:
    """Return the embeddings of a memory without a session."""
    request = EmbedMemory(content=Content(text, Modality.TEXT, NOON), namespace="calibration")
    return run_plan(plan_memory(profile, request, Sessions()), profile).fingerprint


def stored(row: int, text: str, fingerprint: Fingerprint) -> Envelope:
    """Return a text as an event of the log; fields that do not affect similarity are 0."""
    none = (0.0,) * WIDTH
    memory = MemoryStored(
        content=compress(text),
        sha256=hashlib.sha256(text.encode()).digest(),
        created_at=NOON,
        fingerprint=fingerprint,
        namespace="calibration",
        purpose=none,
        johari=(JohariRow((0.25, 0.25, 0.25, 0.25), 0.0),) * WIDTH,
        learning=Learning(0.0, 0.0, 0.0, 1.0, 0.0, 0.0, none, none),
    )
    number = UUID(int=row)
    return Envelope(seq=row + 1, id=number, at=NOON, actor="calibration", correlation_id=number, event=memory)


def levels(sample: Sample) -> tuple[float, float]:
    """Return the raw scores of one space that map to 0 and to .5."""
    yes = sample.grades >= RELATED
    weights = np.concatenate(
        [
            np.where(yes, 1 / yes.sum(), JUDGED / (~yes).sum()),
            np.full(len(sample.random), (1 - JUDGED) / len(sample.random)),
        ]
    )
    yes = np.concatenate([yes, np.zeros(len(sample.random), np.bool_)])
    half = half_point(np.concatenate([sample.graded, sample.random]), yes, weights)
    return round(float(np.quantile(sample.random, UNRELATED)), 4), round(half, 4)


def half_point(scores: Scores, yes: npt.NDArray[np.bool_], weights: Float64) -> float:
    """Return the score at which the rising weighted share of `yes` passes one half; all of shape (pairs,).

    Raises:
        ValueError: the share is never below one half, or never reaches it.
    """
    counted = weights > 0
    values, place = np.unique(scores[counted], return_inverse=True)
    weight = np.bincount(place, weights[counted])
    share = np.bincount(place, weights[counted] * yes[counted]) / weight
    reached = int(np.searchsorted(isotonic_regression(share, weights=weight).x, 0.5))
    if not 0 < reached < len(values):
        raise ValueError("the share of related pairs doesn't pass one half")
    return float(values[reached - 1 : reached + 1].mean())


def chance(rng: np.random.Generator) -> dict[str, float]:
    """Return the mean inner products of two random moments within five years, and of two positions below 100,000."""
    moments = [NOON + timedelta(days=day) for day in rng.uniform(0, 5 * 365.25, 2_000)]
    vectors = {
        E2: list(temporal.recency(moments)),
        E3: list(temporal.periodicity(moments)),
        E4: [temporal.order(position) for position in rng.integers(0, 100_000, 2_000).tolist()],
    }
    count = len(moments)
    return {
        key: round((float(np.square(np.sum(each, axis=0)).sum()) - count) / (count * (count - 1)), 4)
        for key, each in vectors.items()
    }


def table(fit: Fit, samples: dict[str, Sample], calibration: Calibration) -> list[str]:
    """Return a line for each space with its levels and its rank correlation with the grades, then SYNTH."""
    lines = [f"{'space':24} {'model':50} unrelated  half exponent people  pairs   SYNTH raw calibrated"]
    synth = []
    for space in SPACES:
        curve, sample = fit.spaces[space.key], samples.get(space.key)
        raw = np.ones(1, np.float32) if sample is None else sample.synth  # both at one moment
        if space.key in {E8, E4}:
            raw = np.full(1, np.nan, np.float32)
        synth.append(float(calibration.apply(space.key, raw)[0]))
        people = (
            "     -      -"
            if sample is None
            else f"{agreement(sample.graded, sample.grades):6.3f} {len(sample.graded):6}"
        )
        lines.append(
            f"{space.key:24} {curve.model:50} {curve.unrelated:9.4f} {curve.half:.3f} {curve.exponent:8.3f} "
            f"{people}       {raw[0]:.3f}      {synth[-1]:.3f}"
        )
    return [*lines, f"SYNTH-001 and SYNTH-002 overall, mean of {WIDTH - 2}: {np.nanmean(synth):.3f}"]


def weighed(
    samples: dict[str, Sample], curves: dict[str, Curve], sets: Sequence[str]
) -> tuple[dict[str, float], list[str]]:
    """Return the weight of each fitted space, and a report; all agreements are Spearman's."""
    scores = np.stack([curves[key](samples[key].graded) for key in FITTED], axis=1).astype(np.float64)
    grades = samples[SEMANTIC[0]].grades / MOST
    others = {pull: agreement(left_out(scores, grades, sets, pull), grades) for pull in PULLS}
    best = max(others, key=others.__getitem__)
    weights = dict(zip(FITTED, weigh(scores, grades, best).round(4).tolist(), strict=True))
    means = scores.mean(axis=1)
    return weights, [
        f"Agreement with people: E1 {agreement(scores[:, 0], grades):.4f}, mean {agreement(means, grades):.4f}",
        "Weighed, by sets that were left out and by all, * the shipped one",
        *(
            f"{'*' if pull == best else ' '} pull {pull:<5}  {left:.4f}  {agreement(scores @ given, grades):.4f}  "
            + "  ".join(f"{key.partition('_')[0]} {weight:.3f}" for key, weight in zip(FITTED, given, strict=True))
            for pull, left in others.items()
            for given in [weigh(scores, grades, pull).round(4)]
        ),
    ]


if __name__ == "__main__":
    typer.run(main)
