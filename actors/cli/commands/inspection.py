"""Commands that show a store, its memories, its goals and its workspace."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

import typer

from actors.cli.program import AsOf, Call, Namespace, Panel, store_command


@store_command(Panel.INSPECT, "store/status")
def status(as_of: AsOf = None) -> Call:
    """Show how much the store holds, the models of its spaces, and latencies."""
    from actors.cli.views.memories import status as view

    return {"as_of": as_of}, view


@store_command(Panel.INSPECT, "memory/retrieve")
def show(memory: Annotated[str, typer.Argument(help="Id of the memory.")], as_of: AsOf = None) -> Call:
    """Show a memory with its state and links."""
    from actors.cli.views.memories import memory as view

    return {"id": memory, "as_of": as_of}, view


@store_command(Panel.INSPECT, "memory/compare")
def compare(
    one: Annotated[UUID, typer.Argument(help="Id of a memory.")],
    other: Annotated[UUID, typer.Argument(help="Id of another one.")],
) -> Call:
    """Show the similarity of two memories, space by space."""
    from actors.cli.views.memories import compared

    return {"memory_a": str(one), "memory_b": str(other), "include_per_embedder": True}, compared


@store_command(Panel.INSPECT, "goal/discover")
def goals(namespace: Namespace = None) -> Call:
    """Find what the memories are about; choose a North Star among the goals if there is none."""
    from actors.cli.views.mind import goals as view

    return {"namespace": namespace}, view


@store_command(Panel.INSPECT, "purpose/drift_check")
def drift(namespace: Namespace = None) -> Call:
    """Show how far the latest memories have drifted from the North Star, and in which spaces."""
    from actors.cli.views.mind import drift as view

    return {"namespace": namespace}, view


@store_command(Panel.INSPECT, "consciousness/get_state")
def mind() -> Call:
    """Show the workspace, the agreement of the spaces, and the stage of the store's life."""
    from actors.cli.views.mind import mind as view

    return {}, view
