"""Everything that is known, from the log alone: no actor, no model, nothing but folds."""

from collections.abc import Iterable

from events.storage.log import Envelope
from projections.projection import Projection
from projections.registry import ALL


def rebuild(envelopes: Iterable[Envelope]) -> dict[str, Projection]:
    """Return all projections by name, as they stand after these events from the first one on."""
    owned = [folds() for folds in ALL]
    known = {name: projection for folds in owned for name, projection in folds.named().items()}
    projections = tuple(known.values())
    for envelope in envelopes:
        for projection in projections:
            projection.apply(envelope)
    return known


def digests(known: dict[str, Projection]) -> dict[str, str]:
    """Return the SHA-256 of each projection in hexadecimal: what `ReadDigests` answers for the living ones."""
    return {name: projection.digest().hex() for name, projection in known.items()}
