"""What a person sees of audits."""

from typing import Any

from rich.table import Table
from rich.text import Text

from actors.cli.views.memories import OUT, day

MOVES = {
    "stored": "stored",
    "forgotten": "forgotten",
    "restored": "restored",
    "pruned": "pruned",
    "merged": "merged into another one",
    "undone": "brought back by undoing a run",
    "freed": "brought back since what had absorbed them was erased",
    "erased": "erased",
}
"""What a list of memories is called."""


def replayed(answer: dict[str, Any]) -> None:
    """Print whether a replay leads to what is known; without anything to compare with, the digests."""
    pace = f"{answer['events']} events replayed in {answer['seconds']:.1f} s"
    if "matches" not in answer:
        table = Table("projection", "digest", box=None)
        for name, one in answer["projections"].items():
            table.add_row(name, one["replayed"])
        OUT.print(table)
        OUT.print(f"{pace}; that is how it was after event {answer['seq']}, {answer['hash'][:16]}…", style="dim")
        return
    table = Table("projection", "known", "replayed", "", box=None)
    for name, one in answer["projections"].items():
        same = Text("same", "green") if one["same"] else Text("differs", "bold red")
        table.add_row(name, _short(one["live"]), _short(one["replayed"]), same)
    OUT.print(table)
    if answer["matches"]:
        OUT.print(f"all that is known follows from the log: {pace}", style="green")
    else:
        OUT.print(f"{', '.join(answer['differing'])} can't be had from the log: {pace}", style="bold red")


def changed(answer: dict[str, Any]) -> None:
    """Print what changed between two moments."""
    events = answer["events"]
    OUT.print(f"from {_moment(answer['a'])} to {_moment(answer['b'])}: {events['total']} events")
    for name, title in MOVES.items():
        _list(answer["memories"][name], title)
    if links := answer["links"]["total"]:
        OUT.print(f"[bold]{links}[/] links drawn")
        for link in answer["links"]["shown"]:
            OUT.print(f"   {link['source']} → {link['target']}  {link['relation']}", style="dim")
    if goals := answer["goals"]["total"]:
        OUT.print(f"[bold]{goals}[/] goals found")
        for goal in answer["goals"]["shown"]:
            OUT.print(f"   {goal['description']}  {goal['namespace']}", style="dim", markup=False)
    for namespace, star in answer["north_stars"].items():
        old, new = (goal["description"] if goal else "none" for goal in (star["before"], star["after"]))
        OUT.print(f"North Star of {namespace}: {old} → {new}", markup=False)
    for rule, change in answer["schedule"].items():
        OUT.print(f"schedule, {rule}: {change['before']} → {change['after']}", markup=False)
    if events["total"]:
        kinds = ", ".join(f"{name} {count}" for name, count in events["by_kind"].items())
        OUT.print(f"events by kind: {kinds}", style="dim")


def trail(answer: dict[str, Any]) -> None:
    """Print what happened, one event a line, the latest last as in any log on a screen."""
    for event in reversed(answer["events"]):
        OUT.print(Text(f"{event['seq']:>7}  {day(event['at'])}  {event['actor']}: {event['what']}"))
    if answer["count"] < answer["total"]:
        OUT.print(f"the latest {answer['count']} of {answer['total']} events", style="dim")


def memory(answer: dict[str, Any]) -> None:
    """Print a memory and what is known of it."""
    OUT.print(Text(answer["content"], "bold"))
    circumstances = Table(box=None, show_header=False)
    for name, value in _circumstances(answer):
        circumstances.add_row(Text(name, "dim"), Text(value))
    OUT.print(circumstances)


def _circumstances(answer: dict[str, Any]) -> list[tuple[str, str]]:
    """Return what is known of a memory, as far as there is anything."""
    recalled = f"{answer['accessCount']} times"
    if answer["lastAccessed"]:
        recalled += f", last {day(answer['lastAccessed'])}"
    edges = [f"{'to' if edge['forward'] else 'from'} {edge['id']} ({edge['relation']})" for edge in answer["edges"]]
    rows = [
        ("id", answer["id"]),
        ("state", answer["state"] + (f", because: {answer['reason']}" if answer["reason"] else "")),
        ("told of", day(answer["createdAt"])),
        ("stored", day(answer["storedAt"])),
        ("namespace", answer["namespace"]),
        ("session", f"{answer['session']}, turn {answer['position'] + 1}" if answer["session"] else ""),
        ("kind", answer["modality"]),
        ("importance", f"{answer['importance']:.2f}"),
        ("tags", ", ".join(answer["tags"])),
        ("why", answer["rationale"] or ""),
        ("recalled", recalled),
        ("absorbed", ", ".join(answer["lineage"])),
        ("linked", "\n".join(edges)),
        ("serves", "" if answer["alignmentBand"] is None else f"the North Star: {answer['alignmentBand']}"),
    ]
    return [(name, value) for name, value in rows if value]


def _list(memories: dict[str, Any], title: str) -> None:
    if not memories["total"]:
        return
    OUT.print(f"[bold]{memories['total']}[/] {'memory' if memories['total'] == 1 else 'memories'} {title}")
    for one in memories["shown"]:
        OUT.print(Text.assemble("   ", one.get("text") or _erased(one)))
        into = f" into {one['into']}" if "into" in one else ""
        OUT.print(f"   {one['id']}{into}", style="dim")
    if rest := memories["total"] - len(memories["shown"]):
        OUT.print(f"   and {rest} more", style="dim")


def _erased(one: dict[str, Any]) -> str:
    why = f", because: {one['reason']}" if one["reason"] else ""
    when = f" {day(one['erased_at'])}" if one["erased_at"] else ""
    return f"(erased{when}{why})"


def _moment(end: dict[str, Any]) -> str:
    return f"event {end['seq']}" + (f" ({day(end['at'])})" if end["at"] else "")


def _short(digest: str | None) -> str:
    return "–" if digest is None else digest[:16]
