"""The stores whose bytes are flipped, and the child process that verifies, opens and queries a damaged copy."""

import json
import shutil
import signal
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import msgspec

from actors.runtime.ask import ask
from actors.runtime.faults import Fault
from actors.store.messages import TakeSnapshot
from actors.store.snapshot_files import Snapshots
from actors.store.spare_memories import SNAPSHOT
from benchmarks.processes import PATIENCE, Child, listing
from benchmarks.store import Load, open_store, shared_models
from benchmarks.synthetic import first_words, some_sentences
from events.crypto.keys import KeyRing
from events.recovery.repair import repair
from events.storage.log import LogError
from events.verify.verification import verify

LATER = "The ferryman hides the spare oar under the third bench of the blue boat."
"""Stored into every damaged store."""
ASKED_AT = "2026-11-21T00:00:00+00:00"
WORDS, QUERY_WORDS, QUERIES = 14, 5, 8
IN_FILE, IN_WAL = 32, 12
"""Memories in the log's file after a checkpoint, and memories that a crash leaves in the write-ahead log beside it."""
SNAPSHOTS = "snapshot"
TRANSIENT = shutil.ignore_patterns("*.sock", "*.lock")
MEMORY = "memory_retrieve"
"""The tool, with which requests for single memories begin."""
REFUSAL = "!"
"""First character of an error answer."""

Answers = dict[str, str]
"""JSON answers by request; a refusal is `REFUSAL` with code and message."""


class Questions(NamedTuple):
    """What each damaged store is asked."""

    memories: list[str]
    queries: list[str]


class Observation(msgspec.Struct):
    """What one store did."""

    answers: Answers
    problems: tuple[str, ...] = ()
    """Findings of `verify`, or the error with which it failed."""
    changed: bool = False
    """Whether `verify` changed a file."""
    refused: str | None = None
    """Why the store was not opened."""
    damage: str | None = None
    """Why the store was read-only."""
    lost: int = 0
    """Events that `repair` could not keep."""
    stored: bool = False
    """Whether a store after the damage was acknowledged."""
    lost_later: str | None = None
    """How what was acknowledged is answered by the next process; None if it is there."""
    unrepaired: str | None = None
    """Why `repair` failed, or what `verify` found in its result."""
    snapshot_used: bool = False
    """An unusable snapshot is deleted, so one that still exists was used."""
    status: int | None = None
    """Exit status of the process, if it ended."""


async def build(scratch: Path) -> tuple[dict[str, Path], Questions]:
    """Return a store that was closed in order, a later state of it as kill -9 leaves it, and questions for both."""
    texts = some_sentences(WORDS, IN_FILE + IN_WAL)
    folder, closed, killed = (scratch / name for name in ("store", "closed", "killed"))
    async with open_store(folder) as store:
        memories = [await store.store(content=text) for text in texts[:IN_FILE]]
        await store.call("memory_delete", id=memories[0])
        await store.call("memory_delete", id=memories[1], soft=False)
        with anyio.fail_after(PATIENCE):
            while not await ask(store.hub.store, TakeSnapshot(after=0)):
                pass  # an event that follows the erasure cancelled it
    shutil.copytree(folder, closed, ignore=TRANSIENT)
    async with open_store(folder) as store:
        await ask(store.hub.store, TakeSnapshot(after=0))
        memories += [await store.store(content=text) for text in texts[IN_FILE:]]
        shutil.copytree(folder, killed, ignore=TRANSIENT)  # the state that a kill at this moment would leave
    queries = [first_words(text, QUERY_WORDS) for text in texts[2 : 2 + 3 * QUERIES : 3]]
    return {"closed": closed, "killed": killed}, Questions(memories, queries)


def examine(child: Child, folder: Path) -> Observation:
    """Verify a store, open it and query it in a child process of `observe`, which is replaced when a store ends it."""
    seen = Observation({})
    child.pipe.send(folder)
    try:
        while (found := child.receive()) is not None:
            match found:
                case (request, answer):
                    seen.answers[request] = answer
                case _:
                    seen = msgspec.structs.replace(seen, **found)
    except (EOFError, TimeoutError):
        seen.status = child.process.exitcode or -signal.SIGKILL  # as which one that hangs is ended
        child.restart()
    else:
        seen.snapshot_used = any((folder / SNAPSHOTS).glob("*/*"))
    return seen


def observe(parent: Connection, questions: Questions) -> None:
    """Send fields of the observation of each folder that is received, pairs of request and answer, and None."""
    load = shared_models()
    while True:
        folder: Path = parent.recv()
        problems, changed = _verify(folder)
        parent.send({"problems": problems, "changed": changed})
        if problems:
            lost, unrepaired = _repair(folder)
            parent.send({"lost": lost, "unrepaired": unrepaired})
        try:
            if memory := anyio.run(_query, folder, load, questions, parent):
                parent.send({"stored": True, "lost_later": anyio.run(_missing, folder, load, memory)})
        except (LogError, Fault, OSError) as error:
            parent.send({"refused": f"{type(error).__name__}: {error}"})
        parent.send(None)


def _verify(folder: Path) -> tuple[tuple[str, ...], bool]:
    """Return the problems that `context-graph verify` would name, and whether it changed a file."""
    before = listing(folder)
    try:
        found = list(verify(folder, spare=SNAPSHOT).problems)
        if not found:
            found += Snapshots(folder, KeyRing.of((folder / "keys").read_bytes())).problems()
        problems = tuple(f"{one.file}: {one.what}" for one in found)
    except Exception as error:
        problems = (f"verification failed: {type(error).__name__}: {error}",)
    return problems, listing(folder) != before


def _repair(folder: Path) -> tuple[int, str | None]:
    """Return how many events a repair loses, and why it fails."""
    target = folder.with_name("repaired")
    shutil.rmtree(target, ignore_errors=True)
    try:
        lost = repair(folder, target, spare=SNAPSHOT).lost
        problems = verify(target).problems
    except LogError as error:
        return 0, str(error)
    return sum(one.last - one.first + 1 for one in lost), "; ".join(one.what for one in problems) or None


async def _query(folder: Path, load: Load, questions: Questions, parent: Connection) -> str | None:
    """Ask everything, then store a memory; return its id if that is acknowledged."""
    async with open_store(folder, load=load) as store:
        state = await store.call("status")
        parent.send({"damage": state["read_only"]})
        parent.send(("status", json.dumps([state["memories"], state["log"], state["namespaces"]])))
        requests: list[tuple[str, dict[str, Any]]] = [
            *((MEMORY, {"id": memory, "include_embeddings": True}) for memory in questions.memories),
            *(("search_graph", {"query": text, "asked_at": ASKED_AT, "explain": True}) for text in questions.queries),
        ]
        for tool, arguments in requests:
            try:
                answer = await store.call(tool, **arguments)
                shown = json.dumps(answer.get("results", answer), sort_keys=True)
            except Fault as fault:
                shown = _refusal(fault)
            parent.send((f"{tool} {arguments}", shown))
        try:
            return await store.store(content=LATER)
        except Fault:
            return None


async def _missing(folder: Path, load: Load, memory: str) -> str | None:
    """Return how a store answers for a memory that was acknowledged; None if it has it."""
    async with open_store(folder, load=load) as store:
        try:
            content = (await store.call(MEMORY, id=memory))["content"]
        except Fault as fault:
            return _refusal(fault)
        return None if content == LATER else content


def _refusal(fault: Fault) -> str:
    return f"{REFUSAL}{fault.code} {fault.message}"
