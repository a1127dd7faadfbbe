"""Tiny data sets for the benchmarks."""

import json
from pathlib import Path
from typing import Any

from benchmarks.datasets import Dataset, Document

from tests.benchmarks.texts import BEES

BREAD = ("The dough rests overnight in the cold.", "Rye flour needs a sour starter.", "Bake the loaf on a hot stone.")
NAMES = "Ana Bo Cleo Dan Eva Finn Gus Hana Ivo Jun Kai Lea Max Nora Otto Pia Ruth Sam Tess Uma".split()
VERBS = "planted painted mended carried measured sketched polished borrowed counted wrapped".split()


def stream() -> Dataset:
    """Talk about bees, whose first half is the topic, in one namespace, and some about bread in another."""

    def turns(namespace: str, texts: tuple[str, ...]) -> list[Document]:
        return [
            Document(
                id=f"{namespace}/{order}",
                text=text,
                metadata={
                    "namespace": namespace,
                    "session": "s",
                    "order": order,
                    "created_at": f"2026-05-{order + 1:02}T10:00:00",
                },
            )
            for order, text in enumerate(texts)
        ]

    documents = turns("bees", (*BEES, *(f"Later on: {text}" for text in BEES))) + turns("bread", BREAD)
    query = Document(
        id="q", text="How much honey did the bees give?", metadata={"namespace": "bees", "category": "talk"}
    )
    return Dataset("stream", documents, [query], {"q": {"bees/8": 1.0}})


def talk(count: int) -> Dataset:
    """Sessions of ten turns, each with a name, a number and an auxiliary, and a query for each turn."""
    documents = [
        Document(
            id=str(number),
            text=f"{NAMES[number % 20]}: I don't like it, but we {VERBS[number // 20 % 10]} "
            f"{number} huge boxes because the children could use them well.",
            metadata={"session": str(number // 10), "order": number % 10},
        )
        for number in range(count)
    ]
    queries = [Document(id=f"q{number}", text=f"What about {number}?") for number in range(count)]
    return Dataset("talk", documents, queries, {f"q{number}": {str(number): 1.0} for number in range(count)})


def write(folder: Path, dataset: Dataset) -> Path:
    """Write a data set in the BEIR layout."""

    def lines(documents: list[Document]) -> str:
        rows: list[dict[str, Any]] = [{"_id": one.id, "text": one.text, "metadata": one.metadata} for one in documents]
        return "".join(json.dumps(row) + "\n" for row in rows)

    (folder / "qrels").mkdir(parents=True)
    (folder / "corpus.jsonl").write_text(lines(dataset.documents))
    (folder / "queries.jsonl").write_text(lines(dataset.queries))
    judged = [f"{query}\t{name}\t1\n" for query, relevant in dataset.judgements.items() for name in relevant]
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n" + "".join(judged))
    return folder
