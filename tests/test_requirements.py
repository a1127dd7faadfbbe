"""The manifest of requirements and the tests keep each other honest, in both directions."""

import ast
from collections import Counter
from pathlib import Path

import pytest

from tests.requirements import REQUIREMENTS, SEEDS

KNOWN = {requirement.id: requirement for requirement in REQUIREMENTS}
OPEN_ISSUES = range(6, 8)


def test_every_id_stands_once_in_the_manifest() -> None:
    counts = Counter(requirement.id for requirement in REQUIREMENTS)
    assert [name for name, count in counts.items() if count > 1] == []


def test_every_requirement_belongs_to_a_seed_and_no_seed_is_left_out() -> None:
    assert {requirement.seed for requirement in REQUIREMENTS} == set(SEEDS.values())


def test_every_gap_names_the_issue_that_will_close_it() -> None:
    gaps = {requirement.id: requirement.gap for requirement in REQUIREMENTS if requirement.gap is not None}
    assert {name: gap for name, gap in gaps.items() if gap not in OPEN_ISSUES} == {}


def test_no_marker_names_an_unknown_requirement(carried: dict[str, list[str]]) -> None:
    assert {name: tests for name, tests in carried.items() if name not in KNOWN} == {}


def test_every_requirement_without_a_gap_is_carried_by_a_test(
    carried: dict[str, list[str]], *, whole_suite: bool
) -> None:
    if not whole_suite:
        pytest.skip("only some of the test files were collected")
    assert sorted(name for name, entry in KNOWN.items() if entry.gap is None and name not in carried) == []


def test_no_requirement_that_a_test_carries_is_still_called_a_gap(carried: dict[str, list[str]]) -> None:
    assert {name: tests for name, tests in carried.items() if name in KNOWN and KNOWN[name].gap is not None} == {}


def test_markers_give_their_ids_as_literals_so_that_a_search_finds_them() -> None:
    dynamic = []
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.requirement":
                literal = all(isinstance(arg, ast.Constant) and isinstance(arg.value, str) for arg in node.args)
                if not (node.args and literal and not node.keywords):
                    dynamic.append(f"{path.name}:{node.lineno}")
    assert dynamic == []
