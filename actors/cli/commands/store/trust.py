"""Commands that check: what happened, whether the log accounts for it, secrets in memories, the installation."""

import json
import zipfile
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from actors.cli.options import AsOf, Embedder, Memory, Models, RunId, advise, given_path, location_of
from actors.cli.program import Panel, folder_command, operation_command
from actors.cli.store_access import StoreLocation, open_store
from actors.proxy.endpoint import Report
from actors.runtime.settings import ModelProfile, passphrase
from actors.runtime.types import JsonObject

STYLES = {"ok": "green", "warning": "yellow", "failed": "red"}
Limit = Annotated[int, typer.Option(help="Show this many of the latest events, 1 to 500.")]
Moment = Annotated[str | None, typer.Option(help="Number of an event, or a time: ISO 8601, or as 'last week'.")]


@folder_command(Panel.TRUST, lambda answer: typer.echo(answer["anchor"]))
def anchor(
    folder: Path,
    *,
    file: Annotated[Path | None, typer.Option(parser=given_path, help="Append it to this file too.")] = None,
    git: Annotated[
        Path | None, typer.Option(parser=given_path, help="Add it to the git notes of this repository's HEAD.")
    ] = None,
) -> JsonObject:
    """Print a short signed proof of all events until now; `verify --anchor` shows whether one was changed or cut."""
    from actors.hub.anchors import GIT, write_anchor
    from events.crypto.keys import KeyRing
    from events.recovery.salvage import acknowledged
    from events.storage.durable import check_files
    from events.storage.log import LogError
    from events.verify.anchors import sign_head

    StoreLocation(folder).check_in_folder("run context-graph backup COPY, then context-graph anchor --data COPY")
    check_files(folder, ("keys",))
    chain = KeyRing.of((folder / "keys").read_bytes(), passphrase()).chain
    if chain is None:
        raise LogError("an earlier version made this store: open it once, and it gets the key that signs anchors")
    head = acknowledged(folder, chain)
    if head is None or not head.seq:
        raise LogError(f"no event is found in {folder}: `context-graph verify` tells whether it is empty or damaged")
    text = sign_head(head, chain)
    for target in ([str(file.absolute())] if file else []) + ([f"{GIT}{git.absolute()}"] if git else []):
        write_anchor(target, text)
    return {"anchor": text, "events": head.seq}


@operation_command(
    Panel.TRUST, "store/replay", "audit.replayed", succeeded=lambda answer: answer.get("matches", True), reads=True
)
def replay(as_of: AsOf = None) -> None:
    """Rebuild the state from the log and compare it with the present one; status 1 if they differ."""


@operation_command(Panel.TRUST, "store/diff", "audit.changes", reads=True)
def diff(
    a: Annotated[
        str, typer.Argument(help="Number of an event, or a time: ISO 8601, or as 'last week', from its beginning.")
    ],
    b: Annotated[str | None, typer.Argument(help="The same, to its end; now if left out.")] = None,
    limit: Annotated[int, typer.Option(help="Entries of each list, 0 to 1,000.")] = 20,
) -> None:
    """Show what changed between two moments."""


@operation_command(Panel.TRUST, "memory/history", "audit.trail", reads=True)
def history(
    memory_id: Memory,
    limit: Limit = 50,
    *,
    recalls: Annotated[bool, typer.Option(help="Also the searches that found it.")] = True,
) -> None:
    """Show what happened to a memory, from the log."""


@operation_command(Panel.TRUST, "audit/trail", "audit.trail", reads=True)
def audit(
    run_id: Annotated[
        RunId | None, typer.Option("--run", parser=RunId, metavar="RUN", help="Only events of this run.")
    ] = None,
    since: Moment = None,
    until: Moment = None,
    limit: Limit = 50,
) -> None:
    """Show what happened in the store, from the log."""


@folder_command(Panel.TRUST, "transfer.scanned", succeeded=lambda answer: answer["redacted"] or not answer["found"])
def scan(
    folder: Path,
    report: Report,
    context: typer.Context,
    embedder: Embedder = ModelProfile.EMBEDDED,
    models: Models = None,
    *,
    redact: Annotated[
        bool, typer.Option("--redact", help="Store a redacted successor of each, and erase the original for good.")
    ] = False,
) -> JsonObject:
    """Find passwords, keys, tokens and card numbers in memories; status 1 if any are left."""
    result: JsonObject = {"scanned": 0, "found": [], "redacted": redact}
    page: JsonObject = {"next_after": 0}
    with open_store(location_of(context, folder, embedder, models)) as store:
        while "next_after" in page:
            page = store.call("store/scan", report, after=page["next_after"], redact=redact)
            result["scanned"] += page["scanned"]
            result["found"] += page["found"]
    return result


def _printed(answer: JsonObject) -> None:
    from actors.cli.views.terminal import OUT

    for check in answer["checks"]:
        OUT.print(f"{check['verdict']:>7}  {check['name']}: {advise(check['found'])}", style=STYLES[check["verdict"]])
        if check["advice"]:
            OUT.print(f"         → {advise(check['advice'])}")
    if "bundle" in answer:
        OUT.print(f"{answer['bundle']} is for the bug report; read it before you send it")


@folder_command(Panel.MAINTAIN, _printed, succeeded=lambda answer: answer["works"])
def doctor(
    folder: Path,
    bundle: Annotated[
        Path | None,
        typer.Option(parser=given_path, help="Write a zip file for a bug report: no memories, no names of namespaces."),
    ] = None,
) -> JsonObject:
    """Check installation, store, hub, clients and hooks, and say what to do. Status 1: something does not work."""
    from actors.cli.checks import Verdict
    from actors.cli.diagnosis import diagnose

    folder = folder.absolute()
    checks = [*diagnose(folder)]
    works = all(check.verdict is not Verdict.FAILED for check in checks)
    answer: JsonObject = {"works": works, "folder": str(folder), "checks": msgspec.to_builtins(checks)}
    if bundle is not None:
        _write_bundle(bundle, folder, answer)
        answer["bundle"] = str(bundle)
    return answer


def _write_bundle(bundle: Path, folder: Path, answer: JsonObject) -> None:
    """Write the checks, versions, latencies and errors. The home folder, which names a person, is written as `~`."""
    from actors.cli.diagnosis import installed_versions, logged_errors

    parts = {
        "checks.json": json.dumps(answer, indent=2),
        "versions.json": json.dumps(installed_versions(), indent=2),
        "errors.txt": "\n".join(logged_errors(folder)),
        **{
            name: file.read_text(encoding="utf-8")
            for name in ("latencies.json", "hub.json")
            if (file := folder / name).exists()
        },
    }
    home = str(Path.home())
    with zipfile.ZipFile(bundle, "x", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, text.replace(home, "~") if len(home) > 1 else text)
