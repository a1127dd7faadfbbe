"""Operations on the workspace: what is attended to now, how strongly the spaces pull on each other."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import msgspec

from actors.api.context import Access, Progress, check_live, silent
from actors.api.params.mind import (
    AdjustCoupling,
    GetConsciousnessState,
    GetWorkspaceStatus,
    TriggerWorkspaceBroadcast,
)
from actors.api.responses import workspace
from actors.api.responses.common import body_of
from actors.workspace import messages
from actors.workspace.messages import Attention, ReadAttention
from projections.memories.catalog import Entry
from projections.projection import MemoryState


class Attending(Access):
    """The global workspace, from outside."""

    async def get_consciousness_state(
        self, params: GetConsciousnessState, _progress: Progress = silent
    ) -> dict[str, Any]:
        """Return C = I·R·D with its parts, the state by r, the winner, and how far the store has grown up."""
        now, held = await self._attention(params.namespace)
        return workspace.consciousness(now, held, self.now())

    async def get_workspace_status(self, params: GetWorkspaceStatus, _progress: Progress = silent) -> dict[str, Any]:
        """Return what is in the workspace, what competes for it, and what waits for REM."""
        now, held = await self._attention(params.namespace)
        return workspace.status(now, held, self.now())

    async def adjust_coupling(self, params: AdjustCoupling, _progress: Progress = silent) -> dict[str, Any]:
        """Set K, and measure again what the last focus found."""
        await self.replayed()
        before: Attention = await self.ask(self.hub.workspace, ReadAttention())
        after: Attention = await self.ask(self.hub.workspace, messages.SetCoupling(coupling=params.new_k))
        return workspace.coupling_adjusted(before, after, self.now())

    async def trigger_workspace_broadcast(
        self, params: TriggerWorkspaceBroadcast, progress: Progress = silent
    ) -> dict[str, Any]:
        """Make a memory the focus, and let it into the workspace."""
        await self.ready(progress)
        (entry,) = await self.describe(params.id)
        check_live(entry)
        now: Attention = await self.ask(
            self.hub.workspace,
            messages.Broadcast(memory=entry.id, namespace=body_of(entry).namespace, force=params.force),
        )
        return workspace.broadcast(entry.id, await self._seen(now, body_of(entry).namespace))

    async def _attention(self, namespace: str | None) -> tuple[Attention, dict[UUID, Entry]]:
        """Return the workspace as a namespace may see it, and what the catalog knows of the memories there."""
        await self.replayed()
        now = await self._seen(await self.ask(self.hub.workspace, ReadAttention()), namespace)
        return now, await self._held(now)

    async def _seen(self, now: Attention, namespace: str | None) -> Attention:
        """Return the workspace without the memories of other namespaces."""
        if namespace is None:
            return now
        held = await self._held(now)
        ours = {memory for memory, entry in held.items() if body_of(entry).namespace == namespace}
        focus = now.focus if now.focus and now.focus.namespace in {None, namespace} else None
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

    async def _held(self, now: Attention) -> dict[UUID, Entry]:
        candidates = now.focus.candidates if now.focus else ()
        wanted = dict.fromkeys((*(one.memory for one in (*now.ignited, *candidates, *now.queued)), *now.conflict))
        entries = await self.describe(*wanted)
        return {entry.id: entry for entry in entries if entry.state is MemoryState.LIVE}
