"""Parameters of operations on goals, the workspace and the graph. Docstrings are the descriptions of tools."""

from typing import Annotated, ClassVar

from msgspec import Meta

from actors.api.params.fields import DEFAULT_NAMESPACE, Name, Query
from actors.api.params.memories import OneMemory
from actors.api.params.parsing import Params
from actors.runtime.settings import PathKind

OptionalNamespace = Annotated[Name | None, Meta(description="Its memories only")]


class DiscoverGoals(Params, frozen=True, kw_only=True):
    """Find the goals that the memories of a namespace serve, in their own words.

    The first call also chooses the North Star, against which all are measured.
    """

    namespace: Name = DEFAULT_NAMESPACE
    min_confidence: Annotated[float, Meta(ge=0, le=1)] = 0.6
    max_goals: Annotated[int, Meta(ge=1, le=20)] = 5


class GetAlignmentDrift(Params, frozen=True, kw_only=True):
    """Measure how far the latest memories have moved from the North Star, in which spaces, and the trend."""

    namespace: Name = DEFAULT_NAMESPACE
    memories: Annotated[int, Meta(ge=1, le=2_000, description="How many of the latest")] = 100
    include_history: bool = False


class TriggerDriftCorrection(Params, frozen=True, kw_only=True):
    """If there is drift, measure all memories again or choose a better North Star."""

    namespace: Name = DEFAULT_NAMESPACE


class GetConsciousnessState(Params, frozen=True, kw_only=True):
    """Measure how well the spaces agree on the focus (r), C = I*R*D and what limits it, stage of life."""

    namespace: OptionalNamespace = None


class GetWorkspaceStatus(Params, frozen=True, kw_only=True):
    """List the memories that are ignited now: the next searches prefer them."""

    namespace: OptionalNamespace = None


class AdjustCoupling(Params, frozen=True, kw_only=True):
    """Set the coupling K: the higher, the sooner memories ignite; 0 lets none."""

    aliases: ClassVar[dict[str, str]] = {"new__k": "new_k", "k": "new_k", "_k": "new_k", "coupling": "new_k"}

    new_k: Annotated[float, Meta(ge=0, le=10)]


class TriggerWorkspaceBroadcast(OneMemory, frozen=True, kw_only=True):
    """Put a memory into focus, so that searches prefer it and what agrees with it."""

    force: Annotated[bool, Meta(description="Even if r is below .8")] = False


class FindCausalPath(Params, frozen=True, kw_only=True):
    """Find the chain of causes, or of any links, from one memory to another, with its confidence."""

    not_blank = ("start_concept", "end_concept")

    start_concept: Annotated[Query, Meta(description="Id of a memory, or words that find it")]
    end_concept: Query
    max_hops: Annotated[int, Meta(ge=1, le=6)] = 4
    path_type: PathKind = PathKind.ANY
    include_alternatives: bool = False
    namespace: Name | None = None


class GetNeighborhood(OneMemory, frozen=True, kw_only=True):
    """List what a memory is connected with: links, causes, groups, turns."""

    depth: Annotated[int, Meta(ge=1, le=3)] = 1
    limit: Annotated[int, Meta(ge=1, le=100)] = 20
