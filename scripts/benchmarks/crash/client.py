"""One client of the campaign: a mixed load in a namespace of its own, and a journal of all that was acknowledged."""

import json
import random
import re
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic
from typing import Any
from uuid import UUID

import msgspec
import numpy as np

from benchmarks.crash.window import Reply, Window
from events.fingerprint import levels

LIVE, FORGOTTEN, ERASED = "live", "forgotten", "erased"
UNCERTAIN = -32004
"""The code of an answer that doesn't say whether it was done: such a request is sent again, with the same key."""
AGAIN = 3
PAUSE = 0.03
"""Seconds between two requests of a client: agents think, and a store that stays small opens quickly."""
COPIES = 0.15
"""Share of memories that repeat another one word for word, so that sleep has something to merge."""
BATCH = range(3, 9)

CONSONANTS, VOWELS, SYLLABLES = "bdfgklmnprstvz", "aeiou", 5
WORD = re.compile(f"(?=((?:[{CONSONANTS}][{VOWELS}]){{{SYLLABLES}}}))".encode())
"""Finds every word of that kind, wherever in a file it begins."""
TRACE = 24
"""Figures of an embedding by which it is recognised."""

LOAD = {"store": 40, "batch": 8, "search": 16, "retrieve": 6, "forget": 9, "restore": 7, "erase": 8, "sleep": 6}
"""How often each thing is done, in proportion."""


class Memory(msgspec.Struct):
    """What the journal knows of one memory."""

    id: str
    content: str
    state: str = LIVE
    traces: tuple[bytes, ...] = ()
    """Pieces of its embeddings as a file may hold them; known once it is erased."""


class Client(threading.Thread):
    """Does one thing after the other, until it is told to stop.

    Args:
        number: Which one it is.
        folder: Of the store.
        scratch: Where the journal and the errors of its processes are kept.
        seed: Of all that it chooses.
    """

    def __init__(self, number: int, folder: Path, scratch: Path, seed: int) -> None:
        super().__init__(name=f"client {number}", daemon=True)
        self.window = Window(folder, scratch / f"window-{number}.err")
        self.namespace = f"client-{number}"
        self.memories: dict[str, Memory] = {}
        self.wanted: dict[str, int] = {}
        """How many memories each acknowledged request asked for, by its key."""
        self.doing: str | None = None
        """What it has asked for and isn't answered yet."""
        self.wish: str | None = None
        """What it is to do next, whatever it would have chosen."""
        self.answered = 0
        self.sent_again = 0
        self.longest = 0.0
        self.errors: Counter[str] = Counter()
        self.missed: list[str] = []
        """What searches and retrievals didn't find although it was acknowledged."""
        self.took: defaultdict[str, list[float]] = defaultdict(list)
        self.failure: BaseException | None = None
        """Why it gave up."""
        self._chance = random.Random(f"{seed} {number}")  # noqa: S311 -- a load, not a secret
        self._journal = scratch / f"journal-{number}.jsonl"
        self._go, self._resting, self._over = threading.Event(), threading.Event(), threading.Event()
        self._go.set()

    def run(self) -> None:
        """Do one thing after the other."""
        acts: dict[str, Callable[[], None]] = {name: getattr(self, f"_{name}") for name in LOAD}
        try:
            while not self._over.is_set():
                if not self._go.is_set():
                    self._resting.set()
                    self._go.wait()
                    self._resting.clear()
                    continue
                wish, self.wish = self.wish, None
                acts[wish or self._chance.choices(list(LOAD), list(LOAD.values()))[0]]()
                self._over.wait(PAUSE * self._chance.random() * 2)
        except BaseException as error:  # noqa: BLE001 -- told to the campaign, which ends
            self.failure = error
        finally:
            self._resting.set()

    def rest(self) -> None:
        """Finish what is under way, and do nothing more until `go_on`."""
        self._go.clear()
        self._resting.wait()

    def go_on(self) -> None:
        """Go on after a rest."""
        self._go.set()

    def stop(self) -> None:
        """Finish what is under way, and end."""
        self._over.set()
        self._go.set()
        self.join()

    def ask(self, what: str, tool: str, /, **arguments: Any) -> Reply:
        """Call a tool with a key of its own, and write down what was answered before anything else is asked."""
        key = str(UUID(int=self._chance.getrandbits(128), version=4))
        self.doing, start = what, monotonic()
        reply = self._sent(tool, key, arguments)
        for _ in range(AGAIN - 1):
            if reply.code != UNCERTAIN:
                break
            self.sent_again += 1
            reply = self._sent(tool, key, arguments)
        self.doing = None
        self.answered += 1
        seconds = monotonic() - start
        self.longest = max(self.longest, seconds)
        self.took[what].append(seconds)
        with self._journal.open("a", encoding="utf-8") as journal:
            line = {"key": key, "tool": tool, "arguments": arguments, "sent": reply.sent, "seconds": seconds}
            journal.write(json.dumps(line | {"answer": reply.answer}) + "\n")
        if reply.code is not None:
            self.errors[f"{what}: {reply.code} {reply.answer['error']['message']}"] += 1
        self.wanted[key] = 0
        for content, memory in _stored(tool, arguments, reply.answer):
            self.memories[memory] = Memory(memory, content)
            self.wanted[key] += 1
        return reply

    def _sent(self, tool: str, key: str, arguments: dict[str, Any]) -> Reply:
        reply = self.window.call(tool, key, **arguments)
        self.sent_again += reply.sent - 1
        return reply

    def _store(self) -> None:
        self.ask("store", "store_memory", content=self._text(), namespace=self.namespace)

    def _batch(self) -> None:
        items = [{"content": self._text(), "namespace": self.namespace} for _ in range(self._chance.choice(BATCH))]
        self.ask("batch", "memory_inject_batch", items=items)

    def _search(self) -> None:
        if memory := self._any(LIVE):
            found = self.ask("search", "search_graph", query=memory.content, namespace=self.namespace, top_k=3)
            results = found.answer.get("results", [])
            if memory.content not in {result["content"] for result in results}:
                self.missed.append(memory.id)

    def _retrieve(self) -> None:
        if memory := self._any(LIVE, FORGOTTEN):
            found = self.ask("retrieve", "memory_retrieve", id=memory.id)
            if found.answer.get("content") != memory.content:
                self.missed.append(memory.id)

    def _forget(self) -> None:
        if memory := self._any(LIVE):
            self.ask("forget", "memory_delete", id=memory.id, soft=True)
            memory.state = FORGOTTEN

    def _restore(self) -> None:
        if memory := self._any(FORGOTTEN):
            self.ask("restore", "memory_restore", id=memory.id)
            memory.state = LIVE

    def _erase(self) -> None:
        if memory := self._any(LIVE, FORGOTTEN):
            vectors = self.ask("retrieve", "memory_retrieve", id=memory.id, include_embeddings=True).answer["vectors"]
            self.ask("erase", "memory_delete", id=memory.id, soft=False)
            memory.traces = _traces(vectors)
            memory.state = ERASED

    def _sleep(self) -> None:
        """Sleep, and take back whatever that did, so that what is to be found stays known."""
        mode = self._chance.choice(("light", "deep"))
        wanted = {"mode": mode, "namespace": self.namespace, "salience_threshold": 0.0}
        self.ask("sleep", "consolidate_memories", **wanted)
        runs = self.ask("list", "list_consolidations", limit=100).answer.get("runs", [])
        for run in runs:
            if run["namespace"] == self.namespace and run["can_be_undone"]:
                self.ask("undo", "undo_consolidation", run_id=run["run_id"])

    def _text(self) -> str:
        """Return a text that nobody else says, or sometimes one that is stored already."""
        if self._chance.random() < COPIES and (memory := self._any(LIVE)):
            return memory.content
        return " ".join(_word(self._chance) for _ in range(5))

    def _any(self, *states: str) -> Memory | None:
        some = [memory for memory in self.memories.values() if memory.state in states]
        return self._chance.choice(some) if some else None


def _stored(tool: str, arguments: dict[str, Any], answer: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the text and the id of each memory that an answer acknowledges."""
    if tool == "store_memory" and "fingerprintId" in answer:
        yield arguments["content"], answer["fingerprintId"]
    for result in answer.get("results", []) if tool == "memory_inject_batch" else []:
        if result["success"]:
            yield arguments["items"][result["index"]]["content"], result["memory_id"]


def _traces(vectors: dict[str, Any]) -> tuple[bytes, ...]:
    """Return a piece of the meaning and of the letters of a memory, in the types that files keep them in."""
    meaning = vectors["e1_semantic"]
    return levels(meaning)[:TRACE].tobytes(), np.asarray(meaning[:TRACE], "<f4").tobytes()


def _word(chance: random.Random) -> str:
    """Return a word of five syllables that stands in no dictionary: one of 1.7 milliards."""
    return "".join(chance.choice(CONSONANTS) + chance.choice(VOWELS) for _ in range(SYLLABLES))
