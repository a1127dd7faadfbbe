"""`scripts/bench mind`: stores a stream of memories, and judges what is learned from each."""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean, median
from typing import NamedTuple

import anyio
from typer import BadParameter

from actors.api.params.fields import DEFAULT_NAMESPACE
from actors.api.pulse import read_pulse
from actors.workspace.messages import Pulse
from benchmarks.datasets import DataFolder, Document, read_dataset
from benchmarks.report import JsonOption, Verdict, counter, publish, workplace
from benchmarks.store import open_store

TOPIC = 180
"""Most memories of the topic, which is at most half of its namespace."""

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


class Plan(NamedTuple):
    """The documents to store, in order."""

    namespace: str
    topic: list[Document]
    off_topic: list[Document]
    repeats: list[Document]
    """Every other one with all metadata of its original, the others without session."""


class Learned(NamedTuple):
    """What was learned of a memory when it was stored."""

    entropy: float
    """How new it was."""
    pulse: Pulse


def make_plan(folder: Path) -> Plan:
    """Choose the stream from a data set; its topic is the first half of the first namespace.

    Raises:
        BadParameter: the namespace holds too little.
    """
    dataset = read_dataset(folder)
    name = _namespace(dataset.documents[0])
    here = [document for document in dataset.documents if _namespace(document) == name]
    topic = here[: min(TOPIC, len(here) // 2)]
    if len(topic) < len(OFF_TOPIC):
        raise BadParameter(f"{name} holds {len(here)} documents, too few for a stream")
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
    )


def _namespace(document: Document) -> str:
    return document.metadata.get("namespace", DEFAULT_NAMESPACE)


async def measure(folder: Path, plan: Plan, advance: Callable[[], object]) -> list[Verdict]:
    """Store the documents one after the other, each once the workspace has processed the one before; judge them."""
    learned: list[Learned] = []
    async with open_store(folder) as store:
        for document in (*plan.topic, *plan.off_topic, *plan.repeats):
            answer = await store.call("inject_context", **document.store_arguments(), rationale="a turn of the stream")
            learned.append(Learned(answer["utl"]["entropy"], await read_pulse(store.context)))
            advance()
    return judge(learned, len(plan.topic))


def judge(learned: Sequence[Learned], topic: int) -> list[Verdict]:
    """Return the verdicts on a stream that begins with `topic` memories of its topic."""
    quadrants = Counter(one.pulse.quadrant for one in learned)
    figures = {"different": len({one.pulse for one in learned}), "stores": len(learned)}
    entropies = [one.entropy for one in learned]
    repeats = topic + len(OFF_TOPIC)
    return [
        _beside_median("entropy of off-topic memories above the running median", entropies[:repeats], topic, 1),
        _beside_median("entropy of repeats below the running median", entropies, repeats, -1),
        Verdict("at least three quadrants among memories", dict(quadrants), len(quadrants) >= 3),
        Verdict("pulses differ", figures, figures["different"] >= VARIED * figures["stores"]),
    ]


def _beside_median(what: str, entropies: Sequence[float], start: int, side: int) -> Verdict:
    """Compare each entropy from `start` on with the median of all memories stored before."""
    gaps = [entropies[place] - median(entropies[:place]) for place in range(start, len(entropies))]
    beyond = sum(side * gap > 0 for gap in gaps)
    return Verdict(
        what,
        {
            "mean entropy": fmean(entropies[start:]),
            "running median": median(entropies[:start]),
            "mean gap": fmean(gaps),
            "least gap": min(gaps, key=lambda gap: side * gap),
            "beyond": f"{beyond} of {len(gaps)}",
        },
        beyond == len(gaps) and side * fmean(gaps) >= CLEARLY,
    )


def mind(folder: DataFolder, *, as_json: JsonOption = False) -> None:
    """Store a stream of real memories, and judge what is learned from each."""
    plan = make_plan(folder)
    counts = {"topic": len(plan.topic), "off_topic": len(plan.off_topic), "repeats": len(plan.repeats)}
    with workplace() as (scratch, bar):
        verdicts = anyio.run(measure, scratch, plan, counter(bar, "the stream", sum(counts.values())))
    summary = f"{', '.join(f'{count} {name}' for name, count in counts.items())} memories of {plan.namespace}"
    publish({"learning": verdicts}, summary, as_json=as_json, namespace=plan.namespace, stream=counts)
