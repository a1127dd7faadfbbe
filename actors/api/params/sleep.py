"""What the operations on sleep take (seed 003; facts 10 and 12.2).

As in `schemas`, descriptions are for agents and paid for in every conversation.
"""

from typing import Annotated
from uuid import UUID

from msgspec import Meta

from actors.api.params.fields import MAX_CANDIDATES, MAX_MEMORIES, MAX_RUNS, MAX_SECONDS, Name
from actors.api.params.parsing import Params, check_text
from actors.consolidator.messages import SALIENCE_THRESHOLD, DreamPhase
from actors.runtime.settings import SleepMode

NEVER = "off"
"""Instead of a time: a mode that isn't to come by itself."""

Salience = Annotated[float, Meta(ge=0, le=1)]
Rationale = Annotated[str, Meta(min_length=1, max_length=1_024)]


class ConsolidateMemories(Params, frozen=True, kw_only=True):
    """Arguments of `consolidate_memories` (seed 003), and whose memories and how long."""

    mode: SleepMode = SleepMode.LIGHT
    salience_threshold: Salience = SALIENCE_THRESHOLD
    max_memories: Annotated[int, Meta(ge=0, le=MAX_MEMORIES, description="Look at the latest only; 0 for all")] = 0
    dry_run: bool = False
    namespace: Name | None = None
    max_seconds: Annotated[float, Meta(gt=0, le=MAX_SECONDS)] | None = None


class UndoConsolidation(Params, frozen=True, kw_only=True):
    """Arguments of `undo_consolidation`."""

    run_id: UUID
    memory_id: Annotated[UUID | None, Meta(description="Only this one")] = None


class ListConsolidations(Params, frozen=True, kw_only=True):
    """Arguments of `list_consolidations`."""

    run_id: Annotated[UUID | None, Meta(description="This one, memory by memory")] = None
    limit: Annotated[int, Meta(ge=1, le=MAX_RUNS)] = 10


class GetPruningCandidates(Params, frozen=True, kw_only=True):
    """Arguments of `get_pruning_candidates`."""

    limit: Annotated[int, Meta(ge=1, le=MAX_CANDIDATES)] = 20
    salience_threshold: Salience = SALIENCE_THRESHOLD
    namespace: Name | None = None


class TriggerDream(Params, frozen=True, kw_only=True):
    """Arguments of `trigger_dream`."""

    rationale: Rationale
    phase: DreamPhase = DreamPhase.FULL_CYCLE
    force: Annotated[bool, Meta(description="Despite the pause of a minute")] = False
    abort_on_query: bool = True
    blocking: bool = False
    namespace: Name | None = None

    def check(self) -> None:
        """Refuse a blank rationale."""
        check_text(self.rationale, "rationale")


class GetDreamStatus(Params, frozen=True, kw_only=True):
    """Arguments of `get_dream_status`."""


class ChangeSchedules(Params, frozen=True, kw_only=True):
    """Arguments of `schedule`: for each mode a crontab line, an interval as `90m`, or off; what is left out stays."""

    light: str | None = None
    deep: str | None = None
    rem: str | None = None
    paused: bool | None = None
    pruning_permitted: bool | None = None
