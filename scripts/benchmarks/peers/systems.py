"""Who is compared: what each is called, how it is installed and started, how a turn is stored and a question asked."""

import json
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
from mcp import StdioServerParameters

from benchmarks.peers.client import Answer, Call
from benchmarks.peers.environments import extending_python, node_environment, place_minilm, python_environment
from benchmarks.retrieval.corpora import DEPTH, KEPT_AS_FIELDS, Document, content

MANY = 100
"""More memories than any of them is asked to read back at once."""


class System(msgspec.Struct, frozen=True, kw_only=True):
    """A memory server; its answers name each memory by a reference of its own."""

    name: str
    modes: tuple[str, ...]
    """The ways in which it searches, each measured by itself."""
    filters: bool
    """Whether every search of it can keep to one conversation; if not, each conversation gets a store of its own."""
    start: Callable[[Path, Path], StdioServerParameters]
    """How it is started, by the cache folder and that of its store; installs it first, which may be `Unavailable`."""
    keep: Callable[[Document], Call]
    """How a turn is stored."""
    search: Callable[[Document, str], list[Call]]
    """How a question is asked in one of the modes."""
    read: Callable[[Sequence[str]], list[Call]]
    """How memories are read back without searching, by their references."""
    named: Callable[[Sequence[Answer]], list[str]]
    """The references in the answers to a store, a search or a reading, best first."""
    lesser: str = ""
    """What it writes to its standard error when it searches by something less than was meant."""


def _command(command: Path, *arguments: str, **settings: str) -> StdioServerParameters:
    """Return how a command is started: all of them offline, with as many threads as this process may use."""
    shared = {name: os.environ[name] for name in ("OMP_NUM_THREADS",) if name in os.environ}
    settings = {**shared, "HF_HUB_OFFLINE": "1", **settings}
    return StdioServerParameters(command=str(command), args=list(arguments), env=settings)


def _known(document: Document, *keys: str) -> dict[str, str]:
    return {key: str(document.metadata[key]) for key in keys if key in document.metadata}


def _keep_here(turn: Document) -> Call:
    fields = {key: value for key, value in turn.metadata.items() if key in KEPT_AS_FIELDS}
    rest = {key: value for key, value in turn.metadata.items() if key not in KEPT_AS_FIELDS}
    return Call("store_memory", {"content": content(turn), "metadata": rest, **fields})


def _search_here(question: Document, mode: str) -> list[Call]:
    where = _known(question, "namespace", "asked_at")
    return [Call("search_graph", {"query": question.text, "top_k": DEPTH, "profile": mode, **where})]


def _named_here(answers: Sequence[Answer]) -> list[str]:
    """Return the ids of what was found, stored or read."""
    told = [one for answer in answers for one in answer.data.get("results", [answer.data])]
    return [one.get("fingerprintId") or one["id"] for one in told]


OURS = System(
    name="context-graph",
    modes=("auto",),
    filters=True,
    start=lambda _cache, store: _command(
        Path(sys.executable).parent / "context-graph", "serve", "--data", str(store / "data")
    ),
    keep=_keep_here,
    search=_search_here,
    read=lambda references: [Call("memory_retrieve", {"id": reference}) for reference in references],
    named=_named_here,
)


def _start_official(cache: Path, store: Path) -> StdioServerParameters:
    commands = node_environment(cache, "server-memory", "@modelcontextprotocol/server-memory@2026.8.31")
    return _command(commands / "mcp-server-memory", MEMORY_FILE_PATH=str(store / "memory.jsonl"))


def _keep_as_entity(turn: Document) -> Call:
    kind = str(turn.metadata.get("session", "turn"))
    entity = {"name": turn.id, "entityType": kind, "observations": [content(turn)]}
    return Call("create_entities", {"entities": [entity]})


def _search_official(question: Document, mode: str) -> list[Call]:
    """Ask for the question as it stands, or for each of its longer words.

    The search takes a query for one piece of text that an entity has to contain, which a question never is; an agent
    would ask for words.
    """
    words = dict.fromkeys(re.findall(r"\w{4,}", question.text.casefold()))
    return [Call("search_nodes", {"query": query}) for query in (words if mode == "words" else [question.text])]


def _entities(answers: Sequence[Answer]) -> list[str]:
    """Return first what most of the answers name."""
    found = Counter(entity["name"] for answer in answers for entity in answer.data.get("entities", []))
    return [name for name, _ in found.most_common()]


OFFICIAL = System(
    name="server-memory",
    modes=("question", "words"),
    filters=False,
    start=_start_official,
    keep=_keep_as_entity,
    search=_search_official,
    read=lambda _references: [Call("read_graph", {})],
    named=_entities,
)


def _start_agentrecall(cache: Path, store: Path) -> StdioServerParameters:
    # The package's own extra asks for an SDK of any version, and breaks with 2.
    commands = python_environment(cache, "agentrecall-db", ["agentrecall-db==0.2.0", "mcp==1.30.0"])
    return _command(commands / "agentrecall", "--db", str(store / "memory.db"), "serve")


def _tags(document: Document, *keys: str) -> list[str]:
    return list(_known(document, *keys).values())


def _records(answers: Sequence[Answer]) -> list[str]:
    """Return the ids of records: several in the structured part, or one as text."""
    told = [answer.data["result"] if answer.data else [json.loads(answer.text)] for answer in answers]
    return [str(record["id"]) for records in told for record in records]


AGENTRECALL = System(
    name="agentrecall-db",
    modes=("keyword",),
    filters=True,
    start=_start_agentrecall,
    keep=lambda turn: Call(
        "remember", {"content": content(turn), "tags": _tags(turn, "namespace"), "metadata": turn.metadata}
    ),
    search=lambda question, _mode: [
        Call("recall", {"query": question.text, "k": DEPTH, "tags": _tags(question, "namespace")})
    ],
    read=lambda _references: [Call("list_memories", {"limit": MANY})],
    named=_records,
)


def _start_service(cache: Path, store: Path) -> StdioServerParameters:
    commands = python_environment(cache, "mcp-memory-service", ["mcp-memory-service-lite==12.3.0"], extending_python())
    home = commands.parent / "home"
    place_minilm(cache, home / ".cache" / "mcp_memory" / "onnx_models" / "all-MiniLM-L6-v2" / "onnx")
    settings = {"MCP_MEMORY_BASE_DIR": str(store), "MCP_MEMORY_ONNX_ALLOW_DOWNLOAD": "0"}
    return _command(commands / "memory", "server", HOME=str(home), **settings)


def _keep_at_service(turn: Document) -> Call:
    metadata = {**turn.metadata, "tags": _tags(turn, "namespace", "session")}
    # Told that turns belong to a conversation, it doesn't take those that resemble each other for duplicates.
    conversation = str(turn.metadata.get("namespace", "all"))
    return Call("memory_store", {"content": content(turn), "metadata": metadata, "conversation_id": conversation})


_HASH = re.compile(r'(?:\bhash: |"content_hash": ")([0-9a-f]{64})', re.IGNORECASE)

SERVICE = System(
    name="mcp-memory-service",
    modes=("semantic", "hybrid"),
    filters=False,  # the hybrid search looks at tags only after it has cut its candidates
    start=_start_service,
    keep=_keep_at_service,
    search=lambda question, mode: [Call("memory_search", {"query": question.text, "mode": mode, "limit": DEPTH})],
    read=lambda _references: [Call("memory_list", {"page_size": MANY})],
    named=lambda answers: [found for answer in answers for found in _HASH.findall(answer.text)],
    lesser="using hash embeddings",
)

PEERS = (OFFICIAL, AGENTRECALL, SERVICE)
