"""What is stored and asked, what a peer finds, how fast, at what cost, and whether it keeps what it acknowledged."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

import anyio
import msgspec
import numpy as np
from typer import BadParameter

from benchmarks.datasets import DEPTH, Document, means, read_dataset
from benchmarks.peers.client import Answer, Peer, start_peer
from benchmarks.peers.systems import System
from benchmarks.processes import disk_bytes, kill_processes, processes_of, resident_mb, stop_processes
from benchmarks.report import quantiles


class Question(msgspec.Struct, frozen=True):
    """A question and the texts of the turns that answer it: texts, since every server has ids of its own."""

    query: Document
    evidence: frozenset[str]


class Conversation(msgspec.Struct, frozen=True):
    """Turns in order, and questions about them."""

    turns: list[Document]
    questions: list[Question]


def sample(folder: Path, turns: int, questions: int) -> list[Conversation]:
    """Take whole conversations as long as they fit, the beginning of the next one, and questions spread over all.

    A conversation is all documents of one namespace.

    Raises:
        BadParameter: the evidence of no question is stored.
    """
    dataset = read_dataset(folder)
    every: defaultdict[str | None, list[Document]] = defaultdict(list)
    for document in dataset.documents:
        every[document.metadata.get("namespace")].append(document)
    left = turns
    taken: dict[str | None, list[Document]] = {}
    for namespace, documents in every.items():
        if len(documents) <= left:
            taken[namespace] = documents
            left -= len(documents)
    if left and (rest := next((namespace for namespace in every if namespace not in taken), None)) is not None:
        taken[rest] = every[rest][:left]

    texts = {document.id: document.content for documents in taken.values() for document in documents}
    answerable = [
        Question(query, frozenset(texts[document] for document in dataset.judgements[query.id]))
        for query in dataset.answerable(texts)
        if query.metadata.get("namespace") in taken
    ]
    if not answerable:
        raise BadParameter(f"{folder} has no question whose evidence is among the first {turns} turns")
    spread = np.linspace(0, len(answerable) - 1, min(questions, len(answerable))).round().astype(int)
    chosen = [answerable[number] for number in spread]
    return [
        Conversation(documents, [one for one in chosen if one.query.metadata.get("namespace") == namespace])
        for namespace, documents in taken.items()
    ]


RANKS = (1, 5, 10)
HITS = tuple(f"hit@{rank}" for rank in RANKS)
RECALL = f"recall@{DEPTH}"
ERRORS = "errors.txt"
"""File with the error output of a store's processes."""
CLIENTS, WRITES = 2, 30
"""Clients that write at once, and writes of each."""


class Mode(msgspec.Struct, frozen=True):
    """What one way of searching found."""

    name: str
    figures: dict[str, float]
    """Mean hit@1, hit@5, hit@10 and Recall@10."""
    search_ms: dict[str, float]


class Measurement(msgspec.Struct, frozen=True, kw_only=True):
    """Everything measured of one server."""

    modes: list[Mode]
    store_ms: dict[str, float]
    refused: int
    """Turns that it didn't store."""
    resident_mb: float
    """All its processes at the end; with a store for each conversation, those of the largest."""
    disk_mb: float
    degraded: str
    """Its own message that it searches by something less than configured, if it wrote one."""


class Durability(msgspec.Struct, frozen=True):
    """What became of writes by two clients at once, after kill -9 and a new start."""

    acknowledged: int
    refused: int
    kept: int
    """Acknowledged writes that the server reads back."""


def score(ranking: Sequence[str], evidence: frozenset[str]) -> dict[str, float]:
    """Return whether evidence is among the first 1, 5 and 10 texts, and the share of it among 10."""
    hits = {name: float(not evidence.isdisjoint(ranking[:rank])) for name, rank in zip(HITS, RANKS, strict=True)}
    return {**hits, RECALL: len(evidence.intersection(ranking[:DEPTH])) / len(evidence)}


async def measure(
    system: System, cache: Path, folder: Path, conversations: Sequence[Conversation], advance: Callable[[], object]
) -> Measurement:
    """Store every turn, one after the other, then ask every question in each mode.

    Args:
        system: The server.
        cache: Where it is installed.
        folder: For its stores; new.
        conversations: What is stored and asked.
        advance: Called after each store and each search.

    Raises:
        UnavailableError: it can't be installed, doesn't start or stops answering; possibly in an exception group.
    """
    stored: list[Answer] = []
    searches: dict[str, list[float]] = defaultdict(list)
    scores: dict[str, list[dict[str, float]]] = defaultdict(list)
    resident, disk, errors = 0.0, 0, ""
    for number, group in enumerate([conversations] if system.filters else [[one] for one in conversations]):
        place = folder / str(number)
        data = place / "store"
        data.mkdir(parents=True)
        turns = [turn for one in group for turn in one.turns]
        questions = [question for one in group for question in one.questions]
        texts: dict[str, str] = {}
        try:
            for mode in system.modes:  # each in a new process, or one would profit from another's cache
                async with start_peer(system.start(cache, data), place / ERRORS) as peer:
                    for turn in turns if mode == system.modes[0] else ():
                        stored.append(answer := await peer.call(system.store(turn)))
                        texts |= {} if answer.refused else dict.fromkeys(system.references([answer]), turn.content)
                        advance()
                    for question in questions:
                        answers = [await peer.call(call) for call in system.search(question.query, mode)]
                        searches[mode].append(sum(answer.seconds for answer in answers) * 1e3)
                        found = [texts[one] for one in system.references(answers)[:DEPTH] if one in texts]
                        scores[mode].append(score(found, question.evidence))
                        advance()
                    resident = max(resident, sum(resident_mb(one.pid) for one in processes_of(data)))
        finally:
            stop_processes(data)
        disk += disk_bytes(data)
        errors += (place / ERRORS).read_text(encoding="utf-8", errors="replace")
    return Measurement(
        modes=[Mode(mode, means(scores[mode]), quantiles(searches[mode])) for mode in system.modes],
        store_ms=quantiles([answer.seconds * 1e3 for answer in stored]),
        refused=sum(answer.refused for answer in stored),
        resident_mb=resident,
        disk_mb=disk / 2**20,
        degraded=system.degraded if system.degraded in errors else "",
    )


async def measure_durability(system: System, cache: Path, folder: Path, turns: Sequence[Document]) -> Durability:
    """Write through two clients, each with a process of its own, kill, start again and read.

    Raises:
        UnavailableError: it doesn't start, or stops answering; possibly in an exception group.
    """
    data = folder / "store"
    data.mkdir(parents=True)
    errors = folder / ERRORS
    written: list[Answer] = []

    async def write(peer: Peer, share: Sequence[Document]) -> None:
        for turn in share:
            written.append(await peer.call(system.store(turn)))  # noqa: PERF401 -- one is kept if the next fails

    parameters = system.start(cache, data)
    try:
        async with start_peer(parameters, errors) as one, start_peer(parameters, errors) as other:
            async with anyio.create_task_group() as group:
                for number, peer in enumerate((one, other)):
                    group.start_soon(write, peer, turns[number : CLIENTS * WRITES : CLIENTS])
            kill_processes(data)
        acknowledged = {*system.references([answer for answer in written if not answer.refused])}
        async with start_peer(parameters, errors) as peer:
            answers = [await peer.call(call) for call in system.read(sorted(acknowledged))]
    finally:
        stop_processes(data)
    found = system.references([answer for answer in answers if not answer.refused])
    refused = sum(answer.refused for answer in written)
    return Durability(len(acknowledged), refused, len(acknowledged.intersection(found)))
