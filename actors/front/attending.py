"""Operations on the workspace: what is attended to now, how strongly the spaces pull on each other."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from actors.front.access import Access, Progress, check_live, silent
from actors.front.answers import attention
from actors.front.answers.memories import body_of
from actors.front.mind_schemas import (
    AdjustCoupling,
    GetConsciousnessState,
    GetWorkspaceStatus,
    TriggerWorkspaceBroadcast,
)
from actors.messages import workspace as messages
from actors.messages.workspace import Attention, ReadAttention
from projections.catalog import Entry
from projections.projection import State


class Attending(Access):
    """The global workspace, from outside."""

    async def get_consciousness_state(
        self, _params: GetConsciousnessState, _progress: Progress = silent
    ) -> dict[str, Any]:
        """Return C = I·R·D with its parts, the state by r, the winner, and how far the store has grown up."""
        now, held = await self._attention()
        return attention.consciousness(now, held, datetime.now(UTC))

    async def get_workspace_status(self, _params: GetWorkspaceStatus, _progress: Progress = silent) -> dict[str, Any]:
        """Return what is in the workspace, what competes for it, and what waits for REM."""
        now, held = await self._attention()
        return attention.status(now, held, datetime.now(UTC))

    async def adjust_coupling(self, params: AdjustCoupling, _progress: Progress = silent) -> dict[str, Any]:
        """Set K, and measure again what the last focus found."""
        before, _ = await self._attention()
        after: Attention = await self.ask(self.hub.workspace, messages.AdjustCoupling(coupling=params.new_k))
        return attention.adjusted(before, after, datetime.now(UTC))

    async def trigger_workspace_broadcast(
        self, params: TriggerWorkspaceBroadcast, progress: Progress = silent
    ) -> dict[str, Any]:
        """Make a memory the focus, and let it into the workspace."""
        await self.ready(progress)
        (entry,) = await self.describe(params.id)
        check_live(entry)
        now: Attention = await self.ask(
            self.hub.workspace,
            messages.Broadcast(memory=params.id, namespace=body_of(entry).namespace, force=params.force),
        )
        return attention.broadcast(params.id, now)

    async def _attention(self) -> tuple[Attention, dict[Any, Entry]]:
        """Return the workspace, and what the catalog knows of the memories in it and before it."""
        await self.replayed()
        now: Attention = await self.ask(self.hub.workspace, ReadAttention())
        candidates = now.focus.candidates if now.focus else ()
        wanted = dict.fromkeys((*(one.memory for one in now.ignited), *(one.memory for one in candidates)))
        entries = await self.describe(*wanted)
        return now, {entry.id: entry for entry in entries if entry.state is State.LIVE}
