"""The servers compared: how each is installed and started, how a turn is stored, a question asked, an answer read."""

import json
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
from mcp import StdioServerParameters

from benchmarks.datasets import DEPTH, Document
from benchmarks.peers.client import Answer, Call
from benchmarks.peers.environments import extending_python, node_environment, place_minilm, python_environment

MANY = 100
"""Page size above the number of memories that are read back."""


class System(msgspec.Struct, frozen=True, kw_only=True):
    """A memory server."""

    name: str
    modes: tuple[str, ...]
    """Its ways of searching, each measured alone."""
    filters: bool
    """Whether every search can be limited to one conversation; if not, each conversation gets a store of its own."""
    start: Callable[[Path, Path], StdioServerParameters]
    """Its command, from the cache folder and the store's folder; installs it first (`UnavailableError`)."""
    store: Callable[[Document], Call]
    search: Callable[[Document, str], list[Call]]
    read: Callable[[Sequence[str]], list[Call]]
    """Reads memories by their references, without searching."""
    references: Callable[[Sequence[Answer]], list[str]]
    """The server's own ids of the memories in its answers, best first."""
    degraded: str = ""
    """Text in its error output when it searches by something less than configured."""


def _command(command: Path, *arguments: str, **settings: str) -> StdioServerParameters:
    """Return a command that runs offline, with as many threads as this process may use."""
    shared = {name: os.environ[name] for name in ("OMP_NUM_THREADS",) if name in os.environ}
    settings = {**shared, "HF_HUB_OFFLINE": "1", **settings}
    return StdioServerParameters(command=str(command), args=list(arguments), env=settings)


def _tags(document: Document, *keys: str) -> list[str]:
    return [str(value) for value in document.pick(*keys).values()]


def _own_references(answers: Sequence[Answer]) -> list[str]:
    found = [one for answer in answers for one in answer.data.get("results", [answer.data])]
    return [one.get("fingerprintId") or one["id"] for one in found]


OURS = System(
    name="context-graph",
    modes=("auto",),
    filters=True,
    start=lambda _cache, store: _command(
        Path(sys.executable).parent / "context-graph", "serve", "--data", str(store / "data"), "--namespace", "default"
    ),
    store=lambda turn: Call("store_memory", turn.store_arguments()),
    search=lambda question, mode: [
        Call("search_graph", {**question.search_arguments(), "top_k": DEPTH, "profile": mode})
    ],
    read=lambda references: [Call("memory_retrieve", {"id": reference}) for reference in references],
    references=_own_references,
)


def _start_official(cache: Path, store: Path) -> StdioServerParameters:
    commands = node_environment(cache, "server-memory", "@modelcontextprotocol/server-memory@2026.8.31")
    return _command(commands / "mcp-server-memory", MEMORY_FILE_PATH=str(store / "memory.jsonl"))


def _store_entity(turn: Document) -> Call:
    kind = str(turn.metadata.get("session", "turn"))
    entity = {"name": turn.id, "entityType": kind, "observations": [turn.content]}
    return Call("create_entities", {"entities": [entity]})


def _search_official(question: Document, mode: str) -> list[Call]:
    """Search for the whole question, or for each of its longer words.

    This server finds entities that contain the query literally, so a whole question never matches.
    """
    words = dict.fromkeys(re.findall(r"\w{4,}", question.text.casefold()))
    return [Call("search_nodes", {"query": query}) for query in (words if mode == "words" else [question.text])]


def _entities(answers: Sequence[Answer]) -> list[str]:
    """Return the entities, those in most answers first."""
    found = Counter(entity["name"] for answer in answers for entity in answer.data.get("entities", []))
    return [name for name, _ in found.most_common()]


OFFICIAL = System(
    name="server-memory",
    modes=("question", "words"),
    filters=False,
    start=_start_official,
    store=_store_entity,
    search=_search_official,
    read=lambda _references: [Call("read_graph", {})],
    references=_entities,
)


def _start_agentrecall(cache: Path, store: Path) -> StdioServerParameters:
    # The package's own extra accepts any SDK version, and breaks with 2.
    commands = python_environment(cache, "agentrecall-db", ["agentrecall-db==0.2.0", "mcp==1.30.0"])
    return _command(commands / "agentrecall", "--db", str(store / "memory.db"), "serve")


def _records(answers: Sequence[Answer]) -> list[str]:
    """Return the ids of records: several in the structured part, or one as text."""
    found = [answer.data["result"] if answer.data else [json.loads(answer.text)] for answer in answers]
    return [str(record["id"]) for records in found for record in records]


AGENTRECALL = System(
    name="agentrecall-db",
    modes=("keyword",),
    filters=True,
    start=_start_agentrecall,
    store=lambda turn: Call(
        "remember", {"content": turn.content, "tags": _tags(turn, "namespace"), "metadata": turn.metadata}
    ),
    search=lambda question, _mode: [
        Call("recall", {"query": question.text, "k": DEPTH, "tags": _tags(question, "namespace")})
    ],
    read=lambda _references: [Call("list_memories", {"limit": MANY})],
    references=_records,
)


def _start_service(cache: Path, store: Path) -> StdioServerParameters:
    commands = python_environment(cache, "mcp-memory-service", ["mcp-memory-service-lite==12.3.0"], extending_python())
    home = commands.parent / "home"
    place_minilm(cache, home / ".cache" / "mcp_memory" / "onnx_models" / "all-MiniLM-L6-v2" / "onnx")
    settings = {"MCP_MEMORY_BASE_DIR": str(store), "MCP_MEMORY_ONNX_ALLOW_DOWNLOAD": "0"}
    return _command(commands / "memory", "server", HOME=str(home), **settings)


def _store_at_service(turn: Document) -> Call:
    metadata = {**turn.metadata, "tags": _tags(turn, "namespace", "session")}
    # With a conversation id, the server doesn't reject similar turns as duplicates.
    conversation = str(turn.metadata.get("namespace", "all"))
    return Call("memory_store", {"content": turn.content, "metadata": metadata, "conversation_id": conversation})


_HASH = re.compile(r'(?:\bhash: |"content_hash": ")([0-9a-f]{64})', re.IGNORECASE)

SERVICE = System(
    name="mcp-memory-service",
    modes=("semantic", "hybrid"),
    filters=False,  # hybrid search applies tags after cutting its candidates
    start=_start_service,
    store=_store_at_service,
    search=lambda question, mode: [Call("memory_search", {"query": question.text, "mode": mode, "limit": DEPTH})],
    read=lambda _references: [Call("memory_list", {"page_size": MANY})],
    references=lambda answers: [found for answer in answers for found in _HASH.findall(answer.text)],
    degraded="using hash embeddings",
)

PEERS = (OFFICIAL, AGENTRECALL, SERVICE)
