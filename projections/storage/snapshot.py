"""Projections as a safetensors file, and back: the state dictionary of all their objects, by path.

A class declares the plain values of its state by annotations in its body; msgspec writes and reads them by their types.
Its arrays (`GrowableArray`, numpy), the objects of this package that it consists of and what a library writes
(`Graph`) are found by value. Every other attribute is derived: the constructor or `after_load`, where a class has
one, makes it from the rest.
"""

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from functools import cache
from itertools import accumulate
from math import prod
from typing import Any, Final, TypeAlias, cast, get_args, get_origin, get_type_hints

import msgspec
import numpy as np
import numpy.typing as npt

from projections.registry import PROJECTION_SETS, ProjectionSet
from projections.spaces.graph import Graph
from projections.storage.arrays import GrowableArray
from projections.storage.lazy_array import LazyArray

SCHEMA: Final = 33
"""Number of the layout of snapshots. Raise it with any change to what is written or what it means."""

VALUES: Final = "values"
"""The first tensor: the name of the set of projections and all plain values, in msgpack."""

_CODES: Final = "BOOL ?, I8 i1, U8 u1, U16 u2, I32 i4, I64 i8, U64 u8, F16 f2, F32 f4, F64 f8"
_DTYPES: Final = {name: np.dtype(code) for name, code in map(str.split, _CODES.split(","))}
_NAMES: Final = {dtype: name for name, dtype in _DTYPES.items()}
FOREIGN: Final = "foreign"
"""Name of the bytes that a library writes."""
_LENGTH: Final = 8
"""Bytes of the length of the header, which come first in the file."""
_DIMENSIONS: Final = 32
"""Most dimensions of an array, as in every version of NumPy."""


class StateError(Exception):
    """These bytes hold no state of this program's projections."""


class Tensor(msgspec.Struct, frozen=True):
    """An array in the header of a safetensors file."""

    dtype: str
    shape: tuple[int, ...]
    data_offsets: tuple[int, int]

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        """The type of its items (`StateError`)."""
        if self.dtype not in _DTYPES:
            raise StateError(f"no array here is of {self.dtype}")
        return _DTYPES[self.dtype]


class Deferred:
    """Bytes that are made when the first of them are read, and dropped after the last."""

    def __init__(self, length: int, make: Callable[[], memoryview]) -> None:
        self._length = length
        self._make = make
        self._made: memoryview | None = None

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, part: slice) -> memoryview:
        made = self._make() if self._made is None else self._made
        self._made = None if part.stop is None or part.stop >= self._length else made
        return made[part]


Segment: TypeAlias = memoryview | Deferred


def dump(projections: ProjectionSet) -> list[Segment]:
    """Return the parts of a safetensors file: header and values, then each array.

    The arrays are views. They hold until the next event is applied, or a graph grows.
    """
    values: dict[str, object] = {}
    arrays: dict[str, npt.NDArray[Any]] = {}
    foreign: dict[str, Deferred] = {}
    for path, held in _objects(projections):
        values |= {f"{path}.{name}": getattr(held, name) for name in declared(type(held))}
        for name, array in _arrays(held):
            arrays[f"{path}.{name}"] = array.array if isinstance(array, GrowableArray) else array
        if isinstance(held, Graph) and (size := held.saved_size()):
            foreign[f"{path}.{FOREIGN}"] = Deferred(size, held.save)
    plain = _encoder.encode((type(projections).__name__, values))
    tensors = {name: (_NAMES[array.dtype], array.shape, array.nbytes) for name, array in arrays.items()}
    tensors |= {name: ("U8", (len(late),), len(late)) for name, late in foreign.items()}
    head = memoryview(_header({VALUES: ("U8", (len(plain),), len(plain)), **tensors}) + plain)
    return [head, *(array.reshape(-1).view(np.uint8).data for array in arrays.values()), *foreign.values()]


def sizes(projections: ProjectionSet) -> dict[str, int]:
    """Return the bytes of each array by path."""
    return {f"{path}.{name}": array.nbytes for path, held in _objects(projections) for name, array in _arrays(held)}


def parse(head: memoryview) -> tuple[memoryview, dict[str, Tensor]]:
    """Return the values and the arrays that follow by name, given the first part of `dump` (`StateError`)."""
    end = _LENGTH + int.from_bytes(head[:_LENGTH], "little")
    try:
        tensors = msgspec.json.decode(head[_LENGTH:end], type=dict[str, Tensor])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise StateError(f"its header can't be read: {error}") from error
    if tensors.pop(VALUES, None) != Tensor("U8", (len(head) - end,), (0, len(head) - end)):
        raise StateError("its values aren't where they should be")
    start = len(head) - end
    for name, tensor in tensors.items():
        size = tensor.numpy_dtype.itemsize * prod(tensor.shape)
        # An empty array needs no bytes, whatever its other dimensions, which NumPy bounds by their product.
        extent = tensor.numpy_dtype.itemsize * prod(max(1, length) for length in tensor.shape)
        fits = min(tensor.shape, default=0) >= 0 and extent <= sys.maxsize and len(tensor.shape) <= _DIMENSIONS
        if not fits or tensor.data_offsets != (start, start + size):
            raise StateError(f"{name} isn't where its type and its shape say")
        start += size
    return head[end:], tensors


def load(values: memoryview, arrays: Mapping[str, LazyArray]) -> ProjectionSet:
    """Return the projections of `dump`, which own the arrays from here on.

    Growable arrays are read on first use, and grow in place as far as there is room.

    Raises:
        StateError: this isn't the state of a set of projections, or another one than this program's.
    """
    rest = dict(arrays)
    try:
        kind, plain = _values.decode(values)
        projections = {one.__name__: one for one in PROJECTION_SETS}[kind]()
        for path, held in _objects(projections):
            for name, hint in declared(type(held)).items():
                setattr(held, name, _decode(hint, plain.pop(f"{path}.{name}")))
            if after_load := getattr(held, "after_load", None):
                after_load()
            for name, array in _arrays(held):
                saved = rest.pop(f"{path}.{name}")
                if isinstance(array, GrowableArray):
                    array.restore(saved)
                else:
                    setattr(held, name, saved.array)
            if isinstance(held, Graph):
                held.restore(rest.pop(f"{path}.{FOREIGN}", None))
    except (msgspec.DecodeError, KeyError, ValueError, TypeError, RecursionError) as error:
        raise StateError(f"its state doesn't fit: {error}") from error
    if unknown := [*plain, *rest]:
        raise StateError(f"nothing here is called {unknown[0]}")
    return projections


@cache
def declared(kind: type) -> dict[str, Any]:
    """Return the names and types of the plain values of a class."""
    return get_type_hints(kind)


def _objects(projections: ProjectionSet) -> Iterator[tuple[str, object]]:
    """Yield all objects with state by path, each once and before those that it consists of."""
    seen: set[int] = set()
    for name, projection in projections.by_name().items():
        yield from _walk(name, projection, seen)


def _walk(path: str, held: object, seen: set[int]) -> Iterator[tuple[str, object]]:
    if id(held) not in seen:
        seen.add(id(held))
        yield path, held
        for name, member in _members(held):
            yield from _walk(f"{path}.{name}", member, seen)


def _members(held: object) -> Iterator[tuple[str, object]]:
    """Yield the objects of this package that an object consists of, also those by key in a dictionary."""
    for name, value in _undeclared(held):
        if _is_object(value):
            yield name, value
        elif isinstance(value, dict):
            by_key = cast("dict[object, object]", value)
            if _is_object(next(iter(by_key.values()), None)):
                yield from ((f"{name}.{key}", one) for key, one in by_key.items())


def _arrays(held: object) -> Iterator[tuple[str, GrowableArray[Any] | npt.NDArray[Any]]]:
    yield from ((name, value) for name, value in _undeclared(held) if isinstance(value, GrowableArray | np.ndarray))


def _undeclared(held: object) -> list[tuple[str, Any]]:
    return [(name, value) for name, value in vars(held).items() if name not in declared(type(held))]


def _is_object(value: object) -> bool:
    ours = type(value).__module__.partition(".")[0] == __name__.partition(".")[0]
    return ours and hasattr(value, "__dict__") and not isinstance(value, GrowableArray | LazyArray | Enum)


def _header(tensors: Mapping[str, tuple[str, tuple[int, ...], int]]) -> bytes:
    """Return the header of tensors, given the type, shape and bytes of each."""
    ends = accumulate(size for _, _, size in tensors.values())
    entries = {
        name: Tensor(dtype, shape, (end - size, end))
        for (name, (dtype, shape, size)), end in zip(tensors.items(), ends, strict=True)
    }
    header = msgspec.json.encode(entries)
    header = header.ljust(-(-len(header) // _LENGTH) * _LENGTH)
    return len(header).to_bytes(_LENGTH, "little") + header


def _decode(hint: Any, value: msgspec.Raw) -> Any:
    """Return a plain value of this type."""
    if get_origin(hint) is Counter:
        return Counter[Any](_decoder(dict[*get_args(hint), int]).decode(value))
    return _decoder(hint).decode(value)


@cache
def _decoder(hint: Any) -> msgspec.msgpack.Decoder[Any]:
    return msgspec.msgpack.Decoder(hint, dec_hook=_decode_array)


def _encode_array(value: object) -> bytes:
    """Write a small growable array, one of many, among the plain values."""
    if isinstance(value, GrowableArray):
        return cast("GrowableArray[Any]", value).array.tobytes()
    raise NotImplementedError(f"{type(value).__name__} isn't a plain value")  # what msgspec expects of an `enc_hook`


def _decode_array(hint: Any, value: Any) -> GrowableArray[Any]:
    (dtype,) = get_args(hint)
    array = GrowableArray[Any](dtype)
    array.extend(np.frombuffer(value, dtype))
    return array


_encoder = msgspec.msgpack.Encoder(uuid_format="bytes", enc_hook=_encode_array)
_values = msgspec.msgpack.Decoder(tuple[str, dict[str, msgspec.Raw]])
