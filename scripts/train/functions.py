"""Functions of installed packages with the first sentence of their docstring, which any machine with the pins has.

Test files, memories and benchmark data are excluded.
"""

import ast
import hashlib
import random
import re
import sysconfig
import tokenize
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

LICENCES = {
    "torch": "BSD-3-Clause",
    "stdlib": "PSF licence 2",
    "sympy": "BSD-3-Clause",
    "transformers": "Apache-2.0",
    "scipy": "BSD-3-Clause",
    "numpy": "BSD-3-Clause",
    "_pytest": "MIT",
    "sklearn": "BSD-3-Clause",
    "networkx": "BSD-3-Clause",
    "huggingface_hub": "Apache-2.0",
    "duckdb": "MIT",
    "narwhals": "MIT",
}
"""Licence of each package by its folder; `stdlib` is Python's standard library."""
MOST = 1_000
"""Maximum functions of one package."""
TESTS = re.compile(r"(?:^|/)(?:_?tests?|testing|test_\w+|\w+_tests?|conftest|_vendor|idlelib|lib2to3)(?:/|\.py$)")
FIRST = re.compile(r"\s*(?:\n\s*(?:\n|:\w|@\w|>>>|--)|(?<=[.!?:])\s+(?=[A-Z`:@\[(*]))")
"""The end of the first sentence of a docstring."""
WORDS = range(3, 41)
"""Number of words of a usable sentence."""
BODY = range(25, 600)
"""Characters of a usable function, without docstring and head."""
REST = 300
"""Maximum characters of the rest of a docstring."""
VERB = re.compile(r"\w{3,}[^s\W]s")
"""A first word such as `returns`, which becomes `return` in a query."""
LITTLE = frozenset("a an and are as be by for from if in is it its of on or that the this to with".split())
"""Words that are often left out of queries."""

Definition = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


class Function(NamedTuple):
    """A function and the first sentence of its docstring."""

    package: str
    said: str
    code: str
    """The function without that sentence; some keep the rest of their docstring."""


def functions(seed: int) -> tuple[list[Function], str]:
    """Return functions with distinct sentences in random order, and their SHA-256 (hex)."""
    rng = random.Random(seed)
    found: list[Function] = []
    seen: set[str] = set()
    for package in LICENCES:
        last = len(found) + MOST
        for said, head, rest, body in _documented(package, rng):
            key = " ".join(re.findall(r"\w+", said.lower()))
            if key not in seen and body not in seen:
                kept = f'\n    """{rest}"""' if rest and rng.random() < 0.4 else ""
                found.append(Function(package, said, f"{head}{kept}\n{body}"))
                seen.update((key, body))
            if len(found) == last:
                break
    rng.shuffle(found)
    return found, hashlib.sha256("\n".join(text for each in found for text in each).encode()).hexdigest()


def as_query(said: str, rng: random.Random) -> str:
    """Return a sentence as a search query: without punctuation and some words, about Python."""
    words = [word.lower() for word in re.findall(r"\w+", said)]
    if VERB.fullmatch(words[0]) and rng.random() < 0.7:
        words[0] = words[0].removesuffix("s")
    little, others = rng.choice((0.0, 0.3, 0.8)), rng.choice((0.0, 0.0, 0.15, 0.3))
    left = [word for word in words if rng.random() >= (little if word in LITTLE else others)] or words
    text = " ".join(left)
    form = rng.choices(("{}", "python {}", "{} in python", "how to {}", "how to {} in python"), (6, 7, 5, 2, 1))[0]
    return form.format(text)


def _documented(package: str, rng: random.Random) -> Iterator[tuple[str, str, str, str]]:
    """Yield the first sentence of each function's docstring, its head, the rest of the docstring, and its body."""
    paths = sysconfig.get_paths()
    root = Path(paths["stdlib"]) if package == "stdlib" else Path(paths["purelib"]) / package
    if not root.is_dir():
        raise FileNotFoundError(f"{package} isn't installed")
    files = sorted(root.rglob("*.py"))
    rng.shuffle(files)
    names = ((path, path.relative_to(root).as_posix()) for path in files)
    chosen = (path for path, name in names if "site-packages" not in name and not TESTS.search(name))
    for node, source in definitions(chosen):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        docstring = ast.get_docstring(node)
        if docstring is None or node.name.startswith("__"):
            continue
        said, *rest = (" ".join(part.split()) for part in FIRST.split(docstring.strip(), maxsplit=1))
        lines = source.splitlines()[node.lineno - 1 : node.end_lineno]
        first, last = node.body[0].lineno - node.lineno, (node.body[0].end_lineno or 0) - node.lineno
        body = "\n".join(lines[last + 1 :])
        if len(re.findall(r"[A-Za-z]+", said)) in WORDS and len(body) in BODY and first:
            yield said, "\n".join(lines[:first]), "".join(rest)[:REST], body


def standard_library() -> list[Path]:
    """Return the files of Python's standard library, without its tests."""
    files = sorted(Path(sysconfig.get_path("stdlib")).rglob("*.py"))
    return [path for path in files if not {"site-packages", "test"}.intersection(path.parts)]


def definitions(files: Iterable[Path]) -> Iterator[tuple[Definition, str]]:
    """Yield all modules, classes and functions of files, each with the source of its file."""
    for path in files:
        try:
            with warnings.catch_warnings(), tokenize.open(path) as file:
                warnings.simplefilter("ignore", SyntaxWarning)  # some modules show wrong escapes on purpose
                tree = ast.parse(source := file.read())
        except (SyntaxError, ValueError):
            continue  # templates, and samples of Python 2
        for node in ast.walk(tree):
            if isinstance(node, Definition):
                yield node, source
