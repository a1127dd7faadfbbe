"""ARCHITECTURE.md and docs/ name what is in the code: modules, functions, classes and messages, and files."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = (ROOT / "ARCHITECTURE.md", *sorted((ROOT / "docs").glob("*.md")))
TEXT = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
FLOORS = ("events", "projections", "actors")

DIAGRAMS = re.findall(r"```mermaid\n(.*?)```", TEXT, flags=re.DOTALL)
DOTTED = re.compile(r"\b(?:[a-z_]\w*|[A-Z]\w*)(?:\.\w+)+\b")
FILE = re.compile(r"(?<![\w./])(?:actors|docs|events|projections|scripts|tests)/[\w/]+\.(?:py|json|md)\b")
MESSAGE = re.compile(r"->>[+-]?\w+: (?:\S+ )?([A-Z]\w+)")


def definitions(tree: ast.AST, prefix: str) -> Iterator[str]:
    """Yield the dotted names of functions, classes and methods."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield f"{prefix}.{node.name}"
            yield from definitions(node, f"{prefix}.{node.name}")


@cache
def known() -> frozenset[str]:
    """Return every ending of the dotted name of each module, function, class and method."""
    names: set[str] = set()
    for floor in FLOORS:
        for path in (ROOT / floor).rglob("*.py"):
            module = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
            names |= {module, *definitions(ast.parse(path.read_text(encoding="utf-8")), module)}
    return frozenset(
        ".".join(parts[start:]) for parts in (name.split(".") for name in names) for start in range(len(parts))
    )


def named() -> list[str]:
    """Return the dotted names in the text and in the diagrams."""
    in_text = [name for name in re.findall(r"`([\w.]+)`", TEXT) if name.startswith(tuple(f"{one}." for one in FLOORS))]
    return [*in_text, *(name for diagram in DIAGRAMS for name in DOTTED.findall(diagram))]


def test_both_ways_are_drawn() -> None:
    assert len(DIAGRAMS) >= 2
    assert len(named()) > 20


@pytest.mark.parametrize("name", sorted({*named()}))
def test_a_name_of_the_architecture_is_in_the_code(name: str) -> None:
    assert name in known()


@pytest.mark.parametrize("name", sorted({name for diagram in DIAGRAMS for name in MESSAGE.findall(diagram)}))
def test_a_message_of_a_diagram_is_a_class(name: str) -> None:
    assert name in known()


@pytest.mark.parametrize("path", sorted({*FILE.findall(TEXT)}))
def test_a_file_of_the_architecture_exists(path: str) -> None:
    assert (ROOT / path).is_file()
