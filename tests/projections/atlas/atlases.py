"""Atlases of a few sample memories."""

from typing import Any

import msgspec
import numpy as np

from events import vocabulary as ev
from events.fingerprint import Dense, Embedding, Fingerprint
from events.spaces import SPACES
from projections.atlas.atlas import Atlas
from projections.atlas.facets import Filter
from tests.events.samples import DIMENSIONS, stored
from tests.projections.history import folded, history

MEMORIES = [stored(f"memory {number}", namespace="odd" if number % 2 else "even") for number in range(1, 31)]


def e1(memory: ev.MemoryStored) -> np.ndarray:
    return memory.fingerprint.take("e1_semantic", Dense).array


def with_embedding(memory: ev.MemoryStored, key: str, embedding: Embedding, **changes: Any) -> ev.MemoryStored:
    embeddings = {space.key: memory.fingerprint[space.key] for space in SPACES}
    return msgspec.structs.replace(memory, fingerprint=Fingerprint.of({**embeddings, key: embedding}), **changes)


def atlas_of(*events: ev.Event) -> Atlas:
    return folded(Atlas(DIMENSIONS), history(*events))


def found(atlas: Atlas, key: str, embedding: Embedding, count: int = 5, **wanted: Any) -> list[int]:
    return atlas.nearest(key, embedding, count, atlas.facets.eligible(Filter(**wanted)))[0].tolist()
