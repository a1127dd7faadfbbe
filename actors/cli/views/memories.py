"""What a person sees on the command line."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from actors.cli.store_access import Report
from events.spaces import SPACES

_TURNS = (0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
"""What turns the direction of writing."""
UNSEEN = {code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\n\t"} | dict.fromkeys(
    (*range(0x7F, 0xA0), *_TURNS), "\N{REPLACEMENT CHARACTER}"
)
"""What steers a terminal or turns the direction of writing, and what is shown in its place."""


class Screen(Console):
    """A terminal that what memories say can't steer: only what we print on purpose has colours."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Yield the pieces of what is printed, each control character in a text as a sign that can be seen."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else text.translate(UNSEEN), style, control)


OUT = Screen(highlight=False, soft_wrap=True)
ERR = Screen(stderr=True)


@contextmanager
def progress_bar(*, quiet: bool) -> Iterator[Report]:
    """Show on standard error what an operation reports; it leaves no trace once done."""
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Bar(*columns, console=ERR, transient=True, disable=quiet or not ERR.is_terminal) as bar:
        task = bar.add_task("starting", total=None)

        def report(done: float, total: float | None, what: str) -> None:
            bar.update(task, completed=done, total=total, description=what)

        yield report


def stored(answer: dict[str, Any]) -> None:
    """Print what `store` did."""
    OUT.print(f"stored [bold]{answer['fingerprintId']}[/] in {answer['embedderCount']} spaces")
    if twin := answer.get("duplicate_of"):
        OUT.print(f"the same content was there already: {twin}", style="yellow")


def imported(answer: dict[str, Any], most: int) -> None:
    """Print what `import` did, and what is wrong with bad lines, at most so many."""
    before = f"; {answer['stored_before']} were imported before" if answer["stored_before"] else ""
    OUT.print(f"stored [bold]{answer['stored']}[/] memories{before}")
    for failure in answer["failed"][:most]:
        ERR.print(f"line {failure['line']}: {failure['message']}", style="red", markup=False)
    if len(answer["failed"]) > most:
        ERR.print(f"and {len(answer['failed']) - most} more", style="red")


def exported(answer: dict[str, Any]) -> None:
    """Print what `export` did."""
    OUT.print(f"{answer['exported']} memories are in {answer['file']}", markup=False)


def found(answer: dict[str, Any]) -> None:
    """Print search results: each memory, the three spaces that found it, and all thirteen similarities."""
    if not answer["results"]:
        OUT.print("nothing found")
    for rank, hit in enumerate(answer["results"], 1):
        OUT.print(Text.assemble((f"{rank}. ", "bold"), hit["content"]))
        top = ", ".join(f"{space['space']} {space['contribution']:+.2f}" for space in hit["topSpaces"])
        OUT.print(f"   found by {top}", style="green")
        scores = "  ".join(
            f"{key.partition('_')[0]} {'–' if score is None else f'{score:.2f}'}"
            for key, score in hit["embedderScores"].items()
        )
        OUT.print(f"   {scores}", style="dim")
        OUT.print(f"   {day(hit['createdAt'])}  {hit['namespace']}  {hit['fingerprintId']}", style="dim", markup=False)
    OUT.print(f"{answer['count']} found in {answer['queryLatencyMs']:.0f} ms as {answer['profile']}", style="dim")


def state(answer: dict[str, Any]) -> None:
    """Print counts, spaces and latencies."""
    memories = answer["memories"]
    OUT.print(f"{memories['live']} memories, {memories['forgotten']} forgotten, {memories['erased']} erased")
    OUT.print(f"in {answer['folder']}; log at event {answer['log']['position']}, {answer['log']['hash'][:16]}…")
    if answer["spaces"]:
        table = Table(
            "space", "model", "dimension", "sha256", title=f"profile {answer['profile']}", title_justify="left"
        )
        for space in answer["spaces"]:
            table.add_row(space["key"], space["model"], str(space["dimension"]), space["sha256"][:12])
        OUT.print(table)
    if answer["latencies_ms"]:
        table = Table("what", "median ms", "p95 ms", "samples", title="latencies", title_justify="left")
        for name, latency in answer["latencies_ms"].items():
            table.add_row(name, f"{latency['median']:.2f}", f"{latency['p95']:.2f}", str(latency["count"]))
        OUT.print(table)


def alike(answer: dict[str, Any]) -> None:
    """Print how alike two memories are."""
    OUT.print(f"[bold]{answer['overall_similarity']:.2f}[/] alike over all spaces, coherence {answer['coherence']:.2f}")
    for space, score in zip(SPACES, answer["per_embedder"], strict=True):
        OUT.print(f"  {score:.2f}  {space.key}", style="bold" if space.key == answer["dominant_embedder"] else "")


def gone(answer: dict[str, Any]) -> None:
    """Print what `forget` did."""
    how = "forgotten; restore brings it back" if answer["deleteType"] == "soft" else "erased for good"
    OUT.print(f"{answer['fingerprintId']} {how}")


def back(answer: dict[str, Any]) -> None:
    """Print what `restore` did."""
    OUT.print(f"{answer['fingerprintId']} is back")


def day(moment: str) -> str:
    """Return a time to the minute."""
    return datetime.fromisoformat(moment).strftime("%Y-%m-%d %H:%M")


def goals(answer: dict[str, Any]) -> None:
    """Print the goals that were found, and the North Star."""
    star = answer["north_star"]
    if star is None:
        OUT.print("no North Star: no group of memories is about one thing yet", style="yellow")
    for goal in answer["discovered_goals"]:
        mark = "North Star" if star and goal["goal_id"] == star["goal_id"] else goal["level"]
        OUT.print(Text.assemble((goal["description"], "bold"), f"  {mark}"))
        OUT.print(
            f"   {goal['member_count']} memories, coherence {goal['coherence']:.2f}, "
            f"confidence {goal['confidence']:.2f}, told by {', '.join(goal['dominant_embedders']) or 'no space'}",
            style="dim",
        )
    looked = answer["cluster_analysis"]
    OUT.print(f"{looked['sampled']} of {looked['memories']} memories looked at", style="dim")
    if answer["north_star_chosen"]:
        OUT.print(f"the North Star was chosen now; {answer['memories_realigned']} memories are measured against it")


def drift(answer: dict[str, Any]) -> None:
    """Print how far the memories have drifted."""
    if answer["level"] is None:
        OUT.print("there is no North Star yet; `goals` finds one")
        return
    trend = f", {answer['trend'].lower()}" if answer["trend"] else ""
    OUT.print(
        f"drift [bold]{answer['level']}[/]{trend}: the latest {answer['memories']} memories are "
        f"{answer['similarity']:.2f} aligned"
    )
    for moved in answer["most_drifted_embedders"]:
        OUT.print(f"  {moved['similarity']:.2f}  {moved['space']}  {moved['level']}", style="dim")
    for advice in answer["recommendations"]:
        OUT.print(advice, style="yellow")


def mind(answer: dict[str, Any]) -> None:
    """Print the state of consciousness."""
    OUT.print(
        f"[bold]{answer['state']}[/]: r {answer['r']:.2f}, C {answer['C']:.2f} "
        f"(I {answer['integration']:.2f}, R {answer['reflection']:.2f}, D {answer['differentiation']:.2f}), "
        f"limited by {answer['limiting_factor']}"
    )
    held = answer["workspace"]
    active = held["active_memory"]
    OUT.print(f"{held['ignited']} memories in the workspace, K {answer['coupling']:g}")
    if active:
        OUT.print(f"   {active.get('content', active['id'])}", style="green", markup=False)
    life = answer["lifecycle"]
    scored = answer["meta_learning"]
    OUT.print(f"{life['stage']} after {life['interactions']} interactions", style="dim")
    if scored["accuracy"] is not None:
        OUT.print(f"{scored['scored']} predictions of usefulness came true to {scored['accuracy']:.2f}", style="dim")
