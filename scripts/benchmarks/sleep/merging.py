"""`scripts/bench merging`: which re-worded duplicates a deep run merges, and that it merges nothing else."""

import random
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from uuid import UUID

import anyio
import numpy as np
from rich.progress import Progress
from typer import BadParameter

from actors.comparator.messages import ScorePairs
from actors.text.entities import find_entities
from benchmarks import SEED
from benchmarks.datasets import PairsFile, read_graded_pairs
from benchmarks.report import JsonOption, Verdict, counter, publish, workplace
from benchmarks.store import Store, open_store
from events.spaces import INDEX
from projections.spaces.lexical import STOP_WORDS

SAME, DIFFERENT = 5.0, 3.0
"""Grade of pairs that people call the same, and grade up to which they differ in a fact."""
PARAPHRASES, DIFFERING, MISSES = 200, 300, 300
"""Pairs of the highest grade, pairs of a low one, and near misses that are made."""
LEVELS = (0.80, 0.85, 0.90, 0.95, 0.97, 0.99)
AGREEING = [INDEX[key] for key in ("e1_semantic", "e12_late_interaction")]
AUXILIARIES = re.compile(r"\b(is|are|was|were|will|would|can|could|should|has|have|had)\b(?! not)")

Texts = tuple[str, str]


def bare(text: str) -> str:
    """Return the words of a text, by which copies are told from paraphrases."""
    return " ".join(re.findall(r"\w+", text.casefold()))


def near_misses(texts: list[str], count: int, rng: random.Random) -> dict[str, list[Texts]]:
    """Return pairs of texts that differ in one content word, number, name or negation: a quarter of each.

    A word is replaced by one of the same ending and length class that stands in another text.

    Raises:
        BadParameter: there are too few texts.
    """
    words = Counter(word for text in texts for word in re.findall(r"\b[a-z]{4,}\b", text) if word not in STOP_WORDS)
    names = sorted({name.capitalize() for text in texts for name in find_entities(text) if name.isalpha()})

    def content_word(text: str) -> str | None:
        found = [word for word in re.finditer(r"\b[a-z]{4,}\b", text) if word[0] in words]
        if not found:
            return None
        old = rng.choice(found)
        others = sorted(word for word in words if word[-2:] == old[0][-2:] and word[:3] != old[0][:3])
        return text[: old.start()] + rng.choice(others) + text[old.end() :] if others else None

    def number(text: str) -> str | None:
        found = [*re.finditer(r"(?<![\w.,])\d+(?![\w.,])", text)]
        old = rng.choice(found) if found else None
        return text[: old.start()] + str(int(old[0]) + rng.randint(1, 9)) + text[old.end() :] if old else None

    def name(text: str) -> str | None:
        found = [name for name in names if re.search(rf"\b{name}\b", text)]
        return re.sub(rf"\b{rng.choice(found)}\b", rng.choice(names), text, count=1) if found else None

    def negation(text: str) -> str | None:
        return AUXILIARIES.sub(r"\1 not", text, count=1) if AUXILIARIES.search(text) else None

    ways: dict[str, Callable[[str], str | None]] = {
        "content word": content_word,
        "number": number,
        "name": name,
        "negation": negation,
    }
    made: dict[str, list[Texts]] = {}
    for kind, way in ways.items():
        pairs = []
        for text in rng.sample(texts, len(texts)):
            if len(pairs) < count // len(ways) and (other := way(text)) is not None and bare(other) != bare(text):
                pairs.append((text, other))
        if len(pairs) < count // len(ways):
            raise BadParameter(f"only {len(pairs)} texts can be changed in a {kind}")
        made[kind] = pairs
    return made


async def measure(folder: Path, groups: dict[str, list[Texts]], bar: Progress) -> dict[str, list[Verdict]]:
    """Store all pairs, each group in its own namespace, run light and deep, and score every pair."""
    ids: dict[str, dict[str, str]] = {}
    async with open_store(folder) as store:
        for kind, pairs in groups.items():
            texts = dict.fromkeys(text for pair in pairs for text in pair)
            storing = counter(bar, f"storing {kind}", len(texts))
            ids[kind] = await store.store_texts(texts, storing, namespace=kind.replace(" ", "-"))
        merged = {mode: await _merged(store, mode) for mode in ("light", "deep")}
        scores = {
            kind: [
                (await store.ask(store.hub.comparator, ScorePairs(references=(one,), targets=(other,))))[0, 0]
                for one, other in ([UUID(ids[kind][text]) for text in pair] for pair in pairs)
            ]
            for kind, pairs in groups.items()
        }
    return {
        "merging": [_judge(kind, pairs, merged, ids[kind]) for kind, pairs in groups.items()],
        "by embeddings alone": [
            Verdict(
                f"pairs above {level:.2f} in E1 and in E12",
                {
                    kind: f"{sum(float(np.min(row[AGREEING])) > level for row in rows)} of {len(rows)}"
                    for kind, rows in scores.items()
                },
            )
            for level in LEVELS
        ],
    }


async def _merged(store: Store, mode: str) -> list[set[str]]:
    answer = await store.call("consolidate_memories", mode=mode, dry_run=True)
    if answer["merges_not_shown"]:
        run = await store.call("consolidate_memories", mode=mode)
        (listed,) = (await store.call("list_consolidations", run_id=run["run_id"]))["runs"]
        answer = listed
        await store.call("undo_consolidation", run_id=run["run_id"])
    return [{merge["survivor"], *(one["id"] for one in merge["absorbed"])} for merge in answer["merges"]]


def _judge(kind: str, pairs: list[Texts], merged: dict[str, list[set[str]]], ids: dict[str, str]) -> Verdict:
    joined = {
        mode: [pair for pair in pairs if any({ids[text] for text in pair} <= found for found in sets)]
        for mode, sets in merged.items()
    }
    counts = {mode: f"{len(some)} of {len(pairs)}" for mode, some in joined.items()}
    if kind == "paraphrases":
        share = len(joined["deep"]) / len(pairs)
        return Verdict(f"{kind}: how many are merged", {**counts, "share": share})
    examples = [" ≈ ".join(pair) for pair in joined["deep"][:5]]
    return Verdict(f"{kind}: none is merged", {**counts, "such as": examples}, not any(joined.values()))


def merging(pairs: PairsFile, *, as_json: JsonOption = False) -> None:
    """Store paraphrases, near misses and different texts, and judge what light and deep merge."""
    rng = random.Random(SEED)
    lines = read_graded_pairs(pairs)
    unlike = {frozenset(map(bare, (one.text_a, one.text_b))): one for one in lines}
    unlike = {words: one for words, one in unlike.items() if len(words) == 2}

    def some(count: int, wanted: Callable[[float], bool]) -> list[Texts]:
        able = [(one.text_a.strip(), one.text_b.strip()) for one in unlike.values() if wanted(one.score)]
        return rng.sample(able, min(count, len(able)))

    texts = sorted({text.strip() for one in lines for text in (one.text_a, one.text_b) if 30 < len(text) < 300})
    groups = {
        "paraphrases": some(PARAPHRASES, lambda score: score >= SAME),
        "graded different": some(DIFFERING, lambda score: score <= DIFFERENT),
        **near_misses(texts, MISSES, rng),
    }
    with workplace() as (scratch, bar):
        sections = anyio.run(measure, scratch, groups, bar)
    publish(sections, as_json=as_json, pairs={kind: len(some) for kind, some in groups.items()})
