"""`scripts/bench causes`: chains with connectives, pairs without, and questions in other words."""

import random
import re
from collections.abc import Callable, Collection, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated, NamedTuple

import anyio
import msgspec
from rich.progress import Progress
from typer import Argument, BadParameter, Option

from actors.linker.messages import LinkCauses
from actors.runtime.ask import ask
from benchmarks.datasets import Dataset, Document, means, measures, read_dataset
from benchmarks.report import JsonOption, Verdict, counter, publish, workplace
from benchmarks.store import Store, open_store
from events.vocabulary import CausesLinked
from events.vocabulary.causes import CausalLink

SEED = 7
BESIDE, PAIRS = 500, 200
"""Sentences beside the chains, half of those beside the pairs; and pairs."""
CHAINS: list[list[str]] = msgspec.json.decode(Path(__file__).with_name("chains.json").read_bytes())
"""Five sentences each, of which each states the cause of the next, or its own cause in the one before."""

LENGTH = range(40, 161)
"""Characters of a sentence of ordinary text."""
SHOWN = 12
"""Wrong edges that are shown, for a second reading."""


class Filled(NamedTuple):
    """A store with sentences, and the edges found in it."""

    ids: dict[str, str]
    """Of each sentence."""
    links: list[CausalLink]

    @property
    def edges(self) -> set[tuple[str, str]]:
        """Causes and effects of the links."""
        return {(str(link.source), str(link.target)) for link in self.links}


def sentences(datasets: Sequence[Dataset], count: int, seed: int) -> list[str]:
    """Return distinct sentences of the documents, as many of each set.

    Raises:
        BadParameter: a set has too few.
    """
    rng = random.Random(seed)
    found: list[str] = []
    for dataset in datasets:
        texts = [
            document.text.partition(": ")[2] if "speaker" in document.metadata else document.text
            for document in dataset.documents
        ]
        parts = {part.strip() for text in texts for part in re.split(r"(?<=[.!?])\s+", text)}
        able = sorted(part for part in parts if len(part) in LENGTH)
        if len(able) < (share := count // len(datasets)):
            raise BadParameter(f"{dataset.name} lends {len(able)} sentences, fewer than the {share} that are needed")
        found += rng.sample(able, share)
    return found


async def fill(store: Store, texts: Sequence[str], bar: Progress) -> Filled:
    """Store sentences and examine them all for causes."""
    ids = {text: await store.store(content=text) for text in bar.track(texts, description="storing")}
    if store.hub.linker is None:
        raise TypeError("a store of the present has a linker")
    await ask(store.hub.linker, LinkCauses(limit=len(texts)))
    events = (envelope.event for envelope in store.hub.log.read())
    return Filled(ids, [link for event in events if isinstance(event, CausesLinked) for link in event.links])


async def judge_chains(folder: Path, others: Sequence[str], bar: Progress) -> list[Verdict]:
    """Look for the whole path of each chain, and for edges that are none of theirs."""
    texts = [*others, *(text for chain in CHAINS for text in chain)]
    random.Random(1).shuffle(texts)
    async with open_store(folder) as store:
        filled = await fill(store, texts, bar)
        whole = 0
        for chain in CHAINS:
            ids = [filled.ids[text] for text in chain]
            answer = await store.call("find_causal_path", start_concept=ids[0], end_concept=ids[-1], path_type="causal")
            whole += [node["node_id"] for node in answer.get("path", ())] == ids
    right = {(filled.ids[a], filled.ids[b]): f"{a} → {b}" for chain in CHAINS for a, b in pairwise(chain)}
    missing = [shown for edge, shown in right.items() if edge not in filled.edges]
    wrong = shown_wrong(filled, right)
    paths = {"whole": whole, "edges missing": missing}
    found = {"edges": len(filled.links), "wrong": len(wrong), "which": wrong[:SHOWN]}
    return [
        Verdict(f"of {len(CHAINS)} chains at least nine are found whole", paths, whole >= len(CHAINS) - 1),
        Verdict(f"at most 2 wrong edges in {len(others)} other sentences", found, len(wrong) <= 2),
    ]


async def judge_pairs(
    folder: Path, pairs: Sequence[tuple[str, str]], others: Sequence[str], bar: Progress
) -> list[Verdict]:
    """Look for edges between statements without connectives."""
    texts = list(dict.fromkeys([*others, *(text for pair in pairs for text in pair)]))
    random.Random(2).shuffle(texts)
    async with open_store(folder) as store:
        filled = await fill(store, texts, bar)
    right = {(filled.ids[cause], filled.ids[effect]) for cause, effect in pairs}
    found = filled.edges
    hits = len(right & found)
    wrong = shown_wrong(filled, right)
    figures = {
        "pairs": len(pairs),
        "others": len(others),
        "edges": len(found),
        "recall": hits / len(pairs),
        "precision": hits / max(len(found), 1),
        "wrong": wrong[:SHOWN],
    }
    return [Verdict("four of five edges between plain statements are right", figures, hits >= 0.8 * len(found) > 0)]


def shown_wrong(filled: Filled, right: Collection[tuple[str, str]]) -> list[str]:
    """Return the edges that are not among the right ones, in words."""
    texts = {memory: text for text, memory in filled.ids.items()}
    return [
        f"{texts[str(link.source)]} →[{link.rule} {link.weight:.2f}] {texts[str(link.target)]}"
        for link in filled.links
        if (str(link.source), str(link.target)) not in right
    ]


LOSS = 0.03
"""Recall@10 that another wording may lose against the set phrase."""
AUXILIARY = re.compile(r"\b(?:is|are|was|were|has|have|had|can|could|will|would|must|should)\b")


def why(event: str) -> str:
    """Return a why question, with the auxiliary before the subject if there is one."""
    auxiliary = AUXILIARY.search(event)
    if auxiliary is None:
        return f"Why did {lower(event)}?"
    return f"Why {auxiliary[0]} {lower(event[: auxiliary.start()].rstrip())}{event[auxiliary.end() :]}?"


def lower(text: str) -> str:
    """Return a text with a small first letter."""
    return text[:1].lower() + text[1:]


WORDINGS: dict[str, dict[str, Callable[[str], str]]] = {
    "cause": {
        "Why …?": why,
        "What made …?": lambda event: f"What made {lower(event)}?",
        "… What was the cause?": lambda event: f"{event}. What was the cause?",
    },
    "effect": {
        "What happens if …?": lambda event: f"What happens if {lower(event)}?",
        "… What happened next?": lambda event: f"{event}. What happened next?",
    },
}
"""How people ask for the cause or the effect of an event, beside the set phrase of the data."""


async def judge_questions(folder: Path, dataset: Dataset, limit: int, bar: Progress) -> list[Verdict]:
    """Compare Recall@10 of the wordings of the same questions."""
    verdicts = []
    async with open_store(folder) as store:
        storing = counter(bar, "storing", len(dataset.documents))
        documents = await store.store_documents(dataset.documents, storing)

        async def recall(queries: Sequence[Document], ask: Callable[[Document], str]) -> float:
            found = [(await store.find(documents, query=ask(one)), dataset.judgements[one.id]) for one in queries]
            return means([measures(*one) for one in found])["recall@10"]

        for category, wordings in WORDINGS.items():
            asked = [one for one in dataset.answerable() if one.metadata.get("category") == category][:limit]
            if not asked:
                continue
            recalls = {"set phrase": await recall(asked, lambda query: query.text)}
            for name, wording in wordings.items():
                recalls[name] = await recall(
                    asked, lambda query, wording=wording: wording(str(query.metadata["premise"]).rstrip(".! "))
                )
            what = f"questions for a {category} lose at most {LOSS} of Recall@10 in other words"
            holds = recalls["set phrase"] - min(recalls.values()) <= LOSS
            verdicts.append(Verdict(what, {"questions": len(asked), **recalls}, holds))
    return verdicts


def causal_pairs(dataset: Dataset) -> list[tuple[str, str]]:
    """Return cause and effect of each question for one of them, from its premise and its first answer.

    Raises:
        BadParameter: no question has a premise.
    """
    texts = {document.id: document.text for document in dataset.documents}
    pairs: list[tuple[str, str]] = []
    for query in dataset.answerable():
        if "premise" in query.metadata:
            premise, answer = str(query.metadata["premise"]), texts[next(iter(dataset.judgements[query.id]))]
            pairs.append((premise, answer) if query.metadata.get("category") == "effect" else (answer, premise))
    if not pairs:
        raise BadParameter(f"{dataset.name} has no questions with a premise")
    return list(dict.fromkeys(pairs))


async def measure(
    folder: Path, pairs: Dataset, others: Sequence[Dataset], questions: int, bar: Progress
) -> dict[str, list[Verdict]]:
    """Return the verdicts by heading.

    Args:
        folder: For the stores.
        pairs: Questions for causes and effects.
        others: Where ordinary sentences come from.
        questions: How many of each kind are asked.
        bar: Shows progress.
    """
    chosen = causal_pairs(pairs)
    random.Random(SEED).shuffle(chosen)
    return {
        "chains": await judge_chains(folder / "chains", sentences(others, BESIDE, SEED), bar),
        "pairs": await judge_pairs(folder / "pairs", chosen[:PAIRS], sentences(others, 2 * BESIDE, SEED + 1), bar),
        "questions": await judge_questions(folder / "questions", pairs, questions, bar) if questions else [],
    }


def causes(
    pairs: Annotated[
        Path, Argument(exists=True, file_okay=False, help="Causal questions whose metadata has a premise.")
    ],
    others: Annotated[list[Path], Argument(exists=True, file_okay=False, help="Sets that lend ordinary sentences.")],
    questions: Annotated[int, Option(min=0, help="Questions for causes, and for effects; 0 for none.")] = 300,
    *,
    as_json: JsonOption = False,
) -> None:
    """Judge causal paths of sentences with connectives, edges of pairs without, and questions in other words."""
    sets = [read_dataset(folder) for folder in others]
    with workplace() as (scratch, bar):
        sections = anyio.run(measure, scratch, read_dataset(pairs), sets, questions, bar)
    publish(sections, f"{len(CHAINS)} chains, {PAIRS} pairs", as_json=as_json)
