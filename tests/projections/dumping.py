"""Projections as the bytes of a snapshot, and back, without a file."""

import numpy as np

from projections.registry import ProjectionSet
from projections.storage.lazy_array import LazyArray
from projections.storage.snapshot import dump, load, parse


def whole(projections: ProjectionSet) -> bytes:
    """Return the file as it is before it is compressed and encrypted."""
    return b"".join(part[:] for part in dump(projections))


def through_bytes(projections: ProjectionSet) -> ProjectionSet:
    """Dump and load, as if the arrays had gone through a file, with room for more."""
    head, *parts = (bytes(part[:]) for part in dump(projections))
    values, tensors = parse(memoryview(head))
    arrays = {}
    for (name, tensor), part in zip(tensors.items(), parts, strict=True):
        room = np.zeros(len(part) + 1_000, np.uint8)
        room[: len(part)] = np.frombuffer(part, np.uint8)
        arrays[name] = LazyArray(room, tensor.numpy_dtype, tensor.shape, 100, lambda _: None)
    return load(values, arrays)
