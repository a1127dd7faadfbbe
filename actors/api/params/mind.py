"""Parameters of operations on goals, the workspace and the graph. Docstrings are the descriptions of tools."""

from typing import Annotated, ClassVar

from msgspec import Meta

from actors.api.params.fields import DEFAULT_NAMESPACE, MemoryId, Namespace, NamespaceFilter, QueryText, Reading, Share
from actors.api.params.memories import ID_ALIASES, OneMemory
from actors.api.params.parsing import Params
from actors.runtime.settings import PathKind


class DiscoverGoals(Params, frozen=True, kw_only=True):
    """Find the goals that the memories of a namespace serve.

    The first call also chooses the North Star.
    """

    namespace: Namespace = DEFAULT_NAMESPACE
    min_confidence: Annotated[Share, Meta(description="Leave out less certain")] = 0.6
    max_goals: Annotated[int, Meta(ge=1, le=20, description="At most")] = 5


class GetAlignmentDrift(Reading, frozen=True, kw_only=True):
    """Measure how far the latest memories have moved from the North Star, in which spaces, and the trend."""

    namespace: Namespace = DEFAULT_NAMESPACE
    memories: Annotated[int, Meta(ge=1, le=2_000, description="How many of the latest")] = 100
    include_history: Annotated[bool, Meta(description="Add earlier windows and levels")] = False


class TriggerDriftCorrection(Params, frozen=True, kw_only=True):
    """If there is drift, measure all memories again or choose a better North Star."""

    namespace: Namespace = DEFAULT_NAMESPACE


class GetConsciousnessState(Reading, frozen=True, kw_only=True):
    """Measure how well the spaces agree on the focus (r), C = I*R*D and what limits it, stage of life."""

    namespace: NamespaceFilter = None


class GetWorkspaceStatus(Reading, frozen=True, kw_only=True):
    """List the memories that are ignited now; with --priming, searches prefer them."""

    namespace: NamespaceFilter = None


class AdjustCoupling(Params, frozen=True, kw_only=True):
    """Set the coupling K: the higher, the sooner memories ignite; 0 lets none."""

    aliases: ClassVar[dict[str, str]] = {"new__k": "new_k", "k": "new_k", "_k": "new_k", "coupling": "new_k"}

    new_k: Annotated[float, Meta(ge=0, le=10, description="K")]


class TriggerWorkspaceBroadcast(OneMemory, frozen=True, kw_only=True):
    """Put a memory into focus; with --priming, searches prefer it and what agrees with it."""

    force: Annotated[bool, Meta(description="Even if r is below .8")] = False


class FindCausalPath(Reading, frozen=True, kw_only=True):
    """Find the chain of causes, or of any links, from one memory to another, with its confidence."""

    not_blank = ("start_concept", "end_concept")

    start_concept: Annotated[QueryText, Meta(description="Id of a memory, or words that find it")]
    end_concept: Annotated[QueryText, Meta(description="The same")]
    max_hops: Annotated[int, Meta(ge=1, le=6, description="Length of a path")] = 4
    path_type: Annotated[PathKind, Meta(description="Which links it may follow")] = PathKind.ANY
    include_alternatives: Annotated[bool, Meta(description="Add up to three other paths")] = False
    namespace: NamespaceFilter = None


class GetNeighborhood(Reading, frozen=True, kw_only=True):
    """List what a memory is connected with: links, causes, groups, turns."""

    aliases: ClassVar[dict[str, str]] = ID_ALIASES

    id: MemoryId
    depth: Annotated[int, Meta(ge=1, le=3, description="Hops")] = 1
    limit: Annotated[int, Meta(ge=1, le=100, description="Memories")] = 20
