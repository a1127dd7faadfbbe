"""Views of replays, differences and event histories."""

from itertools import groupby

from rich.text import Text

from actors.api.parts import minute
from actors.cli.views.terminal import OUT, columns, in_line
from actors.runtime.types import JsonObject
from events.wording import counted

MAX_RECALLS = 3
"""Recalls in a row that are printed one by one."""

CHANGES = {
    "stored": "stored",
    "forgotten": "forgotten",
    "restored": "restored",
    "pruned": "pruned",
    "merged": "merged into another one",
    "undone": "restored by undoing a run",
    "freed": "restored since the memory that absorbed them was erased",
    "erased": "erased",
}
"""Titles of lists of memories."""


def replayed(answer: JsonObject) -> None:
    """Print whether a replay leads to the present state; for an earlier moment, its digests."""
    duration = f"{counted(answer['events'], 'event')} replayed in {answer['seconds']:.1f} s"
    if "matches" not in answer:
        table = columns("projection", "digest")
        for name, one in answer["projections"].items():
            table.add_row(name, one["replayed"])
        OUT.print(table)
        OUT.print(f"{duration}; the state after event {answer['seq']}, {answer['hash'][:16]}…", style="dim")
        return
    table = columns("projection", "present", "replayed", "")
    for name, one in answer["projections"].items():
        same = Text("same", "green") if one["same"] else Text("differs", "bold red")
        table.add_row(name, _short(one["live"]), _short(one["replayed"]), same)
    OUT.print(table)
    if answer["matches"]:
        OUT.print(f"the present state follows from the log: {duration}", style="green")
    else:
        OUT.print(f"{', '.join(answer['differing'])} cannot be rebuilt from the log: {duration}", style="bold red")


def changes(answer: JsonObject) -> None:
    events = answer["events"]
    OUT.print(f"from {_moment(answer['a'])} to {_moment(answer['b'])}: {counted(events['total'], 'event')}")
    for name, title in CHANGES.items():
        _list(answer["memories"][name], title)
    if links := answer["links"]["total"]:
        OUT.print(f"[bold]{counted(links, 'link')}[/] drawn", markup=True)
        for link in answer["links"]["shown"]:
            OUT.print(f"   {link['source']} → {link['target']}  {link['relation']}", style="dim")
    if goals := answer["goals"]["total"]:
        OUT.print(f"[bold]{counted(goals, 'goal')}[/] found", markup=True)
        for goal in answer["goals"]["shown"]:
            OUT.print_line(f"   {goal['description']}  {goal['namespace']}", style="dim")
    for namespace, star in answer["north_stars"].items():
        old, new = (goal["description"] if goal else "none" for goal in (star["before"], star["after"]))
        OUT.print_line(f"North Star of {namespace}: {old} → {new}")
    for rule, change in answer["schedule"].items():
        OUT.print(f"schedule, {rule}: {change['before']} → {change['after']}")
    if events["total"]:
        kinds = ", ".join(f"{name} {count}" for name, count in events["by_kind"].items())
        OUT.print(f"events by kind: {kinds}", style="dim")


def trail(answer: JsonObject) -> None:
    """Print events, one a line, the latest last; of many recalls of a memory in a row only their number."""
    for is_recall, run in groupby(reversed(answer["events"]), lambda event: event["what"].startswith("recalled as")):
        events = [*run]
        if is_recall and len(events) > MAX_RECALLS:
            first, last = events[0], events[-1]
            OUT.print_line(
                f"{first['seq']:>7}  {minute(first['at'])}  {counted(len(events), 'recall')} up to event "
                f"{last['seq']}, {minute(last['at'])}"
            )
            continue
        for event in events:
            OUT.print_item(f"{event['seq']:>7}  ", in_line(f"{minute(event['at'])}  {event['by']}: {event['what']}"))
    if not answer["events"]:
        OUT.print("there is no such event")
    if recalls := answer.get("recalls_left_out"):
        OUT.print(f"without {counted(recalls, 'recall')}", style="dim")
    total = answer.get("total")  # unknown where the hub serves some namespaces
    if total is None and "next_before" in answer:
        OUT.print(f"the latest {answer['count']:,}; there are earlier ones", style="dim")
    elif total is not None and answer["count"] < total:
        OUT.print(f"the latest {answer['count']:,} of {counted(total, 'event')}", style="dim")


def _list(memories: JsonObject, title: str) -> None:
    if not memories["total"]:
        return
    OUT.print(f"[bold]{counted(memories['total'], 'memory')}[/] {title}", markup=True)
    for one in memories["shown"]:
        OUT.print_line(f"   {one.get('text') or _erased(one)}")
        into = f" into {one['into']}" if "into" in one else ""
        OUT.print(f"   {one['id']}{into}", style="dim")
    if rest := memories["total"] - len(memories["shown"]):
        OUT.print(f"   and {rest} more", style="dim")


def _erased(one: JsonObject) -> str:
    if one["erased_at"] is None and one["reason"]:
        return f"({one['reason']})"  # a memory that is lost
    why = f", because: {one['reason']}" if one["reason"] else ""
    when = f" {minute(one['erased_at'])}" if one["erased_at"] else ""
    return f"(erased{when}{why})"


def _moment(end: JsonObject) -> str:
    return f"event {end['seq']}" + (f" ({minute(end['at'])})" if end["at"] else "")


def _short(digest: str | None) -> str:
    return "–" if digest is None else digest[:16]
