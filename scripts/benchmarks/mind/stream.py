"""The stream on which the mind is watched: a topic, what has nothing to do with it, and what was said before."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
from typer import BadParameter

from actors.api.context import Context, read_pulse
from actors.api.operations.memories import inject_context
from actors.api.operations.workspace import get_workspace_status
from actors.api.params.fields import DEFAULT_NAMESPACE
from actors.api.params.memories import InjectContext
from actors.api.params.mind import GetWorkspaceStatus
from actors.workspace.messages import Pulse
from benchmarks.retrieval.corpora import Document, content, memory, read_documents, read_judgements

TOPIC = 180
"""Memories of the topic, at most; at most half of what its namespace holds."""

OTHER = 100
"""Memories of another topic, at most."""

QUESTIONS = 20

OFF_TOPIC = (
    "Basalt columns form where a lava flow cools slowly and shrinks into hexagonal joints.",
    "Value added tax on imported machinery is due at the customs office of entry.",
    "In the Najdorf Black answers on the fifth move with a6, which takes b5 from the knights.",
    "A receiver advertises a smaller TCP window when its buffer fills faster than it is drained.",
    "Torque the cylinder head bolts to 90 newton metres in three passes, from the centre outwards.",
    "Every night krill rise two hundred metres to graze on diatoms.",
    "The Hanseatic League lost the Steelyard and with it its London privileges in 1598.",
    "Penicillin binds the transpeptidase that cross-links a bacterial cell wall.",
    "The home signal stays at danger until the route through the junction is set and locked.",
    "Durum wheat needs a late nitrogen dressing to reach thirteen percent protein.",
)


Question = dict[str, Any]
"""Arguments of a search. The time stands in it, so that the same question finds the same later on."""


class Plan(msgspec.Struct, frozen=True):
    """Which documents are stored, in which order, and what is asked about them."""

    namespace: str
    topic: list[Document]
    off_topic: list[Document]
    repeats: list[Document]
    """By turns said again at the end, in no session, and word for word with all that was known of it."""
    repeated: list[int]
    """The place in the topic of what each repeat says again."""
    other: list[Document]
    other_name: str
    rest: list[Document]
    """Of the corpus, in their own namespaces."""
    questions: list[Question]
    """That the topic answers."""


class Told(msgspec.Struct, frozen=True):
    """A memory that was stored, and what was said of it."""

    memory: str
    text: str
    utl: dict[str, float]
    emotional_weight: float
    phase: float
    pulse: Pulse
    ignited: int
    """How many memories entered the workspace when it was the focus."""

    @property
    def entropy(self) -> float:
        """How new it was."""
        return self.utl["entropy"]

    @property
    def coherence(self) -> float:
        """How well it tied in."""
        return self.utl["coherence"]


class Heard(msgspec.Struct, frozen=True):
    """The stream as it was stored."""

    topic: list[Told]
    off_topic: list[Told]
    repeats: list[Told]

    @property
    def all(self) -> list[Told]:
        """Return the memories in the order in which they were stored."""
        return [*self.topic, *self.off_topic, *self.repeats]


def plan(folder: Path, namespace: str | None) -> Plan:
    """Choose the documents of a BEIR folder that make up the stream.

    Args:
        folder: With corpus.jsonl, queries.jsonl and qrels/test.tsv.
        namespace: Whose first half is the topic; None for the first of the corpus.

    Raises:
        BadParameter: there is no such namespace, it holds too little, or no query is about the topic alone.
    """
    corpus = [document for document in read_documents(folder / "corpus.jsonl") if content(document)]
    names = list(dict.fromkeys(_namespace(document) for document in corpus))
    name = names[0] if namespace is None else namespace
    if name not in names:
        raise BadParameter(f"{folder} has no namespace {name}")
    here = [document for document in corpus if _namespace(document) == name]
    topic = here[: min(TOPIC, len(here) // 2)]
    if len(topic) < len(OFF_TOPIC):
        raise BadParameter(f"{name} holds {len(here)} documents, too few for a stream")
    elsewhere = next((other for other in names if other != name), None)
    another = [document for document in corpus if _namespace(document) == elsewhere] or here[len(here) // 2 :]
    other = another[:OTHER]
    used = {document.id for document in (*topic, *other)}
    repeated = [place * len(topic) // len(OFF_TOPIC) for place in range(len(OFF_TOPIC))]
    last = {key: value for key, value in topic[-1].metadata.items() if key in {"namespace", "created_at"}}
    again = [topic[place].metadata if number % 2 else last for number, place in enumerate(repeated)]
    asked_at = last.get("created_at", datetime.now(UTC).isoformat())
    about = _answered(folder, topic)
    if not about:
        raise BadParameter(f"no query of {folder} is answered by the first documents of {name}")
    return Plan(
        namespace=name,
        topic=topic,
        off_topic=[Document(id=f"off topic {place}", text=text, metadata=last) for place, text in enumerate(OFF_TOPIC)],
        repeats=[
            Document(id=f"repeat {place}", text=content(topic[place]), metadata=metadata)
            for place, metadata in zip(repeated, again, strict=True)
        ],
        repeated=repeated,
        other=[_moved(document, name) for document in other],
        other_name="the second half of the corpus" if elsewhere is None else f"namespace {elsewhere}",
        rest=[document for document in corpus if document.id not in used],
        questions=[{"query": text, "namespace": name, "asked_at": asked_at} for text in about[:QUESTIONS]],
    )


async def tell(context: Context, documents: Sequence[Document], advance: Callable[[], object]) -> list[Told]:
    """Store documents one after the other; the workspace turns to each before the next comes."""
    told: list[Told] = []
    inside = await _inside(context)
    for document in documents:
        kept: dict[str, Any] = {**msgspec.structs.asdict(memory(document)), "rationale": "a turn of the stream"}
        answer = await inject_context(context, InjectContext(**kept))
        pulse = await read_pulse(context)
        now = await _inside(context)
        told.append(
            Told(
                memory=answer["fingerprintId"],
                text=content(document),
                utl=answer["utl"],
                emotional_weight=answer["emotionalWeight"],
                phase=answer["phase"],
                pulse=pulse,
                ignited=len(now - inside),
            )
        )
        inside = now
        advance()
    return told


async def _inside(context: Context) -> set[str]:
    """Return what is in the workspace once it is done with all that was stored."""
    status: dict[str, Any] = await get_workspace_status(context, GetWorkspaceStatus())
    return {one["id"] for one in status["ignited"]}


def _answered(folder: Path, documents: list[Document]) -> list[str]:
    """Return the queries of a folder that these documents answer, and no others."""
    ids = {document.id for document in documents}
    judgements = read_judgements(folder)
    queries = read_documents(folder / "queries.jsonl")
    return [query.text for query in queries if query.id in judgements and judgements[query.id].keys() <= ids]


def _namespace(document: Document) -> str:
    return document.metadata.get("namespace", DEFAULT_NAMESPACE)


def _moved(document: Document, namespace: str) -> Document:
    """Return a document as if it had been said in another namespace, in a session of its own there."""
    metadata = document.metadata | {"namespace": namespace}
    if "session" in metadata:
        metadata["session"] = f"{_namespace(document)} {metadata['session']}"
    return Document(id=document.id, text=content(document), metadata=metadata)
