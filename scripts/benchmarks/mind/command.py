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

from actors.api.context import Context, read_pulse, wait_until_ready
from actors.api.operations.workspace import get_consciousness_state, get_workspace_status
from actors.api.params.mind import GetConsciousnessState, GetWorkspaceStatus
from actors.comparator.messages import ReadGoals
from actors.hub.composition import opened
from actors.runtime.ask import ask
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
    with opened(folder, priming=False) as hub:
        context = Context(hub)
        await wait_until_ready(context)
        opening = await tell(context, wanted.topic[:1], advance)
        first = await get_consciousness_state(context, GetConsciousnessState())
        topic = opening + await tell(context, wanted.topic[1:], advance)
        off_topic = await tell(context, wanted.off_topic, advance)
        heard = Heard(topic, off_topic, await tell(context, wanted.repeats, advance))
        last = await get_consciousness_state(context, GetConsciousnessState())
        retrieved = await retrieve(context, heard.all)
        sections = {"learning": learning(heard, retrieved, first, last)}
        sections["workspace"] = await attending(context, heard, wanted.repeated)
        sections["purpose"] = [
            *await without_goals(context, retrieved, wanted.questions[0]),
            *await goals(context, wanted.namespace, heard),
        ]
        before = await drift(context, wanted.namespace)
        if before["status"] == "measured":  # without a North Star nothing is aligned and nothing drifts
            sections["purpose"] += await ranking(context, wanted.questions)
        other = await tell(context, wanted.other, advance)
        if before["status"] == "measured":
            after = await drift(context, wanted.namespace)
            sections["drift"] = drifted(before, after, len(other), wanted.other_name)
            sections["drift"] += await corrected(context, wanted.namespace)
        told = [*heard.all, *other]
        return Lived(told, await figures(context, wanted.namespace, told), sections)


async def figures(context: Context, namespace: str, told: list[Told]) -> dict[str, Any]:
    """Return all that the mind says of itself and of each memory, without what only says how long ago it was."""
    status = await get_workspace_status(context, GetWorkspaceStatus())
    status.pop("empty_for_seconds", None)
    for one in status["ignited"]:
        del one["seconds"]
    return {
        "consciousness": await get_consciousness_state(context, GetConsciousnessState()),
        "workspace": status,
        "drift": await drift(context, namespace),
        "goals": await ask(context.hub.comparator, ReadGoals(namespace=namespace)),
        "pulse": await read_pulse(context),
        "memories": await retrieve(context, told),
    }


async def restarted(folder: Path, namespace: str, lived: Lived) -> list[Verdict]:
    """Open the store again, and compare all figures."""
    with opened(folder, priming=False) as hub:
        known = await figures(Context(hub), namespace, lived.told)
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
    with opened(folder) as hub:
        context = Context(hub)
        await wait_until_ready(context)
        await keep(context, wanted.rest, lambda: bar.advance(filling))
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
