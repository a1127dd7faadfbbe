"""Commands for what the memories serve and what is attended to."""

from __future__ import annotations

from actors.cli.program import Data, Json, Namespace, app, perform


@app.command()
def goals(data: Data = None, namespace: Namespace = None, *, as_json: Json = False) -> None:
    """Find what the memories are about; where there is no North Star yet, one is chosen among the goals."""
    from actors.cli.views import memories as views

    perform(data, "goal/discover", {"namespace": namespace}, views.goals, as_json=as_json)


@app.command()
def drift(data: Data = None, namespace: Namespace = None, *, as_json: Json = False) -> None:
    """Tell how far the latest memories have moved from the North Star, and in which spaces."""
    from actors.cli.views import memories as views

    perform(data, "purpose/drift_check", {"namespace": namespace}, views.drift, as_json=as_json)


@app.command()
def mind(data: Data = None, *, as_json: Json = False) -> None:
    """Show what is in the workspace, how well the spaces agree on it, and how far the store has grown up."""
    from actors.cli.views import memories as views

    perform(data, "consciousness/get_state", {}, views.mind, as_json=as_json)
