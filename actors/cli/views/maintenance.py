"""Views of checks, backups and re-embedding."""

from pathlib import Path

from actors.api.parts import minute
from actors.cli.views.terminal import OUT
from actors.runtime.types import JsonObject
from events.wording import counted


def verified(answer: JsonObject) -> None:
    events = counted(answer["events"], "event")
    counts = f"{events}, {answer['sealed']} of them sealed, {answer['erased']} with destroyed keys"
    if answer["sound"]:
        OUT.print(f"[bold]sound[/]: {counts}, up to {answer['head']['hash'][:16]}…", markup=True)
        if anchors := answer.get("anchors"):
            last = max(one["event"] for one in anchors)
            OUT.print(f"{counted(len(anchors), 'anchor')} up to event {last} confirmed")
        return
    first = f" from event {answer['first_bad']} on" if answer["first_bad"] else ""
    OUT.print(f"damaged{first}; {counts} can be read and trusted", style="bold red")
    for problem in answer["problems"]:
        where = f"event {problem['seq']}" if problem["seq"] else problem["file"]
        OUT.print(f"  {where}: {problem['what']}" + (f"; lost: {problem['lost']}" if problem["lost"] else ""))
    if "quarantine" in answer:
        OUT.print(f"its files are in {answer['quarantine']} now")


def backed_up(answer: JsonObject) -> None:
    OUT.print(f"copied {counted(answer['events'], 'event')} to {answer['backup']}")


def calibrated(answer: JsonObject) -> None:
    pairs, texts = counted(answer["pairs"], "pair"), counted(answer["texts"], "text")
    OUT.print(f"calibrated on {pairs} of {texts}, {answer['related']} of them related")
    for key, levels in answer["spaces"].items():
        OUT.print(f"  {key}: unrelated up to {levels['unrelated']:.2f}, half related at {levels['half']:.2f}")


def restored(answer: JsonObject) -> None:
    OUT.print(f"{answer['restored']} is restored from the backup")
    if answer["replaced"]:
        OUT.print(f"the previous store is in {answer['replaced']}")


def moved(answer: JsonObject) -> None:
    events, projections = counted(answer["events"], "event"), len(answer["projections"])
    OUT.print(f"copied {events} to {answer['target']}; all {projections} projections are equal")
    OUT.print("the original stays as it is: stop its hubs, and serve the new one with --log or --data")


def repaired(answer: JsonObject) -> None:
    """Print what of a damaged store is in the new one, which events are lost, and which the snapshot held."""
    OUT.print(f"copied {answer['copied']:,} of {counted(answer['events'], 'event')} to {answer['folder']}")
    for one in answer["lost"]:
        OUT.print(f"  lost: {_events(one)}: {one['why']}")
    for one in answer["from_snapshot"]:
        OUT.print(f"  from the snapshot, not proved by the chain: {_events(one)}: {one['why']}")
    if not answer["copied"]:
        OUT.print("nothing of it can be proved: the new store holds no memory; restore a backup", style="red")


def reembedded(answer: JsonObject) -> None:
    OUT.print(
        f"{answer['folder']} holds {counted(answer['memories'], 'memory')}, {answer['forgotten']} of them forgotten, "
        f"{counted(answer['links'], 'link')}; left out: {counted(answer['erased'], 'erased memory')}"
    )
    if answer["backup"] is not None:
        OUT.print(f"the store as it was is also in {answer['backup']}")


def upgraded(answer: JsonObject) -> None:
    if not answer["changes"]:
        OUT.print(f"{answer['folder']} is of this version, format {answer['format']}; nothing changes")
        return
    for change in answer["changes"]:
        OUT.print(f"  {change}")
    if answer["copy"] is None:
        megabytes = round(answer["size"] / 2**20, 1)
        OUT.print(f"nothing was changed; the copy that is made first takes {megabytes} MB")
        return
    OUT.print(f"{answer['folder']} is upgraded and sound; as it was, it is in {answer['copy']}")
    OUT.print("before an earlier version of the program opens the store again, run:")
    OUT.print(f"context-graph restore {answer['copy']} --data {answer['folder']} --replace")


def _events(lost: JsonObject) -> str:
    first, last, memories = lost["first"], lost["last"], lost["memories"]
    events = f"event {first}" if first == last else f"events {first} to {last}"
    return events if memories is None else f"{events}, {memories} of them memories"


def stopped(answer: JsonObject) -> None:
    if answer["stopped"] is None:
        OUT.print(f"no hub runs in {answer['folder']}")
    else:
        OUT.print(f"the hub in {answer['folder']}, process {answer['stopped']}, has ended")


def backups_kept(backups: JsonObject) -> None:
    """Print how many backups are kept after sleep, where, and why there is none."""
    from events.storage.replacement import time_of  # imports DuckDB, which most commands beside a hub don't need

    made, keep = backups["made"], backups["keep"]
    if keep:
        last = f", the last one {minute(time_of(Path(made[-1]).name).isoformat())}" if made else ""
        OUT.print(
            f"backups after deep sleep: the last {keep} are kept; {len(made)} of {backups['megabytes']} MB "
            f"in {backups['folder']}{last}"
        )
    else:
        OUT.print("no backup is made after sleep; schedule --backup on makes them", style="dim")
    for one in backups["before"]:
        OUT.print(f"  before {one['operation']}: {one['folder']}, {one['megabytes']} MB")
    if backups["failed"]:
        OUT.print(f"no backup was made after the last sleep: {backups['failed']}", style="yellow")
