"""One client of the crash campaign: a mixed load in its own namespace, and a journal of everything acknowledged."""

import json
import random
import re
import threading
from collections.abc import Callable, Iterator
from enum import StrEnum
from pathlib import Path
from statistics import median
from time import monotonic
from typing import Any, NamedTuple
from uuid import UUID

import msgspec
import numpy as np

from benchmarks.serve_client import UNCERTAIN, Reply, ServeClient
from events.quantization import levels
from events.spaces import E1

ATTEMPTS = 3
PAUSE = 0.03
"""Mean seconds between two requests of a client: agents think, and a small store opens quickly."""
COPIES = 0.15
"""Share of memories that repeat another one word for word, so that consolidation has something to merge."""
BATCH = range(3, 9)

CONSONANTS, VOWELS, SYLLABLES = "bdfgklmnprstvz", "aeiou", 5
WORD = re.compile(f"(?=((?:[{CONSONANTS}][{VOWELS}]){{{SYLLABLES}}}))".encode())
"""Finds every invented word in a file, at any offset."""
TRACE = 24
"""Components of an embedding by which it is recognised in a file."""

LOAD = {"store": 40, "batch": 8, "search": 16, "retrieve": 6, "forget": 9, "restore": 7, "erase": 8, "sleep": 6}
"""Relative frequency of each action."""


class State(StrEnum):
    """The state of a memory, as the store names it."""

    LIVE = "live"
    FORGOTTEN = "forgotten"
    ERASED = "erased"


class Memory(msgspec.Struct):
    """What the journal records of one memory."""

    id: str
    content: str
    state: State = State.LIVE
    traces: tuple[bytes, ...] = ()
    """Parts of its embeddings as a file may contain them; set when it is erased."""


class Request(NamedTuple):
    """An answered request."""

    action: str
    seconds: float
    sent: int
    error: str | None = None


class Tally(msgspec.Struct):
    """What all clients of a campaign did; each appends to it."""

    requests: list[Request] = []
    missed: list[str] = []
    """Acknowledged memories that a search or a retrieval didn't find."""

    def usual(self, action: str) -> float:
        """Return the median seconds of an action."""
        return median([one.seconds for one in list(self.requests) if one.action == action] or [0.0])


class Client(threading.Thread):
    """Sends one request after the other until it is stopped.

    Args:
        number: Of the client.
        folder: Of the store.
        scratch: Folder of the journal and of the processes' error output.
        seed: Of all its choices.
        tally: Of the campaign.
    """

    def __init__(self, number: int, folder: Path, scratch: Path, seed: int, tally: Tally) -> None:
        super().__init__(name=f"client {number}", daemon=True)
        self.connection = ServeClient(folder, scratch / f"proxy-{number}.err")
        self.namespace = f"client-{number}"
        self.memories: dict[str, Memory] = {}
        self.stored_by_key: dict[str, int] = {}
        """How many memories each acknowledged request stored, by its idempotency key."""
        self.current: str | None = None
        """The action whose answer is awaited."""
        self.next: str | None = None
        """The next action, instead of a random one."""
        self.answered = 0
        self.failure: BaseException | None = None
        """The exception that ended the thread."""
        self._tally = tally
        self._rng = random.Random(f"{seed} {number}")
        self._journal = scratch / f"journal-{number}.jsonl"
        self.turn = threading.Lock()
        """Held during each action; who else holds it pauses the client."""
        self._ended = threading.Event()

    def run(self) -> None:
        """Perform random actions."""
        actions: dict[str, Callable[[], None]] = {name: getattr(self, f"_{name}") for name in LOAD}
        try:
            while not self._ended.is_set():
                with self.turn:
                    action, self.next = self.next, None
                    actions[action or self._rng.choices(list(LOAD), list(LOAD.values()))[0]]()
                self._ended.wait(PAUSE * self._rng.random() * 2)
        except BaseException as error:
            self.failure = error

    def stop(self) -> None:
        """Finish the current action and end."""
        self._ended.set()
        self.join()

    def ask(self, action: str, tool: str, /, **arguments: Any) -> Reply:
        """Call a tool with a new idempotency key, and write the answer to the journal."""
        key = str(UUID(int=self._rng.getrandbits(128), version=4))
        self.current, start = action, monotonic()
        reply = self.connection.call(tool, key, **arguments)
        sent = reply.sent
        for _ in range(ATTEMPTS - 1):
            if reply.code == UNCERTAIN:
                reply = self.connection.call(tool, key, **arguments)
                sent += reply.sent
        self.current, seconds = None, monotonic() - start
        self.answered += 1
        error = None if reply.code is None else f"{action}: {reply.code} {reply.answer['error']['message']}"
        self._tally.requests.append(Request(action, seconds, sent, error))
        with self._journal.open("a", encoding="utf-8") as journal:
            line = {"key": key, "tool": tool, "arguments": arguments, "sent": sent, "seconds": seconds}
            journal.write(json.dumps(line | {"answer": reply.answer}) + "\n")
        acknowledged = {memory: Memory(memory, content) for content, memory in _stored(tool, arguments, reply.answer)}
        self.memories |= acknowledged
        self.stored_by_key[key] = len(acknowledged)
        return reply

    def _store(self) -> None:
        self.ask("store", "store_memory", content=self._text(), namespace=self.namespace)

    def _batch(self) -> None:
        items = [{"content": self._text(), "namespace": self.namespace} for _ in range(self._rng.choice(BATCH))]
        self.ask("batch", "memory_inject_batch", items=items)

    def _search(self) -> None:
        if memory := self._any(State.LIVE):
            found = self.ask("search", "search_graph", query=memory.content, namespace=self.namespace, top_k=3)
            if memory.content not in {result["content"] for result in found.answer.get("results", [])}:
                self._tally.missed.append(memory.id)

    def _retrieve(self) -> None:
        if memory := self._any(State.LIVE, State.FORGOTTEN):
            found = self.ask("retrieve", "memory_retrieve", id=memory.id)
            if found.answer.get("content") != memory.content:
                self._tally.missed.append(memory.id)

    def _forget(self) -> None:
        if memory := self._any(State.LIVE):
            self.ask("forget", "memory_delete", id=memory.id, soft=True)
            memory.state = State.FORGOTTEN

    def _restore(self) -> None:
        if memory := self._any(State.FORGOTTEN):
            self.ask("restore", "memory_restore", id=memory.id)
            memory.state = State.LIVE

    def _erase(self) -> None:
        if memory := self._any(State.LIVE, State.FORGOTTEN):
            vectors = self.ask("retrieve", "memory_retrieve", id=memory.id, include_embeddings=True).answer["vectors"]
            self.ask("erase", "memory_delete", id=memory.id, soft=False)
            meaning = vectors[E1]
            # In the types in which files may contain it: 8-bit levels and 32-bit floats.
            memory.traces = (levels(meaning)[:TRACE].tobytes(), np.asarray(meaning[:TRACE], "<f4").tobytes())
            memory.state = State.ERASED

    def _sleep(self) -> None:
        """Consolidate and undo it, so that the expected state of every memory stays known."""
        mode = self._rng.choice(("light", "deep"))
        self.ask("sleep", "consolidate_memories", mode=mode, namespace=self.namespace, salience_threshold=0.0)
        for run in self.ask("list", "list_consolidations", limit=100).answer.get("runs", []):
            if run["namespace"] == self.namespace and run["can_be_undone"]:
                self.ask("undo", "undo_consolidation", run_id=run["run_id"])

    def _text(self) -> str:
        """Return five of 1.7 billion invented words, or sometimes a text that is stored already."""
        if self._rng.random() < COPIES and (memory := self._any(State.LIVE)):
            return memory.content
        choose = self._rng.choice
        words = ("".join(choose(CONSONANTS) + choose(VOWELS) for _ in range(SYLLABLES)) for _ in range(5))
        return " ".join(words)

    def _any(self, *states: State) -> Memory | None:
        some = [memory for memory in self.memories.values() if memory.state in states]
        return self._rng.choice(some) if some else None


def _stored(tool: str, arguments: dict[str, Any], answer: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the text and the id of each memory that an answer acknowledges."""
    if tool == "store_memory" and "fingerprintId" in answer:
        yield arguments["content"], answer["fingerprintId"]
    for result in answer.get("results", []) if tool == "memory_inject_batch" else []:
        if result["success"]:
            yield arguments["items"][result["index"]]["content"], result["memory_id"]
