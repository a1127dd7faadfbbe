"""`scripts/bench topics`: whether topics that are known are found as goals, and how these are called."""

import random
import re
from collections import Counter, defaultdict
from pathlib import Path
from statistics import fmean
from typing import Annotated

import anyio
from sklearn.metrics import adjusted_rand_score
from typer import BadParameter, Option

from actors.comparator.messages import ReadGoals
from actors.runtime.ask import ask
from actors.text.text_equivalence import ENGLISH
from benchmarks import SEED
from benchmarks.datasets import Document, ParentFolder, find_datasets
from benchmarks.report import JsonOption, Verdict, publish, workplace
from benchmarks.store import open_store
from events.vocabulary.values import DriftLevel
from projections.spaces.lexical import STOP_WORDS

TOPICS, TEXTS = (5, 12), (10, 60)
"""Least and most topics of a store, and texts of a topic."""
LARGE = 12
"""Texts from which on a topic must have a goal."""
MIN_ARI = 0.6
"""Least mean over the stores of a data set: of conversations, single stores deviate from it by .16."""
LIBRARIES = {
    "numpy": r"\bnp\.|\bnumpy\b",
    "pandas": r"\bpd\.|\bDataFrame\b",
    "matplotlib": r"\bplt\.|matplotlib",
    "json": r"\bjson\.",
    "re": r"\bre\.(sub|match|compile|search|findall|split)",
    "datetime": r"\bdatetime\.|\btimedelta|strftime|strptime",
    "os": r"\bos\.(path|walk|listdir|makedirs|remove|environ|getcwd)",
    "subprocess": r"\bsubprocess\.",
    "socket": r"\bsocket\.",
    "http": r"\brequests\.|urllib|urlopen|httplib",
    "csv": r"\bcsv\.",
    "random": r"\brandom\.",
    "sql": r"cursor\(|sqlalchemy|sqlite",
    "xml": r"etree|ElementTree|minidom",
    "logging": r"\blogging\.",
    "hashlib": r"\bhashlib\.",
    "tensorflow": r"\btf\.",
    "yaml": r"\byaml\.",
    "boto": r"\bboto",
    "tkinter": r"\btk\.|Tkinter",
}
"""How a function shows which library it uses; one that uses several belongs to no topic."""
NO_NAMES = STOP_WORDS | frozenset(ENGLISH["topics"]["measures"].split())


def topic_of(document: Document) -> str | None:
    """Return the topic of a document: its library for code, else its session's page, else its namespace."""
    if document.metadata.get("modality") == "code":
        used = [name for name, pattern in LIBRARIES.items() if re.search(pattern, document.content)]
        return used[0] if len(used) == 1 else None
    namespace = document.metadata.get("namespace")
    return namespace if namespace is not None else document.metadata.get("session")


def choose(documents: list[Document], rng: random.Random) -> list[tuple[str, str]]:
    """Return the texts of a store, shuffled, each with its topic; those of a conversation follow each other there.

    Raises:
        BadParameter: there are too few topics.
    """
    topics: dict[str, list[Document]] = defaultdict(list)
    for document in documents:
        if (topic := topic_of(document)) is not None:
            topics[topic].append(document)
    able = sorted(topic for topic, members in topics.items() if len(members) >= TEXTS[0])
    if len(able) < TOPICS[0]:
        raise BadParameter(f"{len(able)} topics of {TEXTS[0]} texts are too few")
    chosen = []
    for topic in rng.sample(able, min(rng.randint(*TOPICS), len(able))):
        members = topics[topic]
        count = min(rng.randint(*TEXTS), len(members))
        if "speaker" in members[0].metadata:
            start = rng.randrange(len(members) - count + 1)
            members = members[start : start + count]
        chosen += [(document.content, topic) for document in rng.sample(members, count)]
    rng.shuffle(chosen)
    return chosen


async def judge_store(folder: Path, texts: list[tuple[str, str]]) -> Verdict:
    """Store plain texts, without session or metadata, discover goals twice, and measure drift."""
    async with open_store(folder) as store:
        labels = {await store.store(content=text): topic for text, topic in texts}
        found = await store.call("discover_goals", max_goals=20, min_confidence=0)
        again = await store.call("discover_goals", max_goals=20, min_confidence=0)
        drift = await store.call("get_alignment_drift")
        goals = (await ask(store.hub.comparator, ReadGoals(namespace="default"))).goals
    goal_of = {str(member): str(goal.goal) for goal in goals for member in goal.members}
    ari = adjusted_rand_score([*labels.values()], [goal_of.get(memory, memory) for memory in labels])
    commonest = [Counter(labels[str(member)] for member in goal.members).most_common(1)[0] for goal in goals]
    named = {topic for (topic, count), goal in zip(commonest, goals, strict=True) if count * 2 > len(goal.members)}
    sizes = Counter(labels.values())
    large = {topic for topic, size in sizes.items() if size >= LARGE}
    names = [goal.description for goal in goals]
    wrong = [name for name in names if {term.casefold() for term in name.split(", ")} & NO_NAMES]
    same = found["discovered_goals"] == again["discovered_goals"]
    return Verdict(
        f"{len(sizes)} topics of {len(texts)} texts",
        {
            "adjusted Rand index": ari,
            "topics with a goal": f"{len(large & named)} of {len(large)}",
            "goals": len(goals),
            "named by a stop word or unit": wrong,
            "the same again": same,
            "drift": f"{drift['level']} {drift.get('similarity')}",
            "names": "; ".join(names),
        },
        not wrong and same and drift["level"] in {DriftLevel.NONE, DriftLevel.LOW},
    )


def topics(
    folder: ParentFolder,
    stores: Annotated[int, Option(min=1, help="Stores for each data set.")] = 4,
    *,
    as_json: JsonOption = False,
) -> None:
    """Store texts of known topics, and judge the goals that are found, their names, and the drift from them."""
    sections: dict[str, list[Verdict]] = {}
    with workplace() as (scratch, bar):
        for dataset in find_datasets(folder):
            rng = random.Random(SEED)
            for number in bar.track(range(stores), description=dataset.name):
                folder = scratch / f"{dataset.name}-{number}"
                verdict = anyio.run(judge_store, folder, choose(dataset.documents, rng))
                sections.setdefault(dataset.name, []).append(verdict)
    for verdicts in sections.values():
        mean = fmean(verdict.figures["adjusted Rand index"] for verdict in verdicts)
        verdicts.append(Verdict(f"the mean adjusted Rand index is at least {MIN_ARI}", {"mean": mean}, mean >= MIN_ARI))
    publish(sections, as_json=as_json)
