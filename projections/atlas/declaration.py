"""The models declared for the thirteen spaces, and the atlas that starts with them."""

from events.storage.log import Envelope
from events.vocabulary import SimilaritiesCalibrated, SpacesDeclared
from projections.atlas.atlas import Atlas
from projections.projection import digest_of


class Declaration:
    """The latest declaration of the spaces."""

    latest: SpacesDeclared | None

    def __init__(self) -> None:
        self.latest = None

    def apply(self, envelope: Envelope) -> None:
        """Fold the next event of the log."""
        if isinstance(envelope.event, SpacesDeclared):
            self.latest = envelope.event

    def digest(self) -> bytes:
        """Return the SHA-256 of the declaration."""
        return digest_of(self.latest)


class DeclaredAtlas:
    """The atlas of a log; None before the first declaration, which gives the dimensions of its spaces."""

    declared: SpacesDeclared | None
    """The latest declaration; all have the same dimensions."""
    calibrated: SimilaritiesCalibrated | None
    """The latest calibration on the store's own texts."""

    def __init__(self) -> None:
        self.declared = None
        self.calibrated = None
        self.atlas: Atlas | None = None

    def after_load(self) -> None:
        """Derive what a snapshot leaves out."""
        self.atlas = None if self.declared is None else Atlas.of(self.declared)

    def apply(self, envelope: Envelope) -> None:
        """Fold the next event of the log."""
        if isinstance(envelope.event, SpacesDeclared):
            self.declared = envelope.event
            self.atlas = self.atlas or Atlas.of(envelope.event)
        if isinstance(envelope.event, SimilaritiesCalibrated):
            self.calibrated = envelope.event
        if self.atlas is not None:
            self.atlas.apply(envelope)

    def digest(self) -> bytes:
        """Return the SHA-256 of the atlas, or of nothing, and of the calibration."""
        return digest_of(b"" if self.atlas is None else self.atlas.digest(), self.calibrated)
