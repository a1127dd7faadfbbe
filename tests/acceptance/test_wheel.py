"""The built wheel, installed into an environment of its own, serves, stores and searches."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.conftest import PATIENCE, Server

ROOT = Path(__file__).parents[2]
PACKAGES = ("actors", "events", "projections")
FOX = "The quick brown fox jumps over the lazy dog."


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build from a copy: setuptools leaves its build folder in the tree, and takes stale files from there."""
    source, built = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for name in PACKAGES:
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    options = ["--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--wheel-dir", str(built)]
    subprocess.run([sys.executable, "-m", "pip", "wheel", *options, str(source)], check=True, timeout=PATIENCE)
    (file,) = built.glob("*.whl")
    return file


@pytest.fixture(scope="module")
def command(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel beside the packages that it requires, which come from this environment."""
    environment = tmp_path_factory.mktemp("environment")
    venv.create(environment, symlinks=True)
    folder = Path(sysconfig.get_path("purelib", "venv", {"base": str(environment)}))
    python = environment / "bin" / "python"
    options = ["--python", str(python), "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([sys.executable, "-m", "pip", *options, str(wheel)], check=True, timeout=PATIENCE)
    required = [place for place in sys.path if Path(place).name == "site-packages"]
    (folder / "required.pth").write_text("\n".join(required) + "\n")
    return environment / "bin" / "context-graph"


def test_the_wheel_holds_the_packages_with_their_data_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert {name.partition("/")[0] for name in names} == {*PACKAGES, "context_graph"}
    data = {
        str(path.relative_to(ROOT)).removeprefix("actors/library/")
        for folder in PACKAGES
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and path.suffix != ".pyc" and path.name != "README.md"
    }
    assert data - names == set(), "missing from the wheel"
    assert names - data == set()


@pytest.mark.skipif(os.name != "posix", reason="environments have other folders there")
def test_the_installed_command_serves_stores_and_searches(command: Path, data: Path, tmp_path: Path) -> None:
    class InstalledServer(Server):
        def __init__(self) -> None:
            self.process = subprocess.Popen(
                [command, "serve", "--data", str(data), "--linger", "0.2"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "OMP_NUM_THREADS": "1"},
                cwd=tmp_path,
            )
            self._id = 0

    for package in ("actors", "context_graph"):
        ask = [command.parent / "python", "-c", f"import {package}; print({package}.__file__)"]
        shown = subprocess.run(ask, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
        assert Path(shown.strip()).is_relative_to(command.parents[1])
    server = InstalledServer()
    try:
        assert server.initialize()["serverInfo"]["name"] == "context-graph"
        server.call("store_memory", content=FOX)
        found: dict[str, Any] = server.call("search_graph", query="Which animal jumps?")["structuredContent"]
        assert [hit["content"] for hit in found["results"]] == [FOX]
    finally:
        server.kill()
    entries = ["install", "--client", "cursor", "--json"]
    subprocess.run(
        [command, *entries], env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}, check=True, timeout=PATIENCE
    )
    written = json.loads((tmp_path / ".cursor" / "mcp.json").read_text())["mcpServers"]["context-graph"]
    assert written["command"] == str(command)
