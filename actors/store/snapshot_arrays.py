"""Projections from the files of a snapshot, whose arrays are read on first use, or stay there if they are large."""

import gc
import os
from collections.abc import Generator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from itertools import groupby
from math import prod
from mmap import mmap
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from cryptography.exceptions import InvalidTag

from actors.runtime.actor import EXIT_UNCERTAIN, LOGGER
from actors.runtime.snapshot_io import EncryptedReader, Part, Piece
from projections.registry import ProjectionSet
from projections.storage.arrays import GrowableArray
from projections.storage.lazy_array import LazyArray, Span
from projections.storage.snapshot import StateError, all_arrays, load, parse

RESIDENT: Final = 2 << 30
"""Bytes of a file up to which all its arrays are in memory; a search takes half of the processor time then."""
_VERIFIED_TOGETHER: Final = 16
"""Pieces of one task of the thread pool."""


def read(reader: EncryptedReader, part: Part, pool: Executor) -> tuple[ProjectionSet, list[LazyArray]]:
    """Return the projections of a file, whose every piece was verified, and their arrays, which are read on first use.

    Raises:
        OSError: the file can't be read.
        InvalidTag: a piece was changed.
        StateError: it isn't the state of this program's projections.
    """
    pieces = list(part.pieces())
    tasks = [pieces[start : start + _VERIFIED_TOGETHER] for start in range(0, len(pieces), _VERIFIED_TOGETHER)]
    for _ in pool.map(reader.verify, tasks):
        pass
    by_segment = _by_segment(part)
    head = bytearray(part.segments[0])
    for piece in by_segment.get(0, []):
        reader.restore(piece, memoryview(head)[piece.start : piece.end])
    values, tensors = parse(memoryview(head))
    lengths = [tensor.data_offsets[1] - tensor.data_offsets[0] for tensor in tensors.values()]
    if lengths != list(part.segments[1:]):
        raise StateError("its arrays aren't those that its header names")
    arrays = {
        name: _lazy(reader, tensor.numpy_dtype, tensor.shape, part, by_segment.get(segment, []))
        for segment, (name, tensor) in enumerate(tensors.items(), start=1)
    }
    return load(values, arrays), list(arrays.values())


def leave_arrays(projections: ProjectionSet, reader: EncryptedReader, part: Part) -> None:
    """Let arrays that may stay on the disk be read from a large file of the present state, and free their memory."""
    if part.size() <= RESIDENT:
        return
    by_segment = _by_segment(part)
    for segment, (_, array) in enumerate(all_arrays(projections), start=1):
        if isinstance(array, GrowableArray) and array.on_disk and len(array):
            array.restore(_lazy(reader, array.dtype, array.shape, part, by_segment[segment]))


def _by_segment(part: Part) -> dict[int, list[Piece]]:
    return {segment: list(group) for segment, group in groupby(part.pieces(), lambda piece: piece.segment)}


def _lazy(
    reader: EncryptedReader, dtype: np.dtype[Any], shape: tuple[int, ...], part: Part, pieces: list[Piece]
) -> LazyArray:
    room = _room(dtype.itemsize * prod(shape))

    def restore(number: int) -> None:
        piece = pieces[number]
        with _unchanged():
            reader.restore(piece, room.data[piece.start : piece.end])

    def peek(spans: Sequence[Span]) -> npt.NDArray[np.uint8]:
        with _unchanged():
            return reader.peek([(pieces[span.piece], span.start, span.end) for span in spans])

    stored = frozenset(number for number, piece in enumerate(pieces) if not piece.compressed)
    size = pieces[0].end if pieces else 1
    return LazyArray(room, dtype, shape, size, restore, peek if part.size() > RESIDENT else None, stored)


@contextmanager
def _unchanged() -> Generator[None, None, None]:
    """End the process if a piece can't be read: it was sound when it was verified, and actors use the snapshot."""
    try:
        yield
    except (OSError, InvalidTag, StateError) as error:
        LOGGER.critical("a snapshot was changed while it was read; stopping: %r", error)
        os._exit(EXIT_UNCERTAIN)


def _room(length: int) -> npt.NDArray[np.uint8]:
    """Return room for an array and for as much again; unused pages take no memory.

    numpy would ask for huge pages: in a virtual machine whose host had to provide them, 1 GB took 4 s of kernel time,
    and 1.6 s in small pages.
    """
    return np.frombuffer(mmap(-1, max(1, 2 * length)), np.uint8)


@contextmanager
def garbage_collector_paused() -> Generator[None, None, None]:
    """Pause the garbage collector, which would search millions of new objects again and again, none of them garbage."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
