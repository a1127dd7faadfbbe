"""The command that lists namespaces."""

from __future__ import annotations

from actors.cli.program import LOCK_TIMEOUT, Data, Json, Panel, app, data_folder, exit_on_error, show
from actors.runtime.types import JsonObject


@app.command(rich_help_panel=Panel.INSPECT)
def namespaces(data: Data = None, *, as_json: Json = False) -> None:
    """List the namespaces with the number of their memories, and the repositories that they belong to."""
    from actors.cli.store_access import open_store, store_location
    from actors.proxy.project import claims

    folder = data_folder(data)
    with exit_on_error(), open_store(store_location(folder), lock_timeout=LOCK_TIMEOUT) as store:
        counts = store.call("store/status")["namespaces"]
        projects = {name: str(path) for name, path in claims(folder)}
    answer: JsonObject = {
        "namespaces": [
            {"namespace": name, "memories": counts.get(name, 0), "project": projects.get(name)}
            for name in sorted({*counts, *projects})
        ]
    }
    show(answer, _printed, as_json=as_json)


def _printed(answer: JsonObject) -> None:
    from actors.cli.views.terminal import OUT

    for one in answer["namespaces"]:
        where = f"  {one['project']}" if one["project"] else ""
        OUT.print(f"{one['memories']:>7}  {one['namespace']}{where}", markup=False)
