"""Texts to store, a store filled with them, and what each of them would cost without us."""

import ast
import random
import re
import sysconfig
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import anyio

from actors.api.context import Context
from actors.api.operations.memories import store_memory
from actors.api.params.memories import StoreMemory
from actors.api.params.parsing import parse
from actors.embedder.models.backbone import Backbone

SEED = 20_261_121
AT_ONCE = 32
QUERY_WORDS = 8


@cache
def _words() -> list[str]:
    """Return the words of all docstrings of the standard library."""

    def docstrings() -> Iterator[str]:
        for path in sorted(Path(sysconfig.get_path("stdlib")).rglob("*.py")):
            if "site-packages" in path.parts or "test" in path.parts:
                continue
            try:
                tree = ast.parse(path.read_bytes())
            except (SyntaxError, ValueError):  # a few files of the library are broken on purpose
                continue
            for node in ast.walk(tree):
                if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                    yield ast.get_docstring(node) or ""

    return re.findall(r"\S+", " ".join(docstrings()))


def sentences(words: int) -> list[str]:
    """Return distinct texts of so many words from the docstrings of the standard library, shuffled by a fixed seed."""
    text = _words()
    chunks = list(dict.fromkeys(" ".join(text[at : at + words]) for at in range(0, len(text) - words, words)))
    random.Random(SEED).shuffle(chunks)  # noqa: S311 -- an order, not a secret
    return chunks


def bare(backbone: Backbone, *texts: str) -> None:
    """Embed texts as a plain embedding service would: tokenise, one forward pass for all, mean."""
    for states in backbone.forward([backbone.tokenize(text).ids for text in texts]):
        states.mean(axis=0)


async def fill(context: Context, texts: list[str]) -> list[str]:
    """Store texts side by side, and return their ids."""
    slot = anyio.CapacityLimiter(AT_ONCE)
    stored: list[str] = []

    async def keep(text: str) -> None:
        async with slot:
            answer = await store_memory(context, parse({"content": text}, StoreMemory))
            stored.append(answer["fingerprintId"])

    async with anyio.create_task_group() as group:
        for text in texts:
            group.start_soon(keep, text)
    return stored
