"""Trained weights that ship with the code, in safetensors files with their provenance in `provenance.json`."""

import hashlib
from pathlib import Path
from typing import Any

import msgspec
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
    found = hashlib.sha256(data).hexdigest()
    if found != sha256:
        raise WeightsError(f"{path} has SHA-256 {found}, expected {sha256}; install it again")
    return data


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
