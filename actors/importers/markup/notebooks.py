"""Jupyter notebooks as Markdown: the text of their cells, and code as blocks. Outputs are left out."""

import re
from collections import Counter
from pathlib import Path
from typing import Final

import msgspec

from actors.importers.files import document
from actors.importers.records import Broken, Document
from actors.runtime.types import JsonObject

SUFFIX: Final = ".ipynb"
_FENCE: Final = re.compile(r"^ *(`{3,})", re.MULTILINE)


class _Cell(msgspec.Struct):
    cell_type: str
    source: str | list[str] = ""
    outputs: list[msgspec.Raw] = []


class _Notebook(msgspec.Struct):
    cells: list[_Cell] | None = None
    metadata: JsonObject = {}


_notebooks = msgspec.json.Decoder(_Notebook)


def from_notebook(file: Path) -> Document | Broken:
    """Return the text of a notebook, and what is left out of it."""
    notebook = document(file, _notebooks)
    if isinstance(notebook, Broken):
        return notebook
    if notebook.cells is None:
        return Broken(str(file), 1, "no notebook with cells: one before nbformat 4 is to be saved anew by Jupyter")
    language = _language(notebook.metadata)
    texts = [_text(cell, language) for cell in notebook.cells]
    outputs = sum(len(cell.outputs) for cell in notebook.cells)
    body = "\n\n".join(text for text in texts if text)
    return Document(body, {}, body, left_out=Counter({"outputs of cells": outputs}))


def _language(metadata: JsonObject) -> str:
    """Return the language of the code, which programs state in one of two places."""
    stated = ((metadata.get("language_info"), "name"), (metadata.get("kernelspec"), "language"))
    return next((str(one[name]) for one, name in stated if isinstance(one, dict) and one.get(name)), "")


def _text(cell: _Cell, language: str) -> str:
    """Return what a cell says; what isn't Markdown is a block of code, whose fence is longer than any within."""
    source = (cell.source if isinstance(cell.source, str) else "".join(cell.source)).strip("\n")
    if cell.cell_type == "markdown" or not source.strip():
        return source.strip()
    longest = max((len(one) for one in _FENCE.findall(source)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language if cell.cell_type == 'code' else ''}\n{source}\n{fence}"
