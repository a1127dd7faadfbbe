"""Commands that show a store, its memories, its goals and its workspace."""

from __future__ import annotations

from typing import Annotated

import typer

from actors.cli.memory_ids import HELP, Memory, MemoryId
from actors.cli.options import AsOf, Namespace
from actors.cli.program import Call, Panel, store_command


@store_command(Panel.INSPECT, "store/status", "memories.status", reads=True)
def status(as_of: AsOf = None) -> None:
    """Show how much the store holds, the models of its spaces, and latencies."""


@store_command(Panel.INSPECT, "memory/retrieve", "memories.memory", reads=True)
def show(
    id: Memory,
    as_of: AsOf = None,
) -> None:
    """Show a memory with its state and links."""


@store_command(Panel.INSPECT, "memory/compare", reads=True)
def compare(
    one: Annotated[MemoryId, typer.Argument(parser=MemoryId, metavar="ONE", help=HELP)],
    other: Annotated[MemoryId, typer.Argument(parser=MemoryId, metavar="OTHER", help="Another one.")],
) -> Call:
    """Show the similarity of two memories, space by space."""
    from actors.cli.views.memories import compared

    return {"memory_a": one, "memory_b": other, "include_per_embedder": True}, compared


@store_command(Panel.INSPECT, "goal/discover", "mind.goals")
def goals(namespace: Namespace = None) -> None:
    """Find what the memories are about; choose a North Star among the goals if there is none."""


@store_command(Panel.INSPECT, "purpose/drift_check", "mind.drift", reads=True)
def drift(namespace: Namespace = None) -> None:
    """Show how far the latest memories have drifted from the North Star, and in which spaces."""


@store_command(Panel.INSPECT, "consciousness/get_state", "mind.mind", reads=True)
def mind(namespace: Namespace = None) -> None:
    """Show the workspace, the agreement of the spaces, and the stage of the store's life."""
