"""The stores whose files are damaged, and what is asked of them: in a process of its own, which may not survive it."""

import json
import multiprocessing
import shutil
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import anyio
import msgspec

from actors.api.context import silent
from actors.api.operations.facade import Operations
from actors.api.params.parsing import parse
from actors.api.tools.agent_tools import BY_NAME
from actors.comparator.search.query_classifier import cues
from actors.embedder.messages import EmbeddedQuery, EmbedMemory, EmbedQuery, Load
from actors.hub import composition as hubs
from actors.runtime.faults import Fault
from actors.runtime.metrics import Latencies
from actors.store.messages import TakeSnapshot
from actors.store.snapshot_files import Snapshots
from benchmarks.filling import sentences
from events.crypto.keys import KeyRing
from events.fingerprint import Embedding
from events.storage.log import LogError
from events.verify.verification import verify
from events.vocabulary.values import SpaceModel

ASKED_AT = datetime(2026, 11, 21, tzinfo=UTC)
WORDS, QUERY_WORDS = 14, 5
QUESTIONS = 8
IN_FILE, IN_WAL = 32, 12
"""Memories that a checkpoint has put into the log's file, and those that a crash left in the file beside it."""
PATIENCE = 120.0
SNAPSHOTS = "snapshot"
PASSING = shutil.ignore_patterns("*.sock", "*.lock")

Answers = dict[str, str]
"""What was answered, in JSON, by what was asked; `!` and a sentence where that was refused."""


class Kept(msgspec.Struct, frozen=True):
    """What a child needs to ask without the models."""

    models: tuple[SpaceModel, ...]
    questions: dict[str, dict[str, Embedding]]
    memories: tuple[str, ...]


class Seen(msgspec.Struct):
    """What came of one store."""

    answers: Answers
    problems: tuple[str, ...] = ()
    """What `verify` found; of a verification that failed, how."""
    touched: bool = False
    """Whether `verify` changed a file."""
    refused: str | None = None
    """Why the store wasn't opened."""
    thawed: bool = False
    """Whether a snapshot was used: one that can't be is deleted."""
    status: int | None = None
    """With what the process ended, if it didn't survive the store."""


class Verified(msgspec.Struct, frozen=True):
    """Told by the child: what `verify` found, and whether it changed a file."""

    problems: tuple[str, ...]
    touched: bool


class Done(msgspec.Struct, frozen=True):
    """Told by the child: all was asked, or the store was refused."""

    refused: str | None


class Remembered:
    """A profile that knows the questions which were embedded once, and embeds nothing."""

    name = "embedded"

    def __init__(self, kept: Kept) -> None:
        self.models = kept.models
        self._questions = kept.questions

    def memory(self, request: EmbedMemory, sessions: object) -> Any:
        """Refuse: nothing is stored in a damaged store."""
        del sessions
        message = f"a damaged store is only asked, never told anything: {request.content}"
        raise RuntimeError(message)

    def query(self, request: EmbedQuery, sessions: object) -> Any:
        """Plan nothing, and return what is known."""
        del sessions
        return EmbeddedQuery(embeddings=self._questions[request.text])
        yield []

    def forward(self, rows: list[Any]) -> list[Any]:
        """Return nothing, since nothing goes through a model."""
        return rows


async def build(scratch: Path) -> tuple[dict[str, Path], Kept]:
    """Make a store that was closed in order, and the same a while later, as kill -9 leaves it; both with a snapshot."""
    texts = sentences(WORDS)[: IN_FILE + IN_WAL]
    folder, closed, killed = (scratch / name for name in ("store", "closed", "killed"))
    with hubs.open_hub(folder, priming=False) as hub:
        operations = Operations(hub)
        memories = [await _stored(operations, text) for text in texts[:IN_FILE]]
        await call(operations, "memory_delete", id=memories[0])
        await call(operations, "memory_delete", id=memories[1], soft=False)
        await operations.ask(hub.store, TakeSnapshot(after=0))
    shutil.copytree(folder, closed, ignore=PASSING)
    with hubs.open_hub(folder, priming=False) as hub:
        operations = Operations(hub)
        await operations.ready()
        await operations.ask(hub.store, TakeSnapshot(after=0))
        memories += [await _stored(operations, text) for text in texts[IN_FILE:]]
        models = await operations.ask(hub.embedder, Load())
        asked = [" ".join(text.split()[:QUERY_WORDS]) for text in texts[2 : 2 + 3 * QUESTIONS : 3]]
        questions = {
            text: await operations.question(text, cues(text, ASKED_AT), ASKED_AT, namespace=None) for text in asked
        }
        shutil.copytree(folder, killed, ignore=PASSING)  # what a process that is killed now would leave
    return {"closed": closed, "killed": killed}, Kept(models, questions, tuple(memories))


async def _stored(operations: Operations, text: str) -> str:
    return (await call(operations, "store_memory", content=text))["fingerprintId"]


async def call(operations: Operations, name: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool as a client does, without the wire."""
    tool = BY_NAME[name]
    return await tool.run(operations, parse(arguments, tool.params), silent)


class Asker:
    """A child that looks at one store after the other; one that dies of it is replaced."""

    def __init__(self, kept: Kept) -> None:
        self._kept = kept
        self._spawning = multiprocessing.get_context("spawn")
        self._start()

    def look(self, folder: Path) -> Seen:
        """Verify a store, open it and ask."""
        seen = Seen({})
        self._ours.send(folder)
        try:
            while self._ours.poll(PATIENCE):
                match self._ours.recv():
                    case Verified(problems=problems, touched=touched):
                        seen.problems, seen.touched = problems, touched
                    case (asked, answer):
                        seen.answers[asked] = answer
                    case Done(refused=refused):
                        seen.refused = refused
                        seen.thawed = any((folder / SNAPSHOTS).glob("*/*"))
                        return seen
        except EOFError:
            self._child.join()
            seen.status = self._child.exitcode
        self.close()
        self._start()
        return seen

    def close(self) -> None:
        """End the child."""
        self._child.kill()
        self._child.join()
        self._ours.close()

    def _start(self) -> None:
        self._ours, theirs = self._spawning.Pipe()
        self._child = self._spawning.Process(target=_child, args=(theirs, self._kept), daemon=True)
        self._child.start()
        theirs.close()


def _child(parent: Connection, kept: Kept) -> None:
    hubs.load_profile = partial(_remembered, kept)  # pyright: ignore[reportAttributeAccessIssue] -- no model is needed
    while True:
        folder: Path = parent.recv()
        parent.send(_verified(folder))
        try:
            anyio.run(_ask, folder, kept, parent)
        except (LogError, Fault, OSError) as error:
            parent.send(Done(f"{type(error).__name__}: {error}"))
        else:
            parent.send(Done(None))


def _remembered(kept: Kept, _latencies: Latencies, **_models: object) -> Remembered:
    return Remembered(kept)


def _verified(folder: Path) -> Verified:
    before = contents(folder)
    try:
        found = list(verify(folder).problems)
        if not found:  # as `context-graph verify` does
            found += Snapshots(folder, KeyRing.of((folder / "keys").read_bytes())).problems()
        problems = tuple(f"{one.file}: {one.what}" for one in found)
    except Exception as error:  # noqa: BLE001 -- whatever it is, it is what a person would see
        problems = (f"verification failed: {type(error).__name__}: {error}",)
    return Verified(problems, contents(folder) != before)


def contents(folder: Path) -> Mapping[Path, bytes]:
    """Return every file of a folder."""
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


async def _ask(folder: Path, kept: Kept, parent: Connection) -> None:
    with hubs.open_hub(folder, priming=False) as hub:
        operations = Operations(hub)
        await operations.ready()
        state = await operations.status()
        parent.send(("status", json.dumps([state["memories"], state["log"], state["namespaces"]])))
        asked: list[tuple[str, dict[str, Any]]] = [
            *(("memory_retrieve", {"id": memory, "include_embeddings": True}) for memory in kept.memories),
            *(
                ("search_graph", {"query": text, "asked_at": ASKED_AT.isoformat(), "explain": True})
                for text in kept.questions
            ),
        ]
        for name, arguments in asked:
            try:
                answer = await call(operations, name, **arguments)
            except Fault as fault:
                shown = f"!{fault.code} {fault.message}"
            else:
                shown = json.dumps(answer.get("results", answer), sort_keys=True)
            parent.send((f"{name} {arguments}", shown))
