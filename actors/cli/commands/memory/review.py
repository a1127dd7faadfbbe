"""The command that reviews what hooks captured: keep, drop or edit each sentence."""

import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Annotated

import typer

from actors.cli.options import Data, Embedder, Json, Models, full_id, location_of
from actors.cli.program import Panel, app, exit_on_error, show
from actors.cli.store_access import CommandError, StoreSession, open_store
from actors.proxy.serve_command import data_folder
from actors.runtime.settings import ModelProfile
from actors.runtime.types import JsonObject

KEPT_IMPORTANCE = 0.7
"""Importance of what a person kept; consolidation prunes nothing above .6."""

QUESTION = "[k]eep, [d]rop, [e]dit, [s]kip, [q]uit"
ANSWERS = frozenset("kdesq")


@app.command(rich_help_panel=Panel.REMEMBER)
def review(
    context: typer.Context,
    data: Data = None,
    namespace: Annotated[str | None, typer.Option("--namespace", "-n", help="Only what is in this one.")] = None,
    keep: Annotated[list[str] | None, typer.Option(metavar="MEMORY", help="Keep it. May be repeated.")] = None,
    drop: Annotated[list[str] | None, typer.Option(metavar="MEMORY", help="Forget it. May be repeated.")] = None,
    edit: Annotated[
        tuple[str, str] | None, typer.Option(metavar="MEMORY TEXT", help="Keep it in these words.", show_default=False)
    ] = None,
    embedder: Embedder = ModelProfile.EMBEDDED,
    models: Models = None,
    *,
    as_json: Json = False,
) -> None:
    """Review what was captured at the ends of sessions: does what the options say, or asks about each one.

    What is kept is stored anew without the tag `captured`; what was captured is then forgotten.
    """
    wishes: dict[str, str | None] = {**dict.fromkeys(keep or (), ""), **dict.fromkeys(drop or ())}
    if edit:
        wishes[edit[0]] = edit[1]
    location = location_of(context, data_folder(data), embedder, models)
    with exit_on_error(), open_store(location) as store:
        pending = {one["id"]: one for one in _pending(store, namespace)}
        wishes = {full_id(store, given): wish for given, wish in wishes.items()}
        if unknown := sorted(wishes.keys() - pending.keys()):
            raise CommandError(f"nothing to review has the id {unknown[0]}")
        kept = dropped = 0
        asks = not wishes and not as_json and sys.stdin.isatty()
        for memory, wish in _asked(pending) if asks else wishes.items():
            if wish is None:
                store.call("memory/delete", id=memory, reason="dropped in a review")
                dropped += 1
            else:
                _keep(store, pending[memory], wish or pending[memory]["content"])
                kept += 1
            del pending[memory]
    show({"kept": kept, "dropped": dropped, "pending": [*pending.values()]}, _printed, as_json=as_json)


def _pending(store: StoreSession, namespace: str | None) -> Iterator[JsonObject]:
    """Return what was captured and not reviewed, in the order in which it was stored."""
    from actors.capture.selection import TAG
    from actors.exporters.files import Export, memories

    exported = memories(Export(store.call, lambda *_: None, namespace or None, {}))
    return (one for one in exported if TAG in one.get("tags", ()))


def _asked(pending: dict[str, JsonObject]) -> Iterator[tuple[str, str | None]]:
    """Ask about each memory; yield its id, and the text to keep ("" as it is) or None to drop it.

    Ctrl-C and the end of the input quit, as `q` does: what was answered before is done.
    """
    from actors.cli.views.terminal import OUT, visible

    items = [*pending.items()]
    with suppress(typer.Abort):
        for place, (memory, one) in enumerate(items, 1):
            OUT.print()
            OUT.print_line(
                f"{place} of {len(items)} in {one['namespace']}, {one['created_at'][:16]}, {one['rationale']}"
            )
            OUT.print(f"  {one['metadata'].get('evidence', {}).get('text', '')}".replace("\n", "\n  "))
            OUT.print(one["content"], style="bold")
            answer = ""
            while answer not in ANSWERS:
                answer = typer.prompt(QUESTION, default="s").strip()[:1].lower()
            if answer == "q":
                return
            if answer in {"k", "d"}:
                yield memory, "" if answer == "k" else None
            elif answer == "e":
                shown = visible(one["content"])
                text = typer.prompt("In these words", default=shown)
                yield memory, "" if text == shown else text


def _keep(store: StoreSession, one: JsonObject, text: str) -> None:
    from actors.capture.selection import TAG
    from actors.importers.records import memory_id

    successor = str(memory_id("reviewed", one["id"], text))
    tags = [tag for tag in one["tags"] if tag != TAG]
    item = one | {"id": successor, "content": text, "tags": tags, "importance": KEPT_IMPORTANCE}
    (result,) = store.call("memory/import", items=[item])["results"]
    if not result["success"]:
        raise CommandError(result["error"]["message"])
    store.call("memory/delete", id=one["id"], reason=f"kept in a review as {successor}")


def _printed(answer: JsonObject) -> None:
    from actors.cli.views.terminal import OUT

    for one in answer["pending"]:
        OUT.print(f"{one['id']}  {one['content']}")
    if not (answer["kept"] or answer["dropped"] or answer["pending"]):
        OUT.print("nothing was captured, or all of it is reviewed; install --capture turns capture on")
        return
    OUT.print(f"{answer['kept']} kept, {answer['dropped']} dropped, {len(answer['pending'])} to review", style="dim")
