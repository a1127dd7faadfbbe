"""What each actor owns: the one list of all projections, shared by those who live with them and those who replay."""

from dataclasses import dataclass, field, fields
from typing import Final

from events.storage.log import Envelope
from projections.memories.catalog import Catalog
from projections.memories.declared import Declaration, DeclaredAtlas
from projections.memories.derived import Derived
from projections.memories.links import Links
from projections.memories.sessions import Sessions
from projections.mind.goals import Goals
from projections.mind.learner import Learner
from projections.mind.north_stars import NorthStars
from projections.mind.priming import Priming
from projections.mind.runs import Runs
from projections.mind.schedule import Schedule
from projections.mind.workspace import WorkspaceState
from projections.projection import Projection


@dataclass
class ProjectionSet:
    """Projections that are folded together, since one actor owns them; a subclass names them by its fields."""

    def named(self) -> dict[str, Projection]:
        """Return the projections by name."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    def apply(self, envelope: Envelope) -> None:
        """Take in the next event of the log."""
        for projection in self.named().values():
            projection.apply(envelope)

    def digests(self) -> dict[str, str]:
        """Return the digest of each projection in hexadecimal."""
        return {name: projection.digest().hex() for name, projection in self.named().items()}


@dataclass
class StoreProjections(ProjectionSet):
    """What the store owns."""

    catalog: Catalog = field(default_factory=Catalog)
    declaration: Declaration = field(default_factory=Declaration)
    derived: Derived = field(default_factory=Derived)


@dataclass
class ComparatorProjections(ProjectionSet):
    """What the comparator owns."""

    atlas: DeclaredAtlas = field(default_factory=DeclaredAtlas)
    links: Links = field(default_factory=Links)
    goals: Goals = field(default_factory=Goals)
    priming: Priming = field(default_factory=Priming)


@dataclass
class WorkspaceProjections(ProjectionSet):
    """What the workspace owns."""

    workspace: WorkspaceState = field(default_factory=WorkspaceState)
    learner: Learner = field(default_factory=Learner)


@dataclass
class ConsolidatorProjections(ProjectionSet):
    """What the consolidator owns."""

    runs: Runs = field(default_factory=Runs)
    stars: NorthStars = field(default_factory=NorthStars)


@dataclass
class SchedulerProjections(ProjectionSet):
    """What the scheduler owns."""

    schedule: Schedule = field(default_factory=Schedule)


@dataclass
class EmbedderProjections(ProjectionSet):
    """What the embedder owns."""

    sessions: Sessions = field(default_factory=Sessions)


ALL: Final[tuple[type[ProjectionSet], ...]] = (
    StoreProjections,
    ComparatorProjections,
    WorkspaceProjections,
    ConsolidatorProjections,
    SchedulerProjections,
    EmbedderProjections,
)
"""One for each owner; no name stands in two of them."""
