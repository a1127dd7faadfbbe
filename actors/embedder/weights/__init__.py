"""Trained weights that ship with the code, in safetensors files with their provenance in `provenance.json`."""

import hashlib
import mmap
import os
import sys
import weakref
from functools import lru_cache, partial
from math import prod
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
import safetensors.numpy

from actors.runtime.types import JsonObject

FOLDER = Path(__file__).parent
PROVENANCE = FOLDER / "provenance.json"


class WeightsError(Exception):
    """A file of weights is missing or has another hash than recorded."""


def read_verified(path: Path, sha256: str) -> bytes:
    """Return a file's bytes; raise `WeightsError` unless they have this SHA-256 (hex)."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise WeightsError(f"{path} can't be read: {error.strerror}") from error
    _check(path, hashlib.sha256(data).hexdigest(), sha256)
    return data


def map_verified(path: Path, sha256: str) -> dict[str, npt.NDArray[np.float32]]:
    """Return the float32 tensors of a `.safetensors` file by name, as views of the mapped file.

    The file is hashed in pieces and mapped, so that only the parts that are used take memory. Writes do not change it.
    It raises as `read_verified`.
    """
    try:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
            _check(path, found, sha256)
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    except OSError as error:
        raise WeightsError(f"{path} can't be read: {error.strerror}") from error
    return {
        name: np.frombuffer(data, "<f4", prod(shape), offset).reshape(shape)
        for name, (shape, offset) in _float32_tensors(data).items()
    }


_KEPT_ROWS = 2_048
"""Rows that stay in memory: a read releases the interpreter lock, which a query must then wait for."""


class StoredRows:
    """The rows of a float32 matrix of a verified `.safetensors` file, read when they are used.

    Of a mapped matrix, each row that was ever used would keep 64 KB in memory: the kernel maps its neighbours too.
    """

    def __init__(self, path: Path, name: str) -> None:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            (_, columns), start = _float32_tensors(data)[name]
        self._columns = columns
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0))
        weakref.finalize(self, os.close, descriptor)
        # A method would refer to this object, which then would keep the file open until garbage is collected.
        self._row = lru_cache(_KEPT_ROWS)(partial(_read_row, path, descriptor, start, 4 * columns))

    def take(self, rows: npt.NDArray[np.integer]) -> npt.NDArray[np.float32]:
        """Return some rows, shape (rows, columns), read-only; a file that was cut off since is a `WeightsError`."""
        return np.frombuffer(b"".join(map(self._row, rows.tolist())), "<f4").reshape(len(rows), self._columns)


def _read_row(path: Path, descriptor: int, start: int, size: int, row: int) -> bytes:
    offset = start + row * size
    if sys.platform != "win32":
        read = os.pread(descriptor, size, offset)
    else:
        os.lseek(descriptor, offset, os.SEEK_SET)  # from one thread: each model has one
        read = os.read(descriptor, size)
    if len(read) != size:
        raise WeightsError(f"{path} was cut off; install it again")
    return read


def _float32_tensors(data: mmap.mmap) -> dict[str, tuple[list[int], int]]:
    """Return shape and offset of each float32 tensor of a mapped `.safetensors` file."""
    start = 8 + int.from_bytes(data[:8], "little")
    entries = msgspec.json.decode(data[8:start], type=dict[str, JsonObject])
    return {
        name: (entry["shape"], start + entry["data_offsets"][0])
        for name, entry in entries.items()
        if entry.get("dtype") == "F32"
    }


def _check(path: Path, found: str, expected: str) -> None:
    if found != expected:
        raise WeightsError(f"{path} has SHA-256 {found}, expected {expected}; install it again")


def recorded_sha256(name: str) -> str:
    """Return the SHA-256 (hex) of a file of this folder by its provenance; raise `WeightsError` if there is none."""
    records = msgspec.json.decode(PROVENANCE.read_bytes(), type=dict[str, JsonObject])
    try:
        return records[name]["sha256"]
    except KeyError:
        raise WeightsError(f"{PROVENANCE.name} has no entry for {name}") from None


def load(name: str) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of one `.safetensors` file of this folder by name, those stored in float16 as float32.

    Raises:
        WeightsError: The file is missing, has no provenance, or has another SHA-256 than recorded there.
    """
    arrays = safetensors.numpy.load(read_verified(FOLDER / name, recorded_sha256(name)))
    return {key: one.astype(np.float32) if one.dtype == np.float16 else one for key, one in arrays.items()}
