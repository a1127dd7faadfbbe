"""`scripts/bench corrections`: stores statements and their corrections among others, and asks for present and past."""

from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Annotated, NamedTuple

import anyio
from rich.progress import Progress
from typer import Option

from benchmarks.datasets import DEPTH, DataFolder, Document, GradedPair, PairsFile, find_datasets, read_lines, sessions
from benchmarks.report import JsonOption, Verdict, publish, workplace
from benchmarks.store import Answer, Store, open_store

HERE = Path(__file__).parent
SAID, CORRECTED, ASKED = datetime(2025, 2, 1, tzinfo=UTC), datetime(2025, 7, 1, tzinfo=UTC), "2025-11-20"
OTHERS = 2_000
NEUTRAL = 500
SAME = 4.0
"""Grade from which on people call two sentences equivalent, so that neither corrects the other."""
BATCH = 50
SEED = 5


class Pair(NamedTuple):
    """A statement, its correction, a question for the present value and one for the past value."""

    statement: str
    correction: str
    present: str
    past: str


class PairSet(StrEnum):
    """The pairs that are stored."""

    DEVELOPMENT = "development"
    """Those that the rules were made with."""
    HELD_OUT = "held-out"
    NOTES = "notes"
    """Notes of several clauses, written by a language model that saw none of the rules."""


def _lines(name: str) -> list[list[str]]:
    return [line.split("\t") for line in (HERE / name).read_text("utf-8").splitlines()]


def read_pairs(chosen: PairSet) -> list[Pair]:
    """Return statements with their corrections."""
    if chosen is PairSet.NOTES:
        return [Pair(*fields) for fields in _lines("notes.tsv")]
    return [Pair(*fields) for fields in _lines("pairs.tsv")[chosen is PairSet.HELD_OUT :: 2]]


def read_neutral(documents: list[Document], graded: Path, chosen: PairSet) -> list[tuple[str, str]]:
    """Return pairs that contradict nothing: written ones, equivalent sentences, neighbouring turns of one speaker."""
    if chosen is PairSet.NOTES:
        return [(one, other) for one, other in _lines("notes_neutral.tsv")]
    held_out = chosen is PairSet.HELD_OUT
    pairs = [(one, other) for one, other in _lines("neutral.tsv")[held_out::2]]
    random = Random(SEED + held_out)
    alike = (one for one in read_lines(graded, GradedPair) if one.score >= SAME)
    same = [(one.text_a, one.text_b) for one in alike if one.text_a != one.text_b]
    turns: list[tuple[str, str]] = []
    for session in sessions(documents):
        before: dict[object, str] = {}
        for turn in session:
            speaker = turn.metadata.get("speaker")
            if speaker in before:
                turns.append((before[speaker], turn.text))
            before[speaker] = turn.text
    rest = NEUTRAL - len(pairs)
    for found, wanted in ((same, rest // 2), (turns, rest - rest // 2)):
        pairs += random.sample(found, min(wanted, len(found)))
    return pairs


async def _store(store: Store, texts: list[str], since: datetime, namespace: str, bar: Progress) -> list[Answer]:
    """Store texts an hour apart, and return what was answered of each."""
    items = [
        {"content": text, "namespace": namespace, "created_at": (since + timedelta(hours=hours)).isoformat()}
        for hours, text in enumerate(texts)
    ]
    answers: list[Answer] = []
    for start in bar.track(range(0, len(items), BATCH), description=f"{len(texts)} texts"):
        answers += (await store.call("memory_inject_batch", items=items[start : start + BATCH]))["results"]
    return answers


async def _correct(store: Store, texts: list[str], bar: Progress) -> list[Answer]:
    """Store corrections one by one, as an agent does, and return what was answered of each."""
    return [
        await store.call(
            "store_memory", content=text, namespace="pairs", created_at=(CORRECTED + timedelta(hours=hours)).isoformat()
        )
        for hours, text in enumerate(bar.track(texts, description="corrections"))
    ]


async def _ranks(store: Store, question: str, *memories: str) -> list[int]:
    """Return the rank of memories in the answer to a question, from 1; one below the last for those not found."""
    found = await store.call("search_graph", query=question, asked_at=ASKED, namespace="pairs", top_k=DEPTH)
    ids = [one["fingerprintId"] for one in found["results"]]
    return [ids.index(memory) + 1 if memory in ids else DEPTH + 1 for memory in memories]


async def measure(
    folder: Path, documents: list[Document], pairs: list[Pair], neutral: list[tuple[str, str]], bar: Progress
) -> dict[str, list[Verdict]]:
    """Store everything, ask everything, and return the verdicts."""
    others = [document.content for document in documents]
    async with open_store(folder) as store:
        await _store(store, others, SAID - timedelta(hours=len(others)), "pairs", bar)
        earlier = await _store(store, [pair.statement for pair in pairs], SAID, "pairs", bar)
        later = await _correct(store, [pair.correction for pair in pairs], bar)
        present: list[list[int]] = []
        past: list[list[int]] = []
        for pair, old, new in bar.track([*zip(pairs, earlier, later, strict=True)], description="questions"):
            memories = new["fingerprintId"], old["memory_id"]
            present.append(await _ranks(store, pair.present, *memories))
            past.append(await _ranks(store, pair.past, *memories))
        await _store(store, [one for one, _ in neutral], SAID, "neutral", bar)
        unmarked = await _store(store, [other for _, other in neutral], CORRECTED, "neutral", bar)
    marked = [
        (old["memory_id"], {one["id"] for one in new.get("may_supersede", ())})
        for old, new in zip(earlier, later, strict=True)
    ]
    found = fmean(old in ids for old, ids in marked)
    wrong = fmean(bool(ids - {old}) for old, ids in marked)
    shown = [{one["id"] for name in ("similar", "may_supersede") for one in new.get(name, ())} for new in later]
    seen = fmean(old["memory_id"] in ids for old, ids in zip(earlier, shown, strict=True))
    others = fmean(len(ids - {old["memory_id"]}) for old, ids in zip(earlier, shown, strict=True))
    newer = fmean(new < old for new, old in present)
    first = fmean(new == 1 for new, _ in present)
    older = fmean(old <= DEPTH for _, old in past)
    above = fmean(old < new for new, old in past)
    false = fmean("may_supersede" in answer for answer in unmarked)
    return {
        "corrections": [
            Verdict("the statement is found when its correction is stored", {"found": found, "others marked": wrong}),
            Verdict("found, or shown as similar", {"seen": seen, "others seen": others}),
            Verdict(
                "asked for the present value, the newer one comes first (.95)",
                {"before the older one": newer, "first of all": first},
                newer >= 0.95,
            ),
            Verdict(
                "asked for the past value, the older one is found (.95)",
                {"among the first ten": older, "before the newer one": above},
                older >= 0.95,
            ),
            Verdict("of pairs that contradict nothing at most .02 are marked", {"marked": false}, false <= 0.02),
        ]
    }


def corrections(
    folder: DataFolder,
    graded: PairsFile,
    *,
    chosen: Annotated[
        PairSet, Option("--set", help="The statements and corrections that are stored.")
    ] = PairSet.HELD_OUT,
    as_json: JsonOption = False,
) -> None:
    """Store statements and corrections among other memories, and ask for the present and for the past."""
    documents = find_datasets(folder)[0].documents
    pairs = read_pairs(chosen)
    neutral = read_neutral(documents, graded, chosen)
    others = Random(SEED).sample(documents, min(OTHERS, len(documents)))
    with workplace() as (scratch, bar):
        sections = anyio.run(measure, scratch, others, pairs, neutral, bar)
    publish(sections, f"{len(pairs)} corrections among {len(others)} others, {len(neutral)} pairs", as_json=as_json)
