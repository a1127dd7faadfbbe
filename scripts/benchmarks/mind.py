"""`scripts/bench mind`: stores a stream of memories, and judges learning, purpose and drift."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean, median
from typing import Any, NamedTuple

import anyio
from typer import BadParameter

from actors.api.params.fields import DEFAULT_NAMESPACE
from actors.api.pulse import read_pulse
from actors.workspace.messages import Pulse
from benchmarks.datasets import DataFolder, Document, read_dataset
from benchmarks.report import JsonOption, Verdict, counter, publish, workplace
from benchmarks.store import Answer, Store, open_store
from events.vocabulary.values import DriftLevel

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
CLEARLY = 0.05
"""Least distance of a mean from the running median."""
VARIED = 0.95
"""Least share of the stores with a pulse of their own."""
LEVELS = [level.value for level in DriftLevel]


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


def judge_learning(stream: Stream) -> list[Verdict]:
    """Return the verdicts on what was learned of each memory when it was stored."""
    quadrants = Counter(memory.pulse.quadrant for memory in stream.all)
    figures = {"different": len({memory.pulse for memory in stream.all}), "stores": len(stream.all)}
    return [
        _beside_median("entropy of off-topic memories above the running median", stream, stream.off_topic, 1),
        _beside_median("entropy of repeats below the running median", stream, stream.repeats, -1),
        Verdict("at least three quadrants among memories", dict(quadrants), len(quadrants) >= 3),
        Verdict("pulses differ", figures, figures["different"] >= VARIED * figures["stores"]),
    ]


def _beside_median(what: str, stream: Stream, some: list[StoredMemory], side: int) -> Verdict:
    """Compare each entropy with the median of all memories stored before."""
    entropies = [memory.entropy for memory in stream.all]
    start = stream.all.index(some[0])
    gaps = [entropies[place] - median(entropies[:place]) for place in range(start, start + len(some))]
    beyond = sum(side * gap > 0 for gap in gaps)
    return Verdict(
        what,
        {
            "mean entropy": fmean(memory.entropy for memory in some),
            "running median": median(entropies[:start]),
            "mean gap": fmean(gaps),
            "least gap": min(gaps, key=lambda gap: side * gap),
            "beyond": f"{beyond} of {len(some)}",
        },
        beyond == len(some) and side * fmean(gaps) >= CLEARLY,
    )


async def judge_goals(store: Store, namespace: str, stream: Stream) -> list[Verdict]:
    """Discover goals, and judge how they describe the stream."""
    found = await store.call("discover_goals", namespace=namespace)
    star = found["north_star"]
    if star is None:
        return [Verdict("a North Star is found", {"goals": len(found["discovered_goals"])}, holds=False)]
    others = {
        goal["description"]: {name: goal[name] for name in ("level", "coherence", "member_count")}
        for goal in found["discovered_goals"]
        if goal["goal_id"] != star["goal_id"]
    }
    described = {name: star[name] for name in ("description", "coherence", "confidence", "member_count")}
    on, off = await _alignment(store, stream.topic), await _alignment(store, stream.off_topic)
    return [
        Verdict("a North Star is found", described, found["north_star_chosen"]),
        _description(star["description"], stream),
        Verdict("other goals", others),
        Verdict(
            "on-topic memories serve it better than off-topic ones",
            {"on topic": on, "off topic": off},
            on["alignment"] > off["alignment"],
        ),
    ]


def _description(description: str, stream: Stream) -> Verdict:
    """Count the memories with each word of a description: several of the topic, none of the off-topic ones."""

    def count(word: str, memories: list[StoredMemory]) -> int:
        return sum(re.search(rf"\b{re.escape(word)}\b", one.text.lower()) is not None for one in memories)

    words = re.findall(r"\w+", description.lower())
    counts = {word: count(word, stream.topic) for word in words}
    elsewhere = sum(count(word, stream.off_topic) for word in words)
    return Verdict(
        "its description names the topic",
        {"memories of the topic with the word": counts, "off-topic memories with any of them": elsewhere},
        elsewhere == 0 and bool(counts) and min(counts.values()) >= 2,
    )


async def _alignment(store: Store, memories: list[StoredMemory]) -> dict[str, Any]:
    """Return the mean alignment of memories with the North Star, and how many are in each band."""
    known = [await store.call("memory_retrieve", id=memory.id) for memory in memories]
    bands = Counter(one["alignmentBand"] for one in known)
    return {"alignment": fmean(one["thetaToNorthStar"] for one in known), **bands}


def judge_drift(before: Answer, after: Answer, stored: str) -> Verdict:
    """Compare the drift before and after memories of another topic were stored."""
    levels = [{key: report[key] for key in ("level", "similarity")} for report in (before, after)]
    return Verdict(
        "memories of another topic lead to a worse level",
        {"stored": stored, "before": levels[0], "after": levels[1]},
        LEVELS.index(after["level"]) > LEVELS.index(before["level"]),
    )


async def judge_correction(store: Store, namespace: str) -> Verdict:
    """Correct the drift, and measure it again with another call."""
    done = await store.call("trigger_drift_correction", namespace=namespace)
    after = await store.call("get_alignment_drift", namespace=namespace)
    names = ("strategy_applied", "applied", "alignment_before", "alignment_after", "level_before", "level_after")
    return Verdict(
        "a correction's alignment is measured, and no worse than before",
        {name: done[name] for name in names} | {"measured again": after["similarity"]},
        done["alignment_after"] == after["similarity"] and done["alignment_after"] >= done["alignment_before"],
    )


async def measure(folder: Path, plan: Plan, advance: Callable[[], object]) -> dict[str, list[Verdict]]:
    """Store the stream, discover goals, drift and correct; return the verdicts."""
    async with open_store(folder) as store:
        parts = (plan.topic, plan.off_topic, plan.repeats)
        stream = Stream(*[await inject(store, part, advance) for part in parts])
        sections = {
            "learning": judge_learning(stream),
            "purpose": await judge_goals(store, plan.namespace, stream),
        }
        before = await store.call("get_alignment_drift", namespace=plan.namespace)
        other = await inject(store, plan.other, advance)
        if before["status"] == "measured":  # without a North Star there is neither alignment nor drift
            after = await store.call("get_alignment_drift", namespace=plan.namespace)
            sections["drift"] = [
                judge_drift(before, after, f"{len(other)} of {plan.other_name}"),
                await judge_correction(store, plan.namespace),
            ]
        return sections


def mind(folder: DataFolder, *, as_json: JsonOption = False) -> None:
    """Store a stream of real memories, and judge learning, purpose and drift."""
    plan = make_plan(folder)
    counts = {"topic": len(plan.topic), "off_topic": len(plan.off_topic), "repeats": len(plan.repeats)}
    with workplace() as (scratch, bar):
        advance = counter(bar, "the stream", sum(counts.values()) + len(plan.other))
        sections = anyio.run(measure, scratch, plan, advance)
    summary = f"{', '.join(f'{count} {name}' for name, count in counts.items())} memories of {plan.namespace}"
    publish(sections, summary, as_json=as_json, namespace=plan.namespace, stream=counts)
