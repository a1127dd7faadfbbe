"""The rules of the house (ARCHITECTURE.md): the stairs go one way, asks go round in no circle, nothing leaks out."""

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from fnmatch import fnmatch
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from events.vocabulary.codec import KINDS
from tests.conftest import SLOW_FOLDERS, SLOW_MODULES

ROOT = Path(__file__).parents[1]
FLOORS = ("events", "projections", "actors")
ACTORS = frozenset({"embedder", "store", "comparator", "workspace", "consolidator", "scheduler", "linker"})
HELPERS = frozenset({"ask", "ask_all", "ask_blocking", "ask_streaming", "_ask"})
"""Functions that ask the actor which they get as their first argument."""
LONGEST_MODULE = 300
MOST_MODULES = 10
LEAKING = """
import duckdb
from hypothesis import given, strategies

def test_names_a_class_of_duckdb(connection: duckdb.DuckDBPyConnection = None): ...

@given(strategies.integers())
def test_is_run_by_hypothesis(number): ...
"""

TOP_LEVEL = frozenset(
    {
        ".ci",
        ".claude",
        ".claude-plugin",
        ".dockerignore",
        ".editorconfig",
        ".git",
        ".gitignore",
        ".mcp.json",
        ".pre-commit-config.yaml",
    }
    | {
        "ARCHITECTURE.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "Dockerfile",
        "LICENSE",
        "README.md",
        "constraints.txt",
        "server.json",
    }
    | {"actors", "docs", "events", "hooks", "projections", "pyproject.toml", "scripts", "tests"}
)

# Written so that none of them matches its own source.
PRIVATE = {
    "a home or work folder": re.compile(r"(?<![\w.~-])/(?:home|Users|root|work|opt)/\w"),
    "a package registry": re.compile(r"pypi\.(?:org)|python(?:hosted)|npm(?:js)\.|-(?:index-url|find-links)\b"),
    "a local file as URL": re.compile(r"file:/(?:/)/\w"),
}


def modules(folder: str) -> list[Path]:
    """Return the Python files under a top-level folder, of which there must be some."""
    found = sorted((ROOT / folder).rglob("*.py"))
    assert found, f"{folder}/ holds no modules"
    return found


def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def imports(tree: ast.Module) -> Iterator[str]:
    """Yield the top-level package of every absolute import; a relative one can't leave its floor."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def imported_modules(tree: ast.Module) -> set[str]:
    """Return the names of all that a module imports anywhere, with those of classes and functions."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.update((node.module, *(f"{node.module}.{alias.name}" for alias in node.names)))
    return names


def asked(tree: ast.Module) -> Iterator[str]:
    """Yield the name of each actor that is asked: X in `self.X.ask(…)`, `ask(self.X, …)` and any use of `hub.X`."""
    for node in ast.walk(tree):
        receiver = None
        if isinstance(node, ast.Attribute) and node.attr == "ask":
            receiver = node.value
        elif isinstance(node, ast.Attribute) and node.attr in ACTORS and ast.unparse(node.value).endswith("hub"):
            receiver = node
        elif isinstance(node, ast.Call) and node.args and ast.unparse(node.func).removeprefix("self.") in HELPERS:
            receiver = node.args[0]
        if receiver is not None:
            yield ast.unparse(receiver).rpartition(".")[2].lstrip("_")


def kept_files() -> Iterator[Path]:
    """Yield every file of the tree that git would keep."""
    ignored = [line.rstrip("/") for line in (ROOT / ".gitignore").read_text(encoding="utf-8").split()]
    folders = [ROOT]
    while folders:
        for path in sorted(folders.pop().iterdir()):
            if path.name == ".git" or any(fnmatch(path.name, pattern) for pattern in ignored):
                continue
            if path.is_dir():
                folders.append(path)
            else:
                yield path


@pytest.mark.parametrize(("floor", "above"), [("events", {"projections", "actors"}), ("projections", {"actors"})])
def test_no_floor_imports_from_a_floor_above_it(floor: str, above: set[str]) -> None:
    climbing = {str(path.relative_to(ROOT)): up for path in modules(floor) if (up := above & {*imports(parse(path))})}
    assert climbing == {}


def test_no_actor_waits_for_one_that_may_be_waiting_for_it() -> None:
    asks: dict[str, set[str]] = {}
    for path in modules("actors"):
        actor = path.relative_to(ROOT / "actors").parts[0].removesuffix(".py")
        asks.setdefault(actor, set()).update(ACTORS.intersection(asked(parse(path))))
    assert any(asks[actor] for actor in ACTORS & asks.keys()), "no actor asks another: has the way of asking changed?"
    TopologicalSorter(asks).prepare()  # raises CycleError, which names the circle


def test_every_actor_asks_by_name_so_that_no_ask_escapes_the_check_for_circles() -> None:
    nameless = [
        f"{path.relative_to(ROOT)}: {name}"
        for actor in sorted(ACTORS)
        for path in (ROOT / "actors" / actor).rglob("*.py")
        for name in asked(parse(path))
        if name not in ACTORS
    ]
    assert nameless == []


@pytest.mark.parametrize(
    "actor", ["comparator", "consolidator", "embedder", "linker", "scheduler", "store", "workspace"]
)
def test_no_actor_imports_the_parts_of_another(actor: str) -> None:
    """An actor knows another by its messages; the embedder's profiles are also loaded by those who measure models."""
    others = ACTORS - {actor}
    found = {
        (str(path.relative_to(ROOT)), name)
        for path in modules(f"actors/{actor}")
        for name in imported_modules(parse(path))
        if name.startswith(tuple(f"actors.{other}." for other in others)) and ".messages" not in name
    }
    assert found == set()


def test_no_module_imports_another_that_imports_it_even_for_types_alone() -> None:
    paths = {name_of(path): path for folder in (*FLOORS, "scripts") for path in modules(folder)}
    imported = {name: imported_modules(parse(path)) & paths.keys() - {name} for name, path in paths.items()}
    assert imported["actors.store.actor"] >= {"events.storage.log"}
    TopologicalSorter(imported).prepare()  # raises CycleError, which names the circle


@pytest.mark.parametrize("floor", FLOORS)
def test_every_module_is_short_enough_to_be_read_at_once(floor: str) -> None:
    lengths = {
        str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines()) for path in modules(floor)
    }
    assert {name: length for name, length in lengths.items() if length > LONGEST_MODULE} == {}


@pytest.mark.parametrize("floor", FLOORS)
def test_every_folder_has_few_enough_modules_to_be_known_by_heart(floor: str) -> None:
    counts = Counter(str(path.parent.relative_to(ROOT)) for path in modules(floor) if path.name != "__init__.py")
    assert {folder: count for folder, count in counts.items() if count > MOST_MODULES} == {}


@pytest.mark.requirement("INTEG-001/ap-007/nothing-swallowed")
@pytest.mark.parametrize("floor", FLOORS)
def test_whoever_catches_every_error_raises_or_reports_it(floor: str) -> None:
    silent = []
    for path in modules(floor):
        for node in ast.walk(parse(path)):
            if isinstance(node, ast.ExceptHandler):
                caught = ast.unparse(node.type) if node.type else "BaseException"
                acts = any(isinstance(child, ast.Raise | ast.Call) for part in node.body for child in ast.walk(part))
                if re.search(r"\b(?:Base)?Exception\b", caught) and not acts:
                    silent.append(f"{path.relative_to(ROOT)}:{node.lineno}")
            elif isinstance(node, ast.Call) and re.fullmatch(
                r"(?:contextlib\.)?suppress\(.*\b(?:Base)?Exception\b.*\)", ast.unparse(node)
            ):
                silent.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert silent == []


def test_nothing_in_the_tree_names_a_folder_or_a_registry_of_the_machine_it_was_written_on() -> None:
    leaks = []
    for path in kept_files():
        data = path.read_bytes()
        if b"\0" in data[:1024]:
            continue
        for number, line in enumerate(data.decode("utf-8").splitlines(), start=1):
            leaks += [
                f"{path.relative_to(ROOT)}:{number} {what}" for what, sign in PRIVATE.items() if sign.search(line)
            ]
    assert leaks == []


def test_the_top_level_holds_only_what_the_architecture_lists() -> None:
    assert {path.relative_to(ROOT).parts[0] for path in kept_files()} - TOP_LEVEL == set()


def test_every_module_that_the_fast_tests_leave_out_exists() -> None:
    assert [name for name in (*SLOW_FOLDERS, *SLOW_MODULES) if not (ROOT / "tests" / name).exists()] == []


def test_every_event_is_explained_in_the_architecture() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    names = [event.__name__ for event in KINDS]
    assert names
    assert [name for name in names if not re.search(rf"\b{name}\b", text)] == []


def test_a_run_of_tests_ends_without_the_report_of_a_leak(tmp_path: Path) -> None:
    (tmp_path / "test_leak.py").write_text(LEAKING)
    command = [sys.executable, "-m", "pytest", "-p", "tests.conftest", "-c", "pyproject.toml", str(tmp_path)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert "2 passed" in run.stdout
    assert "leaked" not in run.stderr
