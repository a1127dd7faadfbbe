"""The stream: memories of one topic, then off-topic ones, then repeats, then another topic."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from typer import BadParameter

from actors.api.params.fields import DEFAULT_NAMESPACE
from actors.api.pulse import read_pulse
from actors.workspace.messages import Pulse
from benchmarks.datasets import Document, read_dataset
from benchmarks.store import Store

TOPIC, OTHER = 180, 100
"""Most memories of the topic (at most half of its namespace) and of the other topic."""

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


class Plan(NamedTuple):
    """The documents to store, in order."""

    namespace: str
    topic: list[Document]
    off_topic: list[Document]
    repeats: list[Document]
    """Every other one with all metadata of its original, the others without session."""
    other: list[Document]
    other_name: str


class StoredMemory(NamedTuple):
    """A stored memory, and what was learned of it."""

    text: str
    id: str
    entropy: float
    """How new it was."""
    pulse: Pulse


class Stream(NamedTuple):
    """The stream as it was stored."""

    topic: list[StoredMemory]
    off_topic: list[StoredMemory]
    repeats: list[StoredMemory]

    @property
    def all(self) -> list[StoredMemory]:
        """Return the memories in the order in which they were stored."""
        return [*self.topic, *self.off_topic, *self.repeats]


def make_plan(folder: Path) -> Plan:
    """Choose the stream from a data set; its topic is the first half of the first namespace.

    Raises:
        BadParameter: the namespace holds too little.
    """
    dataset = read_dataset(folder)
    name, *others = dict.fromkeys(map(_namespace, dataset.documents))
    here = [document for document in dataset.documents if _namespace(document) == name]
    topic = here[: min(TOPIC, len(here) // 2)]
    if len(topic) < len(OFF_TOPIC):
        raise BadParameter(f"{name} holds {len(here)} documents, too few for a stream")
    elsewhere = others[0] if others else None
    another = [document for document in dataset.documents if _namespace(document) == elsewhere]
    other = (another or here[len(here) // 2 :])[:OTHER]
    repeated = [topic[place * len(topic) // len(OFF_TOPIC)] for place in range(len(OFF_TOPIC))]
    last = topic[-1].pick("namespace", "created_at")
    return Plan(
        namespace=name,
        topic=topic,
        off_topic=[Document(id=f"off topic {place}", text=text, metadata=last) for place, text in enumerate(OFF_TOPIC)],
        repeats=[
            Document(id=f"repeat {number}", text=one.content, metadata=one.metadata if number % 2 else last)
            for number, one in enumerate(repeated)
        ],
        other=[_move(document, name) for document in other],
        other_name="the second half of the corpus" if elsewhere is None else f"namespace {elsewhere}",
    )


def _namespace(document: Document) -> str:
    return document.metadata.get("namespace", DEFAULT_NAMESPACE)


def _move(document: Document, namespace: str) -> Document:
    """Return a document in another namespace, in a session of its own there."""
    metadata = document.metadata | {"namespace": namespace}
    if "session" in metadata:
        metadata["session"] = f"{_namespace(document)} {metadata['session']}"
    return Document(id=document.id, text=document.content, metadata=metadata)


async def inject(store: Store, documents: Sequence[Document], advance: Callable[[], object]) -> list[StoredMemory]:
    """Store documents one after the other; the workspace processes each before the next is stored."""
    stored: list[StoredMemory] = []
    for document in documents:
        answer = await store.call("inject_context", **document.store_arguments(), rationale="a turn of the stream")
        pulse = await read_pulse(store.context)
        stored.append(StoredMemory(document.content, answer["fingerprintId"], answer["utl"]["entropy"], pulse))
        advance()
    return stored
