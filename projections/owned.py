"""What each actor owns: the one list of all projections, shared by those who live with them and those who replay."""

from dataclasses import dataclass, field, fields
from typing import Final

from events.log import Envelope
from projections.catalog import Catalog
from projections.declared import Declaration, DeclaredAtlas
from projections.derived import Derived
from projections.goals import Goals
from projections.learner import Learner
from projections.links import Links
from projections.priming import Priming
from projections.projection import Projection
from projections.runs import Runs
from projections.schedule import Schedule
from projections.sessions import Sessions
from projections.stars import Stars
from projections.workspace import WorkspaceState


@dataclass
class Folds:
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
class StoreFolds(Folds):
    """What the store owns."""

    catalog: Catalog = field(default_factory=Catalog)
    declaration: Declaration = field(default_factory=Declaration)
    derived: Derived = field(default_factory=Derived)


@dataclass
class ComparatorFolds(Folds):
    """What the comparator owns."""

    atlas: DeclaredAtlas = field(default_factory=DeclaredAtlas)
    links: Links = field(default_factory=Links)
    goals: Goals = field(default_factory=Goals)
    priming: Priming = field(default_factory=Priming)


@dataclass
class WorkspaceFolds(Folds):
    """What the workspace owns."""

    workspace: WorkspaceState = field(default_factory=WorkspaceState)
    learner: Learner = field(default_factory=Learner)


@dataclass
class ConsolidatorFolds(Folds):
    """What the consolidator owns."""

    runs: Runs = field(default_factory=Runs)
    stars: Stars = field(default_factory=Stars)


@dataclass
class SchedulerFolds(Folds):
    """What the scheduler owns."""

    schedule: Schedule = field(default_factory=Schedule)


@dataclass
class EmbedderFolds(Folds):
    """What the embedder owns."""

    sessions: Sessions = field(default_factory=Sessions)


ALL: Final[tuple[type[Folds], ...]] = (
    StoreFolds,
    ComparatorFolds,
    WorkspaceFolds,
    ConsolidatorFolds,
    SchedulerFolds,
    EmbedderFolds,
)
"""One for each owner; no name stands in two of them."""
