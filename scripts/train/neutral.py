"""Neutral text that any machine can get from a package index: nobody's memories, and no benchmark's data.

WordNet's definitions and examples (Debian `wordnet-base`, WordNet licence) for general language, the docstrings of
Python's standard library (PSF licence) for technical language.
"""

import ast
import hashlib
import re
import sysconfig
import warnings
from collections.abc import Iterator
from pathlib import Path

LICENCES = {
    "WordNet 3.0 definitions and examples (Debian wordnet-base)": "WordNet licence",
    "docstrings of Python's standard library": "PSF licence 2",
}
WORDNET_FILES = ("data.adj", "data.adv", "data.noun", "data.verb")
LONGEST = 1000
"""Characters of one docstring paragraph that are read."""


def neutral_texts(wordnet: Path) -> tuple[list[str], str]:
    """Return all distinct texts in a fixed order, and the SHA-256 (hex) of them, joined by newlines."""
    texts = sorted({*_glosses(wordnet), *_docstrings()})
    return texts, hashlib.sha256("\n".join(texts).encode()).hexdigest()


def _glosses(wordnet: Path) -> Iterator[str]:
    for name in WORDNET_FILES:
        for line in (wordnet / name).read_text("utf-8").splitlines():
            if line.startswith("  "):  # the licence at the head of each file
                continue
            gloss = line.partition(" | ")[2].strip()
            examples = re.findall(r'"([^"]+)"', gloss)
            definition = re.sub(r'"[^"]+"', "", gloss).strip(" ;")
            yield from filter(None, (definition, *examples))


def _docstrings() -> Iterator[str]:
    library = Path(sysconfig.get_paths()["stdlib"])
    for path in sorted(library.rglob("*.py")):
        if "site-packages" in path.parts or "test" in path.parts:
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SyntaxWarning)  # some modules show wrong escapes on purpose
                tree = ast.parse(path.read_bytes())
        except (SyntaxError, ValueError):
            continue  # templates and lib2to3's samples of Python 2
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                for paragraph in (ast.get_docstring(node) or "").split("\n\n"):
                    if len(text := " ".join(paragraph.split())[:LONGEST]) > len("Return x."):
                        yield text
