"""Operations on the global workspace: its focus, its memories, and the coupling of the spaces."""

from __future__ import annotations

from uuid import UUID

import msgspec

from actors.api.context import Context, check_live, describe, wait_until_ready, wait_until_replayed
from actors.api.params.fields import EVERYWHERE
from actors.api.params.mind import (
    AdjustCoupling,
    GetConsciousnessState,
    GetWorkspaceStatus,
    TriggerWorkspaceBroadcast,
)
from actors.api.responses.common import body_of
from actors.api.responses.mind import workspace
from actors.runtime.ask import ask
from actors.runtime.types import JsonObject
from actors.workspace.messages import Attention, Broadcast, ReadAttention, SetCoupling
from projections.memories.catalog import Entry
from projections.projection import MemoryState


async def get_consciousness_state(context: Context, params: GetConsciousnessState) -> JsonObject:
    """Return C = I·R·D with its parts, the state by r, the winner, and how far the store has grown up."""
    now, held = await _attention(context, params.namespace)
    return workspace.consciousness(now, held, context.now())


async def get_workspace_status(context: Context, params: GetWorkspaceStatus) -> JsonObject:
    """Return what is in the workspace, what competes for it, and what waits for REM."""
    now, held = await _attention(context, params.namespace)
    return workspace.status(now, held, context.now())


async def adjust_coupling(context: Context, params: AdjustCoupling) -> JsonObject:
    """Set K, and measure again what the last focus found."""
    await wait_until_replayed(context)
    before = await ask(context.hub.workspace, ReadAttention())
    after = await ask(context.hub.workspace, SetCoupling(coupling=params.new_k))
    return workspace.coupling_adjusted(before, after, context.now())


async def trigger_workspace_broadcast(context: Context, params: TriggerWorkspaceBroadcast) -> JsonObject:
    """Make a memory the focus, and let it into the workspace."""
    await wait_until_ready(context)
    (entry,) = await describe(context, params.id)
    check_live(entry)
    now = await ask(
        context.hub.workspace,
        Broadcast(memory=entry.id, namespace=body_of(entry).namespace, force=params.force),
    )
    return workspace.broadcast(entry.id, await _seen(context, now, frozenset({body_of(entry).namespace})))


async def _attention(context: Context, namespace: str | None) -> tuple[Attention, dict[UUID, Entry]]:
    """Return the workspace as a namespace may see it, and what the catalog knows of the memories there."""
    await wait_until_replayed(context)
    wanted = context.visible if namespace is None or namespace == EVERYWHERE else frozenset({namespace})
    now = await _seen(context, await ask(context.hub.workspace, ReadAttention()), wanted)
    return now, await _held(context, now)


async def _seen(context: Context, now: Attention, namespaces: frozenset[str] | None) -> Attention:
    """Return the workspace without the memories of other namespaces than these; all of it for None."""
    if namespaces is None:
        return now
    held = await _held(context, now)
    ours = {memory for memory, entry in held.items() if body_of(entry).namespace in namespaces}
    focus = now.focus if now.focus and now.focus.namespace in {None, *namespaces} else None
    if focus is not None:
        seen = tuple(one for one in focus.candidates if one.memory in ours)
        focus = msgspec.structs.replace(focus, candidates=seen)
    rivals = tuple(memory for memory in now.conflict if memory in ours)
    return msgspec.structs.replace(
        now,
        focus=focus,
        ignited=tuple(one for one in now.ignited if one.memory in ours),
        conflict=rivals if len(rivals) > 1 else (),
        queued=tuple(one for one in now.queued if one.memory in ours),
    )


async def _held(context: Context, now: Attention) -> dict[UUID, Entry]:
    candidates = now.focus.candidates if now.focus else ()
    wanted = dict.fromkeys((*(one.memory for one in (*now.ignited, *candidates, *now.queued)), *now.conflict))
    entries = await describe(context, *wanted)
    return {entry.id: entry for entry in entries if entry.state is MemoryState.LIVE}
