"""Write weights next to the code that loads them, with the provenance that the loader requires."""

import hashlib
import platform
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt
import safetensors.numpy
from typer import Argument, Option

T = TypeVar("T")

WordNet = Annotated[Path, Argument(help="Folder with WordNet's data.noun, data.verb, …")]
Data = Annotated[str, Option(help="What the file holds, for the provenance.")]
Licence = Annotated[str, Option(help="Of the data.")]

FOLDER = Path(__file__).parents[2] / "actors" / "embedder" / "weights"
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
    records[name] = {
        **provenance,
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "python": platform.python_version(),
        "sha256": hashlib.sha256(data).hexdigest(),
    }
    (FOLDER / name).write_bytes(data)
    path.write_bytes(msgspec.json.format(msgspec.json.encode(dict(sorted(records.items()))), indent=2) + b"\n")
