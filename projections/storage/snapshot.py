"""Projections as bytes, and back: the shortest way to what a replay of the log leads to.

Whatever is large lies in arrays, which are handed out as they are (pickle protocol 5, PEP 574); ids, which are many,
stand in one table. What can be made from the rest is left out (`__getstate__` of each projection). Whoever unpacks has
made sure that the bytes are the ones that were packed; even so, nothing comes of them but values of this program and of
the few types that it consists of.
"""

import hashlib
import io
import pickle
import sys
from collections import Counter, deque
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any, Final, NamedTuple
from uuid import UUID

import msgspec
import numpy as np

from projections.registry import PROJECTION_SETS, ProjectionSet
from projections.storage.lazy_array import LazyArray

_INLINE: Final = 65_536
"""Bytes from which an array is handed out by itself."""

_frombuffer = import_module("numpy._core.numeric")._frombuffer  # noqa: SLF001 -- as numpy's own pickles name it


def _array(buffer: Any, *rest: Any) -> Any:
    """Return the array that numpy makes of a buffer, which is here by then."""
    return _frombuffer(buffer.fetch() if isinstance(buffer, LazyArray) else buffer, *rest)


_OURS: Final = ("events", "projections")
_THEIRS: Final[dict[tuple[str, str], Any]] = {
    **{("collections", one.__name__): one for one in (Counter, deque)},
    **{("datetime", one.__name__): one for one in (datetime, timedelta, timezone)},
    ("msgspec._utils", "rebuild"): import_module("msgspec._utils").rebuild,
    ("numpy", "dtype"): np.dtype,
    ("numpy._core.numeric", "_frombuffer"): _array,
}
"""All that may be called besides classes of our own: what pickles of these types name."""

_encoder = msgspec.msgpack.Encoder(uuid_format="bytes")
_inline = msgspec.msgpack.Decoder(tuple[list[UUID], bytes])


class Packed(NamedTuple):
    """Projections as bytes; the arrays are views that hold as long as nothing is applied to what was packed."""

    inline: bytes
    arrays: list[memoryview]


class UnpackError(Exception):
    """These bytes hold something that no projection consists of."""


class _Packer(pickle.Pickler):
    def __init__(self, file: io.BytesIO) -> None:
        arrays: list[memoryview] = []
        # No method of ours: Python 3.11 dies of a segmentation fault where a view on a buffer is part of a cycle.
        super().__init__(file, protocol=5, buffer_callback=partial(_take, arrays))
        self.ids: dict[UUID, int] = {}
        self.arrays = arrays

    def persistent_id(self, obj: object) -> int | None:
        """Put an id by its place in the table: a hundredth of the time that unpacking it as an object takes."""
        return self.ids.setdefault(obj, len(self.ids)) if type(obj) is UUID else None


def _take(arrays: list[memoryview], buffer: pickle.PickleBuffer) -> bool:
    view = buffer.raw()
    if view.nbytes < _INLINE or view.readonly:
        return True
    arrays.append(view)
    return False


class _Unpacker(pickle.Unpickler):
    def find_class(self, module_name: str, global_name: str, /) -> Any:
        """Return a type that projections consist of (`UnpackError` for anything else)."""
        if (module_name, global_name) in _THEIRS:
            return _THEIRS[module_name, global_name]
        found = getattr(sys.modules.get(module_name), global_name, None)
        if module_name.partition(".")[0] not in _OURS or not isinstance(found, type) or found.__module__ != module_name:
            raise UnpackError(f"a snapshot holds no {module_name}.{global_name}")
        return found


def pack(folds: ProjectionSet) -> Packed:
    """Return projections as bytes."""
    file = io.BytesIO()
    packer = _Packer(file)
    packer.dump(folds)
    return Packed(_encoder.encode((list(packer.ids), file.getvalue())), packer.arrays)


def unpack(inline: bytes | bytearray | memoryview, arrays: Sequence[Any]) -> ProjectionSet:
    """Return the projections of `pack`, which own the arrays from here on.

    Args:
        inline: As it was packed.
        arrays: The same bytes as were handed out, in writable buffers or as `LazyArray`, which only growable arrays
            leave for later. The beginning of a longer array brings room for what comes.

    Raises:
        UnpackError: they hold something that no projection consists of, or nothing that an actor owns.
    """
    ids, pickled = _inline.decode(inline)
    unpacker = _Unpacker(io.BytesIO(pickled), buffers=arrays)
    unpacker.persistent_load = ids.__getitem__
    folds = unpacker.load()
    if type(folds) not in PROJECTION_SETS:
        raise UnpackError(f"no owner has a {type(folds).__name__} of projections")
    return folds


@cache
def code() -> bytes:
    """Return the SHA-256 of all that decides what projections look like: our code, and whose versions it rests on."""
    state = hashlib.sha256(repr((sys.version_info, np.__version__, msgspec.__version__)).encode())
    for package in _OURS:
        folder = Path(str(import_module(package).__file__)).parent
        for path in sorted(folder.rglob("*.py")):
            state.update(f"{path.relative_to(folder.parent)}\0".encode())
            state.update(path.read_bytes() + b"\0")
    return state.digest()
