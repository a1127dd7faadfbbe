"""Which actor owns which projections, and the replay that rebuilds all of them from a log."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Final

from events.storage.log import Envelope
from projections.atlas.declaration import Declaration, DeclaredAtlas
from projections.graph.causal_clauses import CausalClauses
from projections.graph.links import Links
from projections.memories.catalog import Catalog
from projections.memories.derived_events import DerivedEvents
from projections.memories.sessions import Sessions
from projections.mind.goals import Goals, NorthStars
from projections.mind.learner import Learner
from projections.mind.runs import ConsolidatorLease, Runs
from projections.mind.schedule import Schedule
from projections.mind.workspace import Priming, WorkspaceState
from projections.projection import Projection


@dataclass
class ProjectionSet:
    """The projections of one actor; a subclass names each by a field."""

    def by_name(self) -> dict[str, Projection]:
        """Return the projections by name."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    def apply(self, envelope: Envelope) -> None:
        """Fold the next event of the log into every projection."""
        for projection in self.by_name().values():
            projection.apply(envelope)

    def digests(self) -> dict[str, str]:
        """Return the digest of each projection in hexadecimal."""
        return digests(self.by_name())


@dataclass
class StoreProjections(ProjectionSet):
    """Owned by the store."""

    catalog: Catalog = field(default_factory=Catalog)
    declaration: Declaration = field(default_factory=Declaration)
    derived: DerivedEvents = field(default_factory=DerivedEvents)
    lease: ConsolidatorLease = field(default_factory=ConsolidatorLease)


@dataclass
class ComparatorProjections(ProjectionSet):
    """Owned by the comparator."""

    atlas: DeclaredAtlas = field(default_factory=DeclaredAtlas)
    links: Links = field(default_factory=Links)
    causal_clauses: CausalClauses = field(default_factory=CausalClauses)
    goals: Goals = field(default_factory=Goals)
    priming: Priming = field(default_factory=Priming)


@dataclass
class WorkspaceProjections(ProjectionSet):
    """Owned by the workspace."""

    workspace: WorkspaceState = field(default_factory=WorkspaceState)
    learner: Learner = field(default_factory=Learner)


@dataclass
class ConsolidatorProjections(ProjectionSet):
    """Owned by the consolidator."""

    runs: Runs = field(default_factory=Runs)
    stars: NorthStars = field(default_factory=NorthStars)


@dataclass
class SchedulerProjections(ProjectionSet):
    """Owned by the scheduler."""

    schedule: Schedule = field(default_factory=Schedule)


@dataclass
class EmbedderProjections(ProjectionSet):
    """Owned by the embedder."""

    sessions: Sessions = field(default_factory=Sessions)


PROJECTION_SETS: Final[tuple[type[ProjectionSet], ...]] = (
    StoreProjections,
    ComparatorProjections,
    WorkspaceProjections,
    ConsolidatorProjections,
    SchedulerProjections,
    EmbedderProjections,
)
"""One for each owning actor; projection names are unique across all of them."""


def rebuild(envelopes: Iterable[Envelope]) -> dict[str, Projection]:
    """Replay events from the first one on, and return all projections by name."""
    projections = {name: one for kind in PROJECTION_SETS for name, one in kind().by_name().items()}
    for envelope in envelopes:
        for projection in projections.values():
            projection.apply(envelope)
    return projections


def digests(projections: Mapping[str, Projection]) -> dict[str, str]:
    """Return the digest of each projection in hexadecimal, as `ReadDigests` answers for the live ones."""
    return {name: projection.digest().hex() for name, projection in projections.items()}
