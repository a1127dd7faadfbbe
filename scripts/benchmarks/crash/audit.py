"""Compares a store with everything that was acknowledged: through a client, and in its files."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from uuid import UUID, uuid5

import msgspec

from benchmarks.crash.workload import BATCH, WORD, Client, Memory, State
from benchmarks.store import read_log
from events.verify.report import Report
from events.verify.verification import verify
from events.vocabulary import MemoryStored, Shredded
from events.vocabulary.codec import is_memory

NOT_FOUND = -32010


class Comparison(msgspec.Struct, frozen=True):
    """Every acknowledged memory, compared with the running store."""

    acknowledged: int
    wrong: tuple[str, ...]
    """Memories that differ from what was acknowledged, in words."""
    surplus: int
    """Memories in the store beyond the acknowledged ones."""


class FileAudit(msgspec.Struct, frozen=True):
    """The files of a stopped store, compared with the journals."""

    report: Report
    duplicated: tuple[str, ...]
    """Keys of requests that stored more memories than requested."""
    missing: tuple[str, ...]
    """Keys of requests that stored fewer memories than acknowledged."""
    erased: int
    """Erased memories that were searched for."""
    leaked: tuple[str, ...]
    """Their words and embeddings found in files, with the file."""


def compare(clients: Sequence[Client]) -> Comparison:
    """Read every acknowledged memory through one client, while all clients are paused."""
    connection = clients[0].connection
    memories = [memory for client in clients for memory in client.memories.values()]
    wrong = []
    for memory in memories:
        reply = connection.call("memory_retrieve", id=memory.id)
        if memory.state is State.ERASED:
            right = reply.code == NOT_FOUND and "erased" in reply.answer["error"]["message"]
        else:
            right = (reply.answer.get("content"), reply.answer.get("state")) == (memory.content, memory.state)
        if not right:
            wrong.append(f"{memory.id} is {reply.answer.get('error', reply.answer.get('state'))}, not {memory.state}")
    counts = connection.ask("store/status", {}).answer["memories"]
    return Comparison(len(memories), tuple(wrong), sum(counts.values()) - len(memories))


def audit_files(folder: Path, clients: Sequence[Client]) -> FileAudit:
    """Verify a store that no process has open, and compare its log with the journals."""
    report = verify(folder)
    stored = Counter(
        str(envelope.correlation_id)
        for envelope in read_log(folder)
        if isinstance(envelope.event, MemoryStored)
        or (isinstance(envelope.event, Shredded) and is_memory(envelope.event.kind))
    )
    wanted = {key: count for client in clients for key, count in client.stored_by_key.items()}
    # Each item of a batch is stored under a key of its own, derived from the key of the batch.
    parents = {str(uuid5(UUID(key), str(index))): key for key in wanted for index in range(max(BATCH))}
    stored = Counter(parents.get(key, key) for key in stored.elements())
    memories = [memory for client in clients for memory in client.memories.values()]
    kept = {memory.content for memory in memories if memory.state is not State.ERASED}
    erased = [one for one in memories if one.state is State.ERASED and one.content not in kept]
    return FileAudit(
        report,
        tuple(key for key, count in stored.items() if count > wanted.get(key, 0)),
        tuple(key for key, count in wanted.items() if count > stored[key]),
        len(erased),
        tuple(leaks(folder, erased)),
    )


def leaks(folder: Path, memories: Iterable[Memory]) -> Iterator[str]:
    """Yield every word and every embedding of these memories that a file of the folder contains."""
    memories = list(memories)
    words = {word.encode(): memory.id for memory in memories for word in memory.content.split()}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        content = path.read_bytes()
        for found in {match[1] for match in WORD.finditer(content)} & words.keys():
            yield f"{found.decode()} of {words[found]} in {path.relative_to(folder)}"
        for memory in memories:
            if any(trace in content for trace in memory.traces):
                yield f"an embedding of {memory.id} in {path.relative_to(folder)}"
