"""Views of what was imported, exported, moved, and found by a scan."""

from collections.abc import Sequence

from rich.markup import escape

from actors.cli.options import advise
from actors.cli.views.terminal import ERR, OUT
from actors.runtime.types import JsonObject
from events.wording import counted

MAX_PROBLEMS = 20
"""Bad lines, and properties left out, that are printed for people; `--json` prints all."""

MAX_UNREAD = 5
"""Files of a folder which are named as not read for one reason."""


def imported(answer: JsonObject) -> None:
    OUT.print(f"{answer['source']}: {counted(answer['files'], 'file')}")
    repeated = f"; {answer['repeated']:,} repeated in these files" if answer["repeated"] else ""
    if answer["dry_run"]:
        memories, relations = counted(answer["memories"], "memory"), counted(answer["relations"], "relation")
        OUT.print(f"would store up to [bold]{memories}[/] and {relations} between them{repeated}", markup=True)
    else:
        before = f"; {answer['stored_before']:,} imported before" if answer["stored_before"] else ""
        if answer["hidden_before"]:
            told = f" ({answer['hidden_before']} of them hidden since: context-graph restore ID brings one back)"
            before += escape(advise(told))
        events = f" and {counted(answer['events'], 'other event')}" if answer["events"] else ""
        OUT.print(f"stored [bold]{counted(answer['stored'], 'memory')}[/]{events}{before}{repeated}", markup=True)
        if answer["changed"]:
            OUT.print(f"took the place of a former version: {counted(answer['changed'], 'memory')}")
        if answer["gone"]:
            OUT.print(f"imported before and no longer in these files: {counted(answer['gone'], 'memory')}", style="dim")
    for name, count in answer["namespaces"].items():
        OUT.print_line(f"  {count} in namespace {name}")
    for reason, count in answer["skipped"].items():
        OUT.print(f"left out: {reason} ({count:,})", style="dim")
    for kind, count in answer["redacted"].items():
        OUT.print(f"{'would redact' if answer['dry_run'] else 'redacted'}: {counted(count, kind)}", style="yellow")
    if answer["private"]:
        OUT.print(f"left out: private passages of {counted(answer['private'], 'text')}", style="dim")
    unread: dict[str, list[str]] = {}
    for one in answer["unread"]:
        unread.setdefault(one["reason"], []).append(one["file"])
    for reason, files in unread.items():
        more = f" and {counted(len(files) - MAX_UNREAD, 'more file')}" if len(files) > MAX_UNREAD else ""
        OUT.print(f"not read: {', '.join(files[:MAX_UNREAD])}{more}: {reason}", style="dim")
    _print_problems(answer["ignored"], "yellow")
    _print_problems(answer["failed"], "red")


def _print_problems(problems: Sequence[JsonObject], style: str) -> None:
    for one in problems[:MAX_PROBLEMS]:
        line = f"line {one['line']}" if one["line"] else "file"
        ERR.print(f"{one['file']}: {line}: {one['message']}", style=style)
    if len(problems) > MAX_PROBLEMS:
        ERR.print(f"and {len(problems) - MAX_PROBLEMS} more", style=style)


def exported(answer: JsonObject) -> None:
    OUT.print(f"exported {counted(answer['exported'], 'memory')} to {answer['file']}")
    if answer["left_out"]:
        kinds = ", ".join(f"{count} {kind}" for kind, count in answer["left_out"].items())
        OUT.print(f"left out, since it is no part of the memories or is found again: {kinds}", style="dim")


def scanned(answer: JsonObject) -> None:
    """Print which memories hold secrets, and by what they were replaced. The secrets are not printed."""
    for one in answer["found"]:
        kinds = ", ".join(dict.fromkeys(secret["kind"] for secret in one["secrets"]))
        then = f"; replaced by {one['successor']}" if "successor" in one else ""
        OUT.print_line(f"{one['id']} in {one['namespace']}: {kinds}{then}", style="yellow")
    OUT.print(f"secrets found in {len(answer['found']):,} of {counted(answer['scanned'], 'memory')}")
    if answer["found"] and not answer["redacted"]:
        OUT.print("scan --redact replaces them by redacted ones, and erases the originals", style="dim")


def moved(answer: JsonObject) -> None:
    would = "would be moved" if answer["dry_run"] else "moved"
    for source, count in answer["moved_from"].items():
        OUT.print_line(f"{counted(count, 'memory')} {would} from {source} to {answer['target']}")
    if not answer["dry_run"]:
        OUT.print(advise(f"context-graph undo {answer['run_id']} reverts it"), style="dim")
        if answer["kind"] != "move":
            OUT.print_line(
                "A repository keeps the namespace of its name for what it stores from now on; "
                f'namespace = "{answer["target"]}" in its .context-graph.toml changes that.',
                style="dim",
            )
