"""The models of a log, and the atlas that begins with them."""

import msgspec

from events.storage.log import Envelope
from events.vocabulary import SpacesDeclared
from projections.memories.atlas import Atlas
from projections.projection import digest_of


class Declaration:
    """Which models fill the spaces, as it was declared last."""

    latest: SpacesDeclared | None

    def __init__(self) -> None:
        self.latest = None

    def apply(self, envelope: Envelope) -> None:
        """Take in the next event of the log."""
        if isinstance(envelope.event, SpacesDeclared):
            self.latest = envelope.event

    def digest(self) -> bytes:
        """Return the SHA-256 of the declaration."""
        return digest_of(msgspec.msgpack.encode(self.latest))


class DeclaredAtlas:
    """The atlas of a log; there is none before the first declaration, which says how large its spaces are."""

    declared: SpacesDeclared | None
    """The first declaration: no later one may say anything else of the dimensions."""

    def __init__(self) -> None:
        self.declared = None
        self.atlas: Atlas | None = None

    def after_load(self) -> None:
        """Derive what a snapshot leaves out."""
        self.atlas = None if self.declared is None else Atlas.of(self.declared)

    def apply(self, envelope: Envelope) -> None:
        """Take in the next event of the log."""
        if self.atlas is None and isinstance(envelope.event, SpacesDeclared):
            self.declared = envelope.event
            self.atlas = Atlas.of(envelope.event)
        if self.atlas is not None:
            self.atlas.apply(envelope)

    def digest(self) -> bytes:
        """Return the SHA-256 of the atlas; that of nothing before there is one."""
        return digest_of(b"" if self.atlas is None else self.atlas.digest())
