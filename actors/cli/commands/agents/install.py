"""Commands that connect MCP clients to this installation, and take that back."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from actors.cli.options import Json, store_folder
from actors.cli.program import Panel, app, exit_on_error, show
from actors.clients.table import CLIENTS
from actors.proxy.serve_command import DATA
from actors.runtime.types import JsonObject

if TYPE_CHECKING:
    from actors.clients.files import Change
    from actors.clients.table import Client

Names = Annotated[
    list[str] | None, typer.Option("--client", "-c", help=f"{', '.join(CLIENTS)}. May be repeated.", show_default=False)
]
All = Annotated[bool, typer.Option("--all", help="Every client found on this machine.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the changes as a diff, and make none.")]

PLUGIN_CAPTURE = (
    "the plugin's hooks have no --capture: set CONTEXT_GRAPH_CAPTURE to 1 in `env` of settings.json, which also "
    "records the use of tools"
)
"""Note for a person who asked for capture."""


Plan: TypeAlias = tuple["list[Change]", list[str]]
"""Changes of a client's files, and sentences for the person."""


@app.command(rich_help_panel=Panel.CONNECT)
def install(
    clients: Names = None,
    data: Annotated[
        Path | None,
        typer.Option(
            parser=store_folder,
            metavar="FOLDER",
            help="The store's folder; otherwise as it is, at first the platform's.",
        ),
    ] = None,
    *,
    everywhere: All = False,
    capture: Annotated[
        bool | None,
        typer.Option(
            "--capture/--no-capture",
            help="Whether the end of a Claude Code session stores what was decided, learned and fixed in it, for "
            "`review`; otherwise as it is, at first off.",
        ),
    ] = None,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Add this server, hooks and skills to the configuration of MCP clients; the rest of their files stays as it is."""
    from actors.clients.installation import (
        captures,
        configured,
        former_options,
        has_plugin,
        hook_call,
        install_changes,
        kept_skills,
    )
    from actors.clients.launch import own_launch, read_environment, split_data

    with exit_on_error():
        launch = own_launch()

        def plan(client: Client) -> Plan:
            captured = captures(client) if capture is None else capture
            former, others = split_data(former_options(client))
            folder = str(data.absolute()) if data else former
            options = ("--data", folder) if folder else ()
            changes = install_changes(client, launch._replace(options=options, captures=captured))
            notes = []
            if changes and former:
                stays = former == folder
                notes.append(f"its store stays {former}: --data names another" if stays else f"its store was {former}")
            if changes and others:
                notes.append(f"options of its former entry are left out: {shlex.join(others)}")
            if has_plugin(client):
                notes.append("its plugin brings server, hooks and skills: nothing to do")
                if capture:
                    notes.append(PLUGIN_CAPTURE)
                if hook_call(client) is not None:
                    notes.append("hooks of an earlier install run beside the plugin's: take them out by `uninstall`")
            notes += [f"{file} is your own and stays" for file in kept_skills(client)]
            if folder is None and DATA.variable in read_environment(configured(client)):
                if client.hooks:
                    notes.append(f"{DATA.variable} in its entry is not seen by its hooks: name that folder by --data")
            elif folder is None and os.environ.get(DATA.variable):
                notes.append(f"{DATA.variable} is set here, maybe not where it starts: name that folder by --data")
            return changes, [*notes, client.note] if client.note and changes else notes

        _carry_out("install", _chosen(clients, everywhere=everywhere), plan, dry_run=dry_run, as_json=as_json)


@app.command(rich_help_panel=Panel.CONNECT)
def uninstall(
    clients: Names = None, *, everywhere: All = False, dry_run: DryRun = False, as_json: Json = False
) -> None:
    """Take back what `install` did: a file that is otherwise unchanged gets its former bytes back."""
    from actors.clients.installation import uninstall_changes

    def plan(client: Client) -> Plan:
        return uninstall_changes(client), []

    with exit_on_error():
        _carry_out("uninstall", _chosen(clients, everywhere=everywhere), plan, dry_run=dry_run, as_json=as_json)


def _chosen(names: list[str] | None, *, everywhere: bool) -> dict[str, Client]:
    """Return the clients that the options name; refuse an unknown one, and none."""
    from actors.clients.files import ConfigurationError

    if unknown := [name for name in names or () if name not in CLIENTS]:
        raise ConfigurationError(f"--client: no client {unknown[0]}; one of {', '.join(CLIENTS)}")
    chosen = {name: one for name, one in CLIENTS.items() if name in (names or ()) or (everywhere and one.present)}
    if not chosen:
        problem = (
            "no known client is on this machine; name one by --client, of {}"
            if everywhere
            else "name a client by --client, of {}; or take all that are on this machine by --all"
        )
        raise ConfigurationError(problem.format(", ".join(CLIENTS)))
    return chosen


def _carry_out(
    command: str, chosen: dict[str, Client], plan: Callable[[Client], Plan], *, dry_run: bool, as_json: bool
) -> None:
    """Change the files of each client and print what was changed; status 1 if a client's files don't allow it."""
    from actors.clients.files import ConfigurationError
    from actors.clients.installation import apply_all

    done: list[JsonObject] = []
    failed: list[JsonObject] = []
    for name, client in chosen.items():
        try:
            changes, notes = plan(client)
            if not dry_run:
                apply_all(changes)
        except ConfigurationError as error:
            failed.append({"client": name, "error": str(error), "again": f"context-graph {command} --client {name}"})
        else:
            described = [_described(change, dry_run=dry_run) for change in changes]
            done.append({"client": name, "changes": described, "notes": notes})
    show({"dry_run": dry_run, "clients": done, "failed": failed}, _printed, as_json=as_json)
    for one in failed:
        typer.secho(f"context-graph: {one['error']}; mend that, then run: {one['again']}", err=True, fg="red")
    if failed:
        raise typer.Exit(1)


def _described(change: Change, *, dry_run: bool) -> JsonObject:
    from actors.clients.files import backup_of

    action = "deleted" if change.after is None else "created" if change.before is None else "changed"
    backup = backup_of(change.file)
    return {
        "file": str(change.file),
        "action": action,
        **({"backup": str(backup)} if change.keeps_backup and change.before is not None else {}),
        **({"diff": [*change.diff()]} if dry_run else {}),
    }


def _printed(answer: JsonObject) -> None:
    from rich.text import Text

    from actors.cli.views.terminal import OUT

    for client in answer["clients"]:
        unchanged = "" if client["changes"] else ": nothing to change"
        OUT.print(Text.assemble((CLIENTS[client["client"]].title, "bold"), unchanged))
        for change in client["changes"]:
            would = "would be " if answer["dry_run"] else ""
            backup = f" (before: {change['backup']})" if "backup" in change and not answer["dry_run"] else ""
            OUT.print(f"  {would}{change['action']}: {change['file']}{backup}")
            for line in change.get("diff", ()):
                OUT.print(f"    {line}")
        for note in client["notes"]:
            OUT.print(f"  note: {note}")
