"""What the operations on goals, the workspace and the graph take (seeds 001 and 004; facts 11.6 and 12.2).

As in `schemas`, descriptions are for agents and paid for in every conversation.
"""

from typing import Annotated, ClassVar

from msgspec import Meta

from actors.api.params.fields import DEFAULT_NAMESPACE, MAX_DRIFT, MAX_GOALS, MAX_HOPS, MAX_NODES, Name, Query
from actors.api.params.memories import OneMemory
from actors.api.params.parsing import Params, check_text
from actors.runtime.settings import PathKind

# ── goals ───────────────────────────────────────────────────────────────────────────────────────────


class DiscoverGoals(Params, frozen=True, kw_only=True):
    """Arguments of `discover_goals`; none of them says what a goal should be (ARCH-03)."""

    namespace: Name = DEFAULT_NAMESPACE
    min_confidence: Annotated[float, Meta(ge=0, le=1)] = 0.6
    max_goals: Annotated[int, Meta(ge=1, le=MAX_GOALS)] = 5


class GetAlignmentDrift(Params, frozen=True, kw_only=True):
    """Arguments of `get_alignment_drift`."""

    namespace: Name = DEFAULT_NAMESPACE
    memories: Annotated[int, Meta(ge=1, le=MAX_DRIFT, description="How many of the latest")] = 100
    include_history: bool = False


class TriggerDriftCorrection(Params, frozen=True, kw_only=True):
    """Arguments of `trigger_drift_correction`."""

    namespace: Name = DEFAULT_NAMESPACE


# ── workspace ───────────────────────────────────────────────────────────────────────────────────────


class GetConsciousnessState(Params, frozen=True, kw_only=True):
    """Arguments of `get_consciousness_state`."""

    namespace: Annotated[Name | None, Meta(description="Its memories only")] = None


class GetWorkspaceStatus(Params, frozen=True, kw_only=True):
    """Arguments of `get_workspace_status`."""

    namespace: Annotated[Name | None, Meta(description="Its memories only")] = None


class AdjustCoupling(Params, frozen=True, kw_only=True):
    """Arguments of `adjust_coupling`."""

    aliases: ClassVar[dict[str, str]] = {"new__k": "new_k", "k": "new_k", "_k": "new_k", "coupling": "new_k"}

    new_k: Annotated[float, Meta(ge=0, le=10)]


class TriggerWorkspaceBroadcast(OneMemory, frozen=True, kw_only=True):
    """Arguments of `trigger_workspace_broadcast`."""

    force: Annotated[bool, Meta(description="Even below r .8")] = False


# ── graph ───────────────────────────────────────────────────────────────────────────────────────────


class FindCausalPath(Params, frozen=True, kw_only=True):
    """Arguments of `find_causal_path`: each end is the id of a memory, or a text by which one is found."""

    start_concept: Annotated[Query, Meta(description="Id of a memory, or words that find it")]
    end_concept: Query
    max_hops: Annotated[int, Meta(ge=1, le=MAX_HOPS)] = 4
    path_type: PathKind = PathKind.ANY
    include_alternatives: bool = False
    namespace: Name | None = None

    def check(self) -> None:
        """Refuse blank ends."""
        check_text(self.start_concept, "start_concept")
        check_text(self.end_concept, "end_concept")


class GetNeighborhood(OneMemory, frozen=True, kw_only=True):
    """Arguments of `get_neighborhood`."""

    depth: Annotated[int, Meta(ge=1, le=3)] = 1
    limit: Annotated[int, Meta(ge=1, le=MAX_NODES)] = 20
