"""Distinct texts of any length that need no data set: the docstrings of the standard library."""

import ast
import random
import re
import sysconfig
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from benchmarks import SEED


def sentences(words: int) -> list[str]:
    """Return distinct texts of so many words each, shuffled by a fixed seed."""
    text = _words()
    chunks = list(dict.fromkeys(" ".join(text[at : at + words]) for at in range(0, len(text) - words, words)))
    random.Random(SEED).shuffle(chunks)  # noqa: S311 -- an order, not a secret
    return chunks


def first_words(text: str, count: int) -> str:
    """Return the first words of a text, as a query for it."""
    return " ".join(text.split()[:count])


@cache
def _words() -> list[str]:
    return re.findall(r"\S+", " ".join(_docstrings()))


def _docstrings() -> Iterator[str]:
    for path in sorted(Path(sysconfig.get_path("stdlib")).rglob("*.py")):
        if "site-packages" in path.parts or "test" in path.parts:
            continue
        try:
            tree = ast.parse(path.read_bytes())
        except (SyntaxError, ValueError):  # the library contains a few invalid files on purpose
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                yield ast.get_docstring(node) or ""
