"""Source code as text: detection, identifiers, and the shape of its syntax tree (tree-sitter)."""

import re
from collections import Counter
from functools import cache
from math import inf
from types import ModuleType
from typing import Final

import tree_sitter_cpp
import tree_sitter_go
import tree_sitter_javascript
import tree_sitter_python
import tree_sitter_rust
from tree_sitter import Language, Node, Parser, Tree

from projections.spaces.lexical import STOP_WORDS, subtokens

_LANGUAGES: Final = {
    tree_sitter_python: (
        r"^[ \t]*(?:def \w+\(|class \w|elif |except|with |for .* in ).*:[ \t]*$|^from \S+ import |\bself\."
    ),
    tree_sitter_javascript: (r"\b(?:const|let|var) [\w{\[]|=>|\bfunction\b|===|\brequire\(|^(?:im|ex)port .*[;'\"]"),
    tree_sitter_go: r"^package \w+|^func |:=|\bnil\b|^type \w+ (?:struct|interface)",
    tree_sitter_rust: r"\bfn \w+|\blet mut\b|\bimpl\b|\bpub \w|\w!\(|->|\buse \w+::|&mut\b",
    tree_sitter_cpp: (
        r"^[ \t]*#include|\bstd::|\btemplate ?<|\b(?:int|void|char|double|bool|auto) \*?\w+ ?[(=;]|\bnullptr\b|cout"
    ),
}
"""Grammars with the signs by which their language is recognized."""

_SAMPLE: Final = 16_384
_MAX_NODES: Final = 20_000
"""Nodes of a syntax tree that are visited, about 3,000 lines of code."""

_MAX_CHILDREN: Final = 8
"""Children of a node that are part of its shape: a list of a hundred items has the shape of one of eight."""

_CHUNK: Final = 256
"""Bytes that the lexer is given at once."""
_MAX_READS: Final = 20_000
"""Chunks that the lexer may read, 5 MB. Of 6,673 texts, the hardest took 1,008. For `r#"r#"`, it reads to the end at
each `r`: 12 s for 65,536 characters."""
_REPORTS: Final = 200
_BYTES_PER_REPORT: Final = 16
"""A parser reports after each 100 operations: once for 42 bytes of the densest code of these texts, and ever more often
for `-,-,`."""

_IDENTIFIER: Final = re.compile(r"[^\W\d]\w*")
_KEYWORDS: Final = frozenset(
    """
    async await bool break case catch char class const continue def default defer del double elif else enum except
    export extends extern false finally float fn func function impl import int interface lambda let match mod mut new
    nil none null nullptr package pass private protected pub public raise range return self static std str string
    struct super switch template this throw true try type typedef typename use using var void where while yield
    """.split()
)


def code_words(content: str) -> str:
    """Return the words of code for a sentence model: identifiers split, comments and strings kept, no punctuation.

    Content without a word is returned unchanged.
    """
    return " ".join(part for word in _IDENTIFIER.findall(content) for part in _split(word)) or content


def _split(word: str) -> list[str]:
    """Split an identifier; an ordinary word stays as it is."""
    return [word] if word.isalpha() and (word[1:].islower() or len(word) == 1) else subtokens(word)


def count_identifiers(content: str) -> Counter[str]:
    """Count whole identifiers and their subtokens, without keywords and stop words."""
    counts = Counter[str]()
    for identifier, count in Counter(_IDENTIFIER.findall(content)).items():
        for token in dict.fromkeys([identifier.casefold(), *subtokens(identifier)]):
            if token not in _KEYWORDS and token not in STOP_WORDS:
                counts[token] += count
    return counts


def count_syntax(content: str) -> Counter[str]:
    """Count the shapes in the syntax tree of code, breadth first, bounded; names and literals don't count.

    A shape is a node with the kinds of all its children, keywords and operators included, alone and below the kind of
    its parent. Nodes without children have none. A text that is too hard to parse has no shapes.
    """
    counts = Counter[str]()
    tree = _parse(content)
    level: list[tuple[Node, str]] = [(tree.root_node, "")] if tree is not None else []
    seen = 0
    while level and seen < _MAX_NODES:
        below: list[tuple[Node, str]] = []
        for node, parent in level[: _MAX_NODES - seen]:
            children = [child for child in node.children if child.type != "comment"]
            if not children:
                continue
            shape = f"{node.type}({' '.join(child.type for child in children[:_MAX_CHILDREN])})"
            counts[shape] += 1
            if parent:
                counts[f"{parent}>{shape}"] += 1
            below.extend((child, node.type) for child in children)
        seen += len(level)
        level = below
    return counts


@cache
def _parser_language(grammar: ModuleType) -> Language:
    return Language(grammar.language())


def _parse(content: str) -> Tree | None:
    """Parse with the likeliest grammar, or the second likeliest if that makes fewer errors; None if neither can."""
    sample, source = content[:_SAMPLE], content.encode("utf-8", "replace")
    likeliest = sorted(_LANGUAGES, key=lambda grammar: -len(re.findall(_LANGUAGES[grammar], sample, re.MULTILINE)))
    first, second = likeliest[:2]
    tree = _parse_bounded(source, first)
    errors = inf if tree is None else _count_errors(tree)
    if not errors:
        return tree
    other = _parse_bounded(source, second)
    return other if other is not None and _count_errors(other) < errors else tree


def _parse_bounded(source: bytes, grammar: ModuleType) -> Tree | None:
    """Parse in time that grows with the length of the source; return None for a source that needs more.

    Error recovery of tree-sitter takes a time that grows with the cube of the length of `-,-,-,`: 61 s for 10,000
    characters of it. The bound counts what the parser does, not seconds, so that a text has one tree everywhere.
    """
    most_reports = _REPORTS + len(source) // _BYTES_PER_REPORT
    reports = reads = 0

    def read(offset: int, _point: object) -> bytes:
        nonlocal reads
        reads += 1
        return source[offset : offset + _CHUNK] if reads <= _MAX_READS else b""

    def is_over(*_state: object) -> bool:
        nonlocal reports
        reports += 1
        return reports > most_reports or reads > _MAX_READS

    try:
        tree = Parser(_parser_language(grammar)).parse(read, progress_callback=is_over)
    except ValueError:  # which a parser raises that was told to stop
        if reports <= most_reports and reads <= _MAX_READS:
            raise
        return None
    return tree if reads <= _MAX_READS else None


def _count_errors(tree: Tree) -> int:
    """Count the error nodes among the first `_MAX_NODES` visited nodes."""
    found, stack, seen = 0, [tree.root_node], 0
    while stack and seen < _MAX_NODES:
        node = stack.pop()
        seen += 1
        if node.is_error or node.is_missing:
            found += 1
        elif node.has_error:
            stack.extend(node.children)
    return found
