"""Parameters of operations on sleep. Docstrings are the descriptions of tools."""

from typing import Annotated
from uuid import UUID

from msgspec import Meta

from actors.api.params.fields import NamespaceFilter, Reading, Reason, Share
from actors.api.params.parsing import Params
from actors.consolidator.messages import SALIENCE_THRESHOLD, DreamPhase
from actors.runtime.settings import SleepMode

NEVER = "off"
"""Schedule of a mode that never starts by itself."""

Salience = Annotated[Share, Meta(description="Prune below it")]


class ConsolidateMemories(Params, frozen=True, kw_only=True):
    """Clean up, once a minute: light merges duplicates and prunes memories of low salience.

    deep also merges near duplicates and links groups; rem also finds patterns and drift. dry_run only shows the
    result; undo_consolidation takes a run back.
    """

    mode: Annotated[SleepMode, Meta(description="How deep")] = SleepMode.LIGHT
    salience_threshold: Salience = SALIENCE_THRESHOLD
    max_memories: Annotated[int, Meta(ge=0, le=1_000_000_000, description="Latest only; 0 for all")] = 0
    dry_run: Annotated[bool, Meta(description="Change nothing")] = False
    namespace: NamespaceFilter = None
    max_seconds: Annotated[
        Annotated[float, Meta(gt=0, le=600)] | None, Meta(description="Stop after it without a change")
    ] = None
    rationale: Annotated[Reason | None, Meta(description="Why, for the audit")] = None


class UndoConsolidation(Params, frozen=True, kw_only=True):
    """Take back what a run did."""

    run_id: Annotated[UUID, Meta(description="Of list_consolidations")]
    memory_id: Annotated[UUID | None, Meta(description="Only this memory")] = None


class ListConsolidations(Reading, frozen=True, kw_only=True):
    """List what the latest runs did, and why."""

    run_id: Annotated[UUID | None, Meta(description="This one, memory by memory")] = None
    limit: Annotated[int, Meta(ge=1, le=100, description="Runs")] = 10


class GetPruningCandidates(Reading, frozen=True, kw_only=True):
    """List what would be pruned now, with its salience, and what is protected."""

    limit: Annotated[int, Meta(ge=1, le=1_000, description="Memories")] = 20
    salience_threshold: Salience = SALIENCE_THRESHOLD
    namespace: NamespaceFilter = None


class TriggerDream(Params, frozen=True, kw_only=True):
    """Replay fading memories, strengthen walked links, look for patterns, in the background.

    Use it when entropy stays above .7 and coherence below .4.
    """

    not_blank = ("rationale",)

    rationale: Annotated[str, Meta(min_length=1, max_length=1_024, description="Why, for the audit")]
    phase: Annotated[DreamPhase, Meta(description="nrem replays, rem looks for patterns")] = DreamPhase.FULL_CYCLE
    force: Annotated[bool, Meta(description="Despite the pause of a minute")] = False
    abort_on_query: Annotated[bool, Meta(description="Stop when somebody searches")] = True
    blocking: Annotated[bool, Meta(description="Answer when it has ended")] = False
    namespace: NamespaceFilter = None


class GetDreamStatus(Reading, frozen=True, kw_only=True):
    """Check whether it sleeps, how the last dream ended, when the next sleep starts."""


class ChangeSchedules(Params, frozen=True, kw_only=True):
    """Read or change when each mode of sleep starts: a crontab line, an interval like `90m`, or `off`."""

    light: str | None = None
    deep: str | None = None
    rem: str | None = None
    paused: bool | None = None
    pruning_permitted: bool | None = None
    backups: (
        Annotated[int, Meta(ge=0, le=365, description="How many of those after deep sleep are kept; 0 for none")] | None
    ) = None
    anchor: (
        Annotated[
            str,
            Meta(
                min_length=1, max_length=4_096, description="File or git:FOLDER for an anchor after deep sleep, or off"
            ),
        ]
        | None
    ) = None
