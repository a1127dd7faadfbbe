"""Trained weights that ship with the code, in safetensors files with their provenance in `provenance.json`."""

import hashlib
import mmap
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

    Raises:
        WeightsError: The file is missing or has another SHA-256 (hex).
    """
    try:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
            _check(path, found, sha256)
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    except OSError as error:
        raise WeightsError(f"{path} can't be read: {error.strerror}") from error
    start = 8 + int.from_bytes(data[:8], "little")
    tensors: dict[str, npt.NDArray[np.float32]] = {}
    for name, entry in msgspec.json.decode(data[8:start], type=dict[str, JsonObject]).items():
        if entry.get("dtype") == "F32":
            shape, offset = entry["shape"], start + entry["data_offsets"][0]
            tensors[name] = np.frombuffer(data, "<f4", prod(shape), offset).reshape(shape)
    return tensors


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
    """Return the arrays of one `.safetensors` file of this folder by name, in their stored types (float16, uint16).

    Raises:
        WeightsError: The file is missing, has no provenance, or has another SHA-256 than recorded there.
    """
    return safetensors.numpy.load(read_verified(FOLDER / name, recorded_sha256(name)))
