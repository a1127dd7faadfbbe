"""What is there of what was acknowledged: asked of the running store through a client, and read from its files."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from uuid import UUID, uuid5

import msgspec

from benchmarks.crash.client import BATCH, ERASED, WORD, Client, Memory
from events.storage.duckdb_log import DuckDBLog
from events.verify.verification import Report, verify
from events.vocabulary import MemoryStored, Shredded

NOT_FOUND = -32010
STATUS = "context-graph://status"


class Compared(msgspec.Struct, frozen=True):
    """What a client was told of all that was acknowledged."""

    acknowledged: int
    found: int
    wrong: tuple[str, ...]
    """What isn't as it was acknowledged, in words."""
    surplus: int
    """Memories that the store counts beyond those that were acknowledged."""


class Remains(msgspec.Struct, frozen=True):
    """What the files of a stopped store hold."""

    report: Report
    duplicated: tuple[str, ...]
    """The keys of requests that stored more than they asked for."""
    missing: tuple[str, ...]
    """The keys of requests of which the log holds less than was acknowledged."""
    erased: int
    """Erased memories that were looked for."""
    betrayed: tuple[str, ...]
    """What of them stands in a file, with its name."""


def compare(clients: Sequence[Client]) -> Compared:
    """Ask one client for everything that any of them was acknowledged; nobody else may ask meanwhile."""
    window = clients[0].window
    wrong, found = [], 0
    memories = [memory for client in clients for memory in client.memories.values()]
    for memory in memories:
        reply = window.call("memory_retrieve", id=memory.id)
        if memory.state == ERASED:
            right = reply.code == NOT_FOUND and "erased" in reply.answer["error"]["message"]
            seen = str(reply.answer.get("error", reply.answer.get("state")))
        else:
            right = (reply.answer.get("content"), reply.answer.get("state")) == (memory.content, memory.state)
            seen = str(reply.answer.get("error", reply.answer.get("state")))
        found += right
        if not right:
            wrong.append(f"{memory.id} is {seen}, not {memory.state}")
    (content,) = window.ask("resources/read", {"uri": STATUS}).answer["contents"]
    counts = msgspec.json.decode(content["text"])["memories"]
    return Compared(len(memories), found, tuple(wrong), sum(counts.values()) - len(memories))


def read(folder: Path, clients: Iterable[Client]) -> Remains:
    """Check the files of a store that nobody has open."""
    report = verify(folder)
    log = DuckDBLog(folder)
    try:
        stored = Counter(
            str(envelope.correlation_id)
            for envelope in log.read()
            if isinstance(envelope.event, MemoryStored)
            or (isinstance(envelope.event, Shredded) and envelope.event.kind.startswith("memory_stored"))
        )
    finally:
        log.close()
    wanted = {key: count for client in clients for key, count in client.wanted.items()}
    # Each item of a batch is stored as a request of its own, whose key follows from the key of the batch.
    belongs = {str(uuid5(UUID(key), str(index))): key for key in wanted for index in range(max(BATCH))}
    stored = Counter(belongs.get(key, key) for key in stored.elements())
    gone = erased(clients)
    return Remains(
        report,
        tuple(key for key, count in stored.items() if count > wanted.get(key, 0)),
        tuple(key for key, count in wanted.items() if count > stored[key]),
        len(gone),
        tuple(betrayed(folder, gone)),
    )


def erased(clients: Iterable[Client]) -> list[Memory]:
    """Return the erased memories of which no copy is kept, so that nothing of them may be anywhere."""
    memories = [memory for client in clients for memory in client.memories.values()]
    kept = {memory.content for memory in memories if memory.state != ERASED}
    return [memory for memory in memories if memory.state == ERASED and memory.content not in kept]


def betrayed(folder: Path, memories: Iterable[Memory]) -> Iterator[str]:
    """Yield what stands in a file of the folder: a word of one of these memories, or a piece of its embeddings."""
    words = {word.encode(): memory.id for memory in memories for word in memory.content.split()}
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        content = path.read_bytes()
        for found in {match[1] for match in WORD.finditer(content)} & words.keys():
            yield f"{found.decode()} of {words[found]} in {path.relative_to(folder)}"
        for memory in memories:
            if any(trace in content for trace in memory.traces):
                yield f"an embedding of {memory.id} in {path.relative_to(folder)}"
