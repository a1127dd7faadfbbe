"""Neutral training text that any machine can install: no memories, and no benchmark data.

WordNet's definitions and examples (Debian `wordnet-base`, WordNet licence) for general language, the docstrings of
Python's standard library (PSF licence) for technical language.
"""

import ast
import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

from scripts.train.functions import definitions, standard_library

LICENCES = {
    "WordNet 3.0 definitions and examples (Debian wordnet-base)": "WordNet licence",
    "docstrings of Python's standard library": "PSF licence 2",
}
WORDNET_FILES = ("data.adj", "data.adv", "data.noun", "data.verb")
LONGEST = 1000
"""Maximum characters of a docstring paragraph."""
ENDINGS = (("s", ""), ("es", ""), ("ies", "y"), ("ed", ""), ("ed", "e"), ("ing", ""), ("ing", "e"))
ENDINGS += (("er", ""), ("er", "e"), ("est", ""), ("est", "e"))
"""Endings of inflected words and of their base forms: WordNet's rules of detachment, morphy(7WN)."""
BODY = 400
"""Maximum characters of a docstring, and of its function, in a pair."""


def neutral_texts(wordnet: Path) -> tuple[list[str], str]:
    """Return all distinct texts in a fixed order, and the SHA-256 (hex) of them, joined by newlines."""
    texts = sorted({*_glosses(wordnet), *_docstrings()})
    return texts, hashlib.sha256("\n".join(texts).encode()).hexdigest()


def neutral_pairs(wordnet: Path) -> tuple[dict[str, list[tuple[str, str]]], str]:
    """Return pairs of texts of the same meaning in different words, by kind, and their SHA-256 (hex).

    A synset's words and its definition, its first two examples and its definition, a docstring and its function.
    """
    pairs: dict[str, set[tuple[str, str]]] = {"words": set(), "examples": set(), "functions": set(_functions())}
    for words, definition, examples in _synsets(wordnet):
        if definition:
            pairs["words"].add((", ".join(words), definition))
            pairs["examples"].update((example, definition) for example in examples[:2])
    ordered = {kind: sorted(found) for kind, found in pairs.items()}
    text = "\n".join(line for found in ordered.values() for pair in found for line in pair)
    return ordered, hashlib.sha256(text.encode()).hexdigest()


def common_words(wordnet: Path, words: list[str]) -> list[bool]:
    """Return whether WordNet has each word in lower case, inflected or not, which excludes names and fragments."""
    bases = {word for names, _, _ in _synsets(wordnet) for word in names if word.islower()}
    for path in sorted(wordnet.glob("*.exc")):
        for form, *of in map(str.split, path.read_text("utf-8").splitlines()):
            if bases.intersection(of):
                bases.add(form)
    return [
        word in bases
        or any(word.endswith(end) and word.removesuffix(end) + base_end in bases for end, base_end in ENDINGS)
        for word in words
    ]


def _synsets(wordnet: Path) -> Iterator[tuple[list[str], str, list[str]]]:
    """Yield the words, the definition (may be empty) and the examples of each set of synonyms."""
    for name in WORDNET_FILES:
        for line in (wordnet / name).read_text("utf-8").splitlines():
            if line.startswith("  "):  # the licence at the head of each file
                continue
            head, _, gloss = line.partition(" | ")
            fields = head.split()
            count = int(fields[3], 16)
            words = [re.sub(r"\(.*\)", "", word).replace("_", " ") for word in fields[4 : 4 + 2 * count : 2]]
            yield words, re.sub(r'"[^"]+"', "", gloss.strip()).strip(" ;"), re.findall(r'"([^"]+)"', gloss)


def _glosses(wordnet: Path) -> Iterator[str]:
    for _, definition, examples in _synsets(wordnet):
        yield from filter(None, (definition, *examples))


def _functions() -> Iterator[tuple[str, str]]:
    """Yield the first paragraph of each docstring, and the function without the docstring."""
    for node, _ in definitions(standard_library()):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("__"):
            said = " ".join((ast.get_docstring(node) or "").partition("\n\n")[0].split())[:BODY]
            body = ast.unparse(ast.Module(node.body[1:], []))[:BODY]
            if len(said) > len("Return something new.") and len(body) > len("return something.new()"):
                yield said, f"def {node.name}({', '.join(arg.arg for arg in node.args.args)}):\n{body}"


def _docstrings() -> Iterator[str]:
    for node, _ in definitions(standard_library()):
        for paragraph in (ast.get_docstring(node) or "").split("\n\n"):
            if len(text := " ".join(paragraph.split())[:LONGEST]) > len("Return x."):
                yield text
