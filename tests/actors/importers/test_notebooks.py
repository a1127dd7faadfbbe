"""Jupyter notebooks: the text and code of their cells without outputs, divided at headings."""

import json
from pathlib import Path
from typing import Any

import pytest

from actors.importers.records import FormatError
from tests.actors.importers.test_sources import read

OUTPUT = {"output_type": "stream", "name": "stdout", "text": ["epoch 1\n", "epoch 2\n"]}
LANGUAGE = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}


def cell(kind: str, source: str | list[str], **more: Any) -> dict[str, Any]:
    return {"cell_type": kind, "id": "f00d", "metadata": {}, "source": source, **more}


CELLS = (
    cell("markdown", ["# Honey yield\n", "\n", "Of [[Hive two]], by #season.\n"]),
    cell("code", ["# read it\n", "frame = read('yield.csv')"], execution_count=7, outputs=[OUTPUT]),
    cell("code", "print('''\n```\n''')", execution_count=None, outputs=[]),
    cell("raw", "\\newpage"),
    cell("code", [], execution_count=None, outputs=[]),
    cell("markdown", "## Result\nDry years give less."),
)
NOTEBOOK = {"cells": CELLS, "metadata": LANGUAGE, "nbformat": 4, "nbformat_minor": 5}


def notebook(file: Path, *cells: dict[str, Any]) -> Path:
    """Write a notebook as Jupyter does."""
    file.write_text(json.dumps({**NOTEBOOK, "cells": cells}, indent=1) + "\n", "utf-8")
    return file


def test_a_notebook_is_a_note_of_its_cells_without_outputs(tmp_path: Path) -> None:
    name, (item,), broken, skipped = read(notebook(tmp_path / "2026-04-01 yield.ipynb", *CELLS))
    assert (name, broken) == ("a note", [])
    assert item["content"] == (
        "# Honey yield\n\nOf [[Hive two]], by #season.\n\n```python\n# read it\nframe = read('yield.csv')\n```\n\n"
        "````python\nprint('''\n```\n''')\n````\n\n```\n\\newpage\n```\n\n## Result\nDry years give less."
    )
    assert item["created_at"] == "2026-04-01"
    assert skipped["outputs of cells"] == 1


def test_a_notebook_that_is_run_again_is_the_same_note_and_a_long_one_is_divided_at_headings(tmp_path: Path) -> None:
    code = cell("code", "\n".join(f"x{number} = yield_of({number})" for number in range(120)), outputs=[])
    before = read(notebook(tmp_path / "a.ipynb", *CELLS[:2], code, *CELLS[2:]))[1]
    rerun = CELLS[1] | {"execution_count": 8, "outputs": [OUTPUT, OUTPUT]}
    after = read(notebook(tmp_path / "a.ipynb", CELLS[0], rerun, code, *CELLS[2:]))[1]
    assert [item["id"] for item in before] == [item["id"] for item in after]
    assert before[-1]["content"].endswith("## Result\nDry years give less.")
    assert before[-1]["metadata"]["division"]["heading"] == "Honey yield › Result"


@pytest.mark.parametrize(
    ("metadata", "language"),
    [
        ({"language_info": {"name": "julia"}, "kernelspec": None}, "julia"),
        ({"kernelspec": {"name": "ir", "language": "R"}}, "R"),
        ({"colab": {}}, ""),
    ],
)
def test_code_has_the_language_that_the_notebook_names(tmp_path: Path, metadata: dict[str, Any], language: str) -> None:
    file = tmp_path / "a.ipynb"
    file.write_text(json.dumps(NOTEBOOK | {"cells": [cell("code", "x = 1", outputs=[])], "metadata": metadata}))
    assert read(file)[1][0]["content"] == f"a\n\n```{language}\nx = 1\n```"


def test_a_file_that_is_no_notebook_of_today_is_refused_and_copies_of_jupyter_are_not_read(tmp_path: Path) -> None:
    notebook(tmp_path / "new.ipynb", *CELLS)
    (tmp_path / ".ipynb_checkpoints").mkdir()
    notebook(tmp_path / ".ipynb_checkpoints" / "new-checkpoint.ipynb", *CELLS)
    (tmp_path / "old.ipynb").write_text(json.dumps({"nbformat": 3, "worksheets": []}))
    (tmp_path / "torn.ipynb").write_text('{"cells": [')
    _, items, broken, _ = read(tmp_path)
    assert len(items) == 1
    assert [(Path(one.file).name, one.reason.partition(":")[0]) for one in broken] == [
        ("old.ipynb", "no notebook with cells"),
        ("torn.ipynb", "not JSON"),
    ]
    with pytest.raises(FormatError, match="saved anew by Jupyter; nothing was imported"):
        read(tmp_path / "old.ipynb")
