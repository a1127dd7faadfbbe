"""Commands for what the memories serve and what is attended to."""

from __future__ import annotations

from actors.cli.program import Data, Json, Namespace, app, perform, told_plainly


@app.command()
def goals(data: Data = None, namespace: Namespace = None, *, as_json: Json = False) -> None:
    """Find what the memories are about; where there is no North Star yet, one is chosen among the goals."""
    from actors.cli import views
    from actors.front.fields import DEFAULT_NAMESPACE
    from actors.front.mind_schemas import DiscoverGoals
    from actors.front.parsing import parse

    with told_plainly():
        params = parse({"namespace": namespace or DEFAULT_NAMESPACE}, DiscoverGoals)
    perform(
        data, lambda operations, progress: operations.discover_goals(params, progress), views.goals, as_json=as_json
    )


@app.command()
def drift(data: Data = None, namespace: Namespace = None, *, as_json: Json = False) -> None:
    """Tell how far the latest memories have moved from the North Star, and in which spaces."""
    from actors.cli import views
    from actors.front.fields import DEFAULT_NAMESPACE
    from actors.front.mind_schemas import GetAlignmentDrift
    from actors.front.parsing import parse

    with told_plainly():
        params = parse({"namespace": namespace or DEFAULT_NAMESPACE}, GetAlignmentDrift)
    perform(data, lambda operations, _progress: operations.get_alignment_drift(params), views.drift, as_json=as_json)


@app.command()
def mind(data: Data = None, *, as_json: Json = False) -> None:
    """Show what is in the workspace, how well the spaces agree on it, and how far the store has grown up."""
    from actors.cli import views
    from actors.front.mind_schemas import GetConsciousnessState

    params = GetConsciousnessState()
    perform(data, lambda operations, _progress: operations.get_consciousness_state(params), views.mind, as_json=as_json)
