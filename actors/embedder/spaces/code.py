"""E7: code by its identifiers, its syntax and what it is about, 1,536 dimensions in three blocks.

| block | dimensions | squared length for code | for plain text |
|---|---|---|---|
| identifiers, split into sub-tokens and hashed | 576 | .2 | .2 / .9 |
| paths of the syntax tree, hashed | 576 | .1 | 0 |
| what it is about | 384 | .7 | .7 / .9 |

So a question in words meets code by its words and identifiers, and code meets code by its shape too.

What a text is about is its E1; what code is about a trained head tells (`about`).
"""

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import Final

import numpy as np
import tree_sitter_cpp
import tree_sitter_go
import tree_sitter_javascript
import tree_sitter_python
import tree_sitter_rust
from tree_sitter import Language, Node, Parser, Tree

from actors.embedder.spaces.vectors import unit
from actors.text.lexical import STOP_WORDS, sketch, subtokens
from events.fingerprint import Float32

MEANING: Final = 384
BLOCK: Final = 576
DIMENSION: Final = 2 * BLOCK + MEANING
_SHARES: Final = {"identifiers": 0.2, "syntax": 0.1, "meaning": 0.7}

_GRAMMARS: Final = {
    "python": tree_sitter_python.language,
    "javascript": tree_sitter_javascript.language,
    "go": tree_sitter_go.language,
    "rust": tree_sitter_rust.language,
    "cpp": tree_sitter_cpp.language,
}
_HINTS: Final = {
    "python": r"^[ \t]*(?:def \w+\(|class \w|elif |except|with |for .* in ).*:[ \t]*$|^from \S+ import |\bself\.",
    "javascript": r"\b(?:const|let|var) [\w{\[]|=>|\bfunction\b|===|\brequire\(|^(?:im|ex)port .*[;'\"]",
    "go": r"^package \w+|^func |:=|\bnil\b|^type \w+ (?:struct|interface)",
    "rust": r"\bfn \w+|\blet mut\b|\bimpl\b|\bpub \w|\w!\(|->|\buse \w+::|&mut\b",
    "cpp": r"^[ \t]*#include|\bstd::|\btemplate ?<|\b(?:int|void|char|double|bool|auto) \*?\w+ ?[(=;]|\bnullptr\b|cout",
}
_HINT_PATTERNS: Final = {name: re.compile(pattern, re.MULTILINE) for name, pattern in _HINTS.items()}
_TRIED: Final = 2
_GLANCE: Final = 16_384
"""Characters from which the grammar is told."""
_MOST_NODES: Final = 20_000
"""Nodes of a tree that are walked; some 3,000 lines have as many."""

_IDENTIFIER: Final = re.compile(r"[^\W\d]\w*")
_KEYWORDS: Final = frozenset(
    """
    async await bool break case catch char class const continue def default defer del double elif else enum except
    export extends extern false finally float fn func function impl import int interface lambda let match mod mut new
    nil none null nullptr package pass private protected pub public raise range return self static std str string
    struct super switch template this throw true try type typedef typename use using var void where while yield
    """.split()
)

# What a line of code looks like in any of the common languages, and prose does not.
_CODE_LINE: Final = re.compile(
    r"""[{};]\s*(?://.*)?$                                         # it ends as C's relatives do
    |^\s*(?:async\s+)?(?:def|class|fn|func|function|impl|struct)\s+[\w<(]+.*[({:]
    |^\s*(?:(?:el)?if|for|while|with|try|else|except)\b.*:\s*$
    |^\s*(?:import\s+[\w.{*]+(?:\s+as\s+\w+)?|from\s+[\w.]+\s+import\s.*|package\s+\w+|\#include\s*[<"].*|use\s+\w+::.*)$
    |^\s*(?:return|raise|yield|await)\b.*[\w)\]]$
    |^\s*[\w.\[\]]+\s*(?:[-+*/|&]?=|:=)\s*\S
    |^\s*@\w+(?:[.(].*)?$
    |\w\((?:[^()\s]|[^()]*[,=.\[\]"'_][^()]*)?\)\s*[;:]?\s*$       # it ends in a call
    |=>|->|::|===|&&|\|\|
    """,
    re.VERBOSE,
)


def looks_like_code(content: str) -> bool:
    """Tell whether a content is rather code than prose: at least half of its lines look like code."""
    lines = [line[:400] for line in content[:_GLANCE].splitlines() if line.strip()]
    told = sum(bool(_CODE_LINE.search(line)) for line in lines)
    comments = sum(line.lstrip().startswith(("#", "//", "/*", "*")) for line in lines)
    return told > 0 and told * 2 >= len(lines) - min(comments, told)


def words(content: str) -> str:
    """Return what code says in words: identifiers split, comments and strings kept, punctuation dropped.

    The sentence model reads it beside the code as it is written. Content without a word comes back as it is.
    """
    pieces = (piece for word in _IDENTIFIER.findall(content) for piece in _spoken(word))
    return " ".join(pieces) or content


def _spoken(word: str) -> list[str]:
    """Split an identifier; leave a word of prose as it stands."""
    return [word] if word.isalpha() and (word[1:].islower() or len(word) == 1) else subtokens(word)


def _identifiers(content: str) -> Counter[str]:
    """Weigh whole identifiers and their sub-tokens by the root of their frequency; keywords say nothing."""
    counts = Counter[str]()
    for identifier, count in Counter(_IDENTIFIER.findall(content)).items():
        parts = subtokens(identifier)
        for token in dict.fromkeys([identifier.casefold(), *parts]):
            if token not in _KEYWORDS and token not in STOP_WORDS:
                counts[token] += count
    return counts


def _roots(counts: Counter[str]) -> dict[str, float]:
    return {feature: count**0.5 for feature, count in counts.items()}


@cache
def _language(name: str) -> Language:
    return Language(_GRAMMARS[name]())


def _errors(tree: Tree) -> int:
    """Count the error nodes of a tree, at most `_MOST_NODES` nodes deep into it."""
    found, stack, seen = 0, [tree.root_node], 0
    while stack and seen < _MOST_NODES:
        node = stack.pop()
        seen += 1
        if node.is_error or node.is_missing:
            found += 1
        elif node.has_error:
            stack.extend(node.children)
    return found


def _parse(content: str) -> Tree:
    """Parse with the grammar, of the two likeliest, that makes the fewest errors."""
    glance = content[:_GLANCE]
    likely = sorted(_HINT_PATTERNS, key=lambda name: -len(_HINT_PATTERNS[name].findall(glance)))[:_TRIED]
    source = content.encode("utf-8", "replace")
    best: tuple[int, Tree] | None = None
    for name in likely:
        tree = Parser(_language(name)).parse(source)
        errors = _errors(tree)
        if best is None or errors < best[0]:
            best = errors, tree
        if not errors:
            break
    assert best is not None  # noqa: S101 - there is always a likeliest grammar
    return best[1]


def _paths(tree: Tree) -> Counter[str]:
    """Count the downward paths of two and three named nodes, breadth first and bounded."""
    counts = Counter[str]()
    level: list[tuple[Node, str, str]] = [(tree.root_node, "", "")]
    seen = 0
    while level and seen < _MOST_NODES:
        below: list[tuple[Node, str, str]] = []
        for node, parent, grandparent in level[: _MOST_NODES - seen]:
            kind = node.type
            if parent:
                counts[f"{parent}>{kind}"] += 1
            if grandparent:
                counts[f"{grandparent}>{parent}>{kind}"] += 1
            below.extend((child, kind, parent) for child in node.named_children)
        seen += len(level)
        level = below
    return counts


def signs(content: str, *, is_code: bool) -> Float32:
    """Return the two blocks of E7 that need no model, identifiers and syntax, shape (1152,).

    A block without any feature is zero, as that of syntax is for plain text.
    """
    blocks = np.zeros(2 * BLOCK, dtype=np.float32)
    names = _roots(_identifiers(content))
    if names:
        blocks[:BLOCK] = sketch(names, BLOCK) * _SHARES["identifiers"] ** 0.5
    paths = _roots(_paths(_parse(content))) if is_code else {}
    if paths:
        blocks[BLOCK:] = sketch(paths, BLOCK) * _SHARES["syntax"] ** 0.5
    return blocks


def code_vectors(blocks: Sequence[Float32], meanings: Sequence[Float32]) -> Float32:
    """Return E7 of contents, unit vectors of shape (contents, 1536): the blocks that aren't zero share its length.

    Args:
        blocks: The `signs` of each.
        meanings: A unit vector of each, shape (384,): of code what it is `about`, of text its E1.
    """
    if any(meaning.shape != (MEANING,) for meaning in meanings):
        raise ValueError(f"the meaning needs {MEANING} dimensions")
    return unit(np.concatenate([blocks, np.multiply(meanings, np.float32(_SHARES["meaning"] ** 0.5))], axis=1))
