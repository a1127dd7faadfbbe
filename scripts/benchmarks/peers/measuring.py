"""What a server finds of what it was told, how soon it answers, and what it takes up."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from benchmarks.peers.client import Server, opened
from benchmarks.peers.processes import belonging, end
from benchmarks.peers.sample import Conversation, Question
from benchmarks.peers.scoring import means, milliseconds, ranking, score
from benchmarks.peers.systems import System
from benchmarks.retrieval.corpora import Document, content
from benchmarks.scale.starting import size

ERRORS = "errors.txt"
"""What the processes of a store write to their standard error."""


class Found(msgspec.Struct, frozen=True):
    """What one way of searching found."""

    mode: str
    figures: dict[str, float]
    """hit@1, hit@5, hit@10 and Recall@10, the means over all questions."""
    search_ms: dict[str, float]


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """What came of one server."""

    found: list[Found]
    store_ms: dict[str, float]
    refused: int
    """Turns that it didn't store."""
    resident_mb: float
    """All its processes together at the end; where each conversation has a store, those of the largest."""
    disk_mb: float
    lesser: str
    """What it says when it searches by something less than was meant; nothing if it does as it should."""


class Talk:
    """What is noted while a server is told and asked, over all its stores.

    Args:
        system: Which server.
        advance: Told of each store and each search.
    """

    def __init__(self, system: System, advance: Callable[[], object]) -> None:
        self._system = system
        self._advance = advance
        self.stores: list[float] = []
        self.searches: dict[str, list[float]] = {mode: [] for mode in system.modes}
        self.scores: dict[str, list[dict[str, float]]] = {mode: [] for mode in system.modes}
        self.refused = 0

    async def tell(self, server: Server, turns: Iterable[Document]) -> dict[str, str]:
        """Store turns one after the other, and return their texts by the server's references."""
        texts: dict[str, str] = {}
        for turn in turns:
            answer = await server.ask(self._system.keep(turn))
            self.stores.append(answer.seconds)
            self.refused += answer.refused
            if not answer.refused:
                texts |= dict.fromkeys(self._system.named([answer]), content(turn))
            self._advance()
        return texts

    async def ask(self, server: Server, mode: str, questions: Iterable[Question], texts: Mapping[str, str]) -> None:
        """Ask questions one after the other, and judge what is found."""
        for question in questions:
            answers = [await server.ask(call) for call in self._system.search(question.asked, mode)]
            self.searches[mode].append(sum(answer.seconds for answer in answers))
            found = ranking(self._system.named(answers), texts)
            self.scores[mode].append(score(found, question.evidence))
            self._advance()


async def measured(
    system: System, cache: Path, folder: Path, conversations: Sequence[Conversation], advance: Callable[[], object]
) -> Measured:
    """Store every turn, one after the other, then ask every question in each mode.

    Args:
        system: Which server.
        cache: Where it is installed.
        folder: For its stores; new.
        conversations: What is told and asked.
        advance: Told of each store and each search.

    Raises:
        Unavailable: it can't be installed, doesn't start or stops answering; perhaps in a group of exceptions.
    """
    talk = Talk(system, advance)
    resident, disk, errors = 0.0, 0, ""
    for number, some in enumerate([conversations] if system.filters else [[one] for one in conversations]):
        place = folder / str(number)
        store = place / "store"
        store.mkdir(parents=True)
        texts: dict[str, str] = {}
        try:
            for mode in system.modes:  # each in a process of its own, or one would profit from what another has cached
                async with opened(system.start(cache, store), place / ERRORS) as server:
                    if mode == system.modes[0]:
                        texts = await talk.tell(server, (turn for one in some for turn in one.turns))
                    await talk.ask(server, mode, (question for one in some for question in one.questions), texts)
                    resident = max(resident, sum(belonging(store, server.started).values()))
        finally:
            end(store)
        disk += size(store)
        errors += (place / ERRORS).read_text(encoding="utf-8", errors="replace")
    return Measured(
        found=[Found(mode, means(talk.scores[mode]), milliseconds(talk.searches[mode])) for mode in system.modes],
        store_ms=milliseconds(talk.stores),
        refused=talk.refused,
        resident_mb=resident,
        disk_mb=disk / 2**20,
        lesser=system.lesser if system.lesser in errors else "",
    )
