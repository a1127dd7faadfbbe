"""Whether the mind acts: a stream of memories goes through the real operations, and what was promised is measured.

What is judged is `stream`; the verdicts are those of `learning`, `serving`, `attending` and `candidates`.
"""

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import anyio
import msgspec
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from typer import Argument, Option

from actors.api.operations.facade import Operations
from actors.api.params.mind import GetConsciousnessState, GetWorkspaceStatus
from actors.comparator.messages import ReadGoals
from actors.hub.composition import open_hub
from benchmarks.mind.attending import attending, primed
from benchmarks.mind.candidates import candidates
from benchmarks.mind.learning import learning
from benchmarks.mind.serving import corrected, drift, drifted, goals, ranking, retrieve, without_goals
from benchmarks.mind.stream import Heard, Plan, Told, plan, tell
from benchmarks.mind.verdicts import Sections, Verdict, table
from benchmarks.retrieval.corpora import keep

SAMPLES = 40
"""Memories that are judged again, by all memories of the store."""


class Lived(NamedTuple):
    """What the first run of the store leaves behind."""

    told: list[Told]
    known: dict[str, Any]
    """All figures at its end."""
    sections: Sections


async def live(folder: Path, wanted: Plan, advance: Callable[[], object]) -> Lived:
    """Store the stream, discover goals, drift away, come back and attend; searches aren't primed meanwhile."""
    with open_hub(folder, priming=False) as hub:
        operations = Operations(hub)
        await operations.ready()
        opening = await tell(operations, wanted.topic[:1], advance)
        first = await operations.get_consciousness_state(GetConsciousnessState())
        topic = opening + await tell(operations, wanted.topic[1:], advance)
        off_topic = await tell(operations, wanted.off_topic, advance)
        heard = Heard(topic, off_topic, await tell(operations, wanted.repeats, advance))
        last = await operations.get_consciousness_state(GetConsciousnessState())
        retrieved = await retrieve(operations, heard.all)
        sections = {"learning": learning(heard, retrieved, first, last)}
        sections["workspace"] = await attending(operations, heard, wanted.repeated)
        sections["purpose"] = [
            *await without_goals(operations, retrieved, wanted.questions[0]),
            *await goals(operations, wanted.namespace, heard),
        ]
        before = await drift(operations, wanted.namespace)
        if before["status"] == "measured":  # without a North Star nothing is aligned and nothing drifts
            sections["purpose"] += await ranking(operations, wanted.questions)
        other = await tell(operations, wanted.other, advance)
        if before["status"] == "measured":
            after = await drift(operations, wanted.namespace)
            sections["drift"] = drifted(before, after, len(other), wanted.other_name)
            sections["drift"] += await corrected(operations, wanted.namespace)
        told = [*heard.all, *other]
        return Lived(told, await figures(operations, wanted.namespace, told), sections)


async def figures(operations: Operations, namespace: str, told: list[Told]) -> dict[str, Any]:
    """Return all that the mind says of itself and of each memory, without what only says how long ago it was."""
    status = await operations.get_workspace_status(GetWorkspaceStatus())
    status.pop("empty_for_seconds", None)
    for one in status["ignited"]:
        del one["seconds"]
    return {
        "consciousness": await operations.get_consciousness_state(GetConsciousnessState()),
        "workspace": status,
        "drift": await drift(operations, namespace),
        "goals": await operations.ask(operations.hub.comparator, ReadGoals(namespace=namespace)),
        "pulse": await operations.pulse(),
        "memories": await retrieve(operations, told),
    }


async def restarted(folder: Path, namespace: str, lived: Lived) -> list[Verdict]:
    """Open the store again, and compare all figures."""
    with open_hub(folder, priming=False) as hub:
        known = await figures(Operations(hub), namespace, lived.told)
    same = {name: known[name] == lived.known[name] for name in known}
    shown = {"memories compared": len(lived.told), "identical": same}
    return [Verdict("after a restart every figure is what it was", shown, all(same.values()))]


async def watch(folder: Path, wanted: Plan, bar: Progress) -> Sections:
    """Do all that is judged, in a data folder of its own, and return the verdicts."""
    stream = len(wanted.topic) + len(wanted.off_topic) + len(wanted.repeats) + len(wanted.other)
    storing = bar.add_task("the stream", total=stream)
    lived = await live(folder, wanted, lambda: bar.advance(storing))
    sections = {**lived.sections}
    sections["restart"] = await restarted(folder, wanted.namespace, lived)
    sections["priming"] = await primed(folder, wanted.questions)
    filling = bar.add_task("the rest of the corpus", total=len(wanted.rest))
    with open_hub(folder) as hub:
        operations = Operations(hub)
        await operations.ready()
        await keep(operations, wanted.rest, lambda: bar.advance(filling))
    judging = bar.add_task("judged by all memories", total=SAMPLES)
    sections["candidates"] = await anyio.to_thread.run_sync(candidates, folder, SAMPLES, lambda: bar.advance(judging))
    return sections


def mind(
    folder: Annotated[Path, Argument(exists=True, file_okay=False, help="corpus.jsonl, queries.jsonl, qrels/test.tsv")],
    namespace: Annotated[str | None, Option(help="Whose first half is the topic; the first of the corpus.")] = None,
    *,
    as_json: Annotated[bool, Option("--json", help="Print JSON.")] = False,
) -> None:
    """Watch the mind on a stream of real memories: learning, workspace, purpose, drift, restart."""
    wanted = plan(folder, namespace)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with (
        tempfile.TemporaryDirectory() as data,
        Progress(*columns, console=Console(stderr=True), transient=True) as bar,
    ):
        sections = anyio.run(watch, Path(data), wanted, bar)
    failed = [verdict.what for verdicts in sections.values() for verdict in verdicts if verdict.holds is False]
    stream = {"topic": len(wanted.topic), "off_topic": len(wanted.off_topic), "repeats": len(wanted.repeats)}
    if as_json:
        report = {"namespace": wanted.namespace, "stream": stream, "sections": sections, "failed": failed}
        print(json.dumps(msgspec.to_builtins(report), indent=2, ensure_ascii=False))
        return
    console = Console()
    for title, verdicts in sections.items():
        console.print(table(title, verdicts))
    console.print(
        f"{stream['topic']} memories of {wanted.namespace}, {stream['off_topic']} off topic, {stream['repeats']} "
        f"repeats; {len(failed)} verdicts fail"
    )
