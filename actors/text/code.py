"""Source code as text: detection, identifiers, and the shape of its syntax tree (tree-sitter)."""

import re
from collections import Counter
from functools import cache
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
"""Characters from which the language is detected."""
_MAX_NODES: Final = 20_000
"""Nodes of a syntax tree that are visited, about 3,000 lines of code."""

_MAX_CHILDREN: Final = 8
"""Children of a node that are part of its shape: a list of a hundred items has the shape of one of eight."""

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
    its parent. Nodes without children have none.
    """
    counts = Counter[str]()
    level: list[tuple[Node, str]] = [(_parse(content).root_node, "")]
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


def _parse(content: str) -> Tree:
    """Parse with the likeliest grammar, or with the second likeliest if that makes fewer errors."""
    sample, source = content[:_SAMPLE], content.encode("utf-8", "replace")
    likeliest = sorted(_LANGUAGES, key=lambda grammar: -len(re.findall(_LANGUAGES[grammar], sample, re.MULTILINE)))
    first, second = (Parser(_parser_language(grammar)) for grammar in likeliest[:2])
    tree = first.parse(source)
    if errors := _count_errors(tree):
        other = second.parse(source)
        return other if _count_errors(other) < errors else tree
    return tree


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
