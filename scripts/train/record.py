"""What all training scripts do: read lines, run texts through the model, and write weights with their provenance."""

import hashlib
import platform
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt
import safetensors.numpy
from typer import Argument, Option

from actors.embedder.models.backbone import Backbone
from events.quantization import Float32

T = TypeVar("T")

WordNet = Annotated[Path, Argument(help="Folder with WordNet's data.noun, data.verb, …")]
Data = Annotated[str, Option(help="What the file holds, for the provenance.")]
Licence = Annotated[str, Option(help="Of the data.")]

FOLDER = Path(__file__).parents[2] / "actors" / "embedder" / "weights"
BATCH = 64
"""Texts that the model reads at once."""
LARGEST = 5_000_000
"""Maximum bytes of one file in the repository."""


def read_lines(path: Path, kind: type[T]) -> tuple[list[T], str]:
    """Read JSON lines; return them with the SHA-256 of the file."""
    raw = path.read_bytes()
    return [msgspec.json.decode(line, type=kind) for line in raw.splitlines()], hashlib.sha256(raw).hexdigest()


def record(name: str, arrays: dict[str, npt.NDArray[Any]], **provenance: Any) -> None:
    """Write one `.safetensors` file, and add or replace its entry in `provenance.json`."""
    data = safetensors.numpy.save({key: np.ascontiguousarray(array) for key, array in arrays.items()})
    if len(data) > LARGEST:
        raise ValueError(f"{name} would have {len(data):,} bytes")
    path = FOLDER / "provenance.json"
    records = msgspec.json.decode(path.read_bytes()) if path.exists() else {}
    records[name] = {**provenance, **today(), "sha256": hashlib.sha256(data).hexdigest()}
    (FOLDER / name).write_bytes(data)
    write_json(path, dict(sorted(records.items())))


def today() -> dict[str, str]:
    """Return the date and the version of Python, for the provenance."""
    return {"date": f"{datetime.now(UTC):%Y-%m-%d}", "python": platform.python_version()}


def write_json(path: Path, value: Any) -> None:
    """Write a value as readable JSON."""
    path.write_bytes(msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n")


def states_of(backbone: Backbone, rows: Sequence[npt.NDArray[np.uint16]]) -> Iterator[tuple[int, Float32]]:
    """Yield the place and the token states of each row of pieces, in batches of similar length."""
    order = np.argsort([len(row) for row in rows], kind="stable")
    for some in np.array_split(order, -(-len(order) // BATCH)):
        yield from zip(some.tolist(), backbone.forward([rows[place] for place in some]), strict=True)
