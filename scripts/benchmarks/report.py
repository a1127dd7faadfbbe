"""What all benchmarks report alike: verdicts, tables, JSON, progress, durations, quantiles, the exit status."""

import json
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import msgspec
import numpy as np
from rich.console import Console, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from typer import Exit, Option

SHOWN = 5
"""Examples in a report of what went wrong."""

JsonOption = Annotated[bool, Option("--json", help="Print JSON.")]


class Verdict(msgspec.Struct, frozen=True):
    """One line of a report: what is required, what was measured, and whether the requirement holds."""

    what: str
    figures: dict[str, Any]
    holds: bool | None = None
    """None for a measurement without a requirement."""


Sections = Mapping[str, Sequence[Verdict]]
"""Verdicts by heading, in the order of measurement."""


def progress_bar() -> Progress:
    """Return a progress bar on standard error."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True)


@contextmanager
def workplace() -> Iterator[tuple[Path, Progress]]:
    """Yield a temporary folder and a progress bar."""
    with tempfile.TemporaryDirectory() as folder, progress_bar() as bar:
        yield Path(folder), bar


def counter(bar: Progress, what: str, total: int) -> Callable[..., None]:
    """Show that something was begun; return a function to call after each part, or with the number of parts."""
    return partial(bar.advance, bar.add_task(what, total=total))


def publish(sections: Sections, *shown: RenderableType, as_json: bool, **about: Any) -> None:
    """Print what else is shown and all sections as tables, or the sections as JSON together with `about`.

    Raises:
        Exit: a verdict fails (status 1).
    """
    failed = [f"{title}: {one.what}" for title, verdicts in sections.items() for one in verdicts if one.holds is False]
    if as_json:
        print_json({**about, "sections": sections, "failed": failed})
    else:
        tables = [verdict_table(title, verdicts) for title, verdicts in sections.items()]
        Console().print(*tables, *shown, f"{len(failed)} verdicts fail", sep="\n")
    if failed:
        raise Exit(1)


def print_json(report: Any) -> None:
    """Print a report as JSON."""
    print(json.dumps(msgspec.to_builtins(report), indent=2, ensure_ascii=False))


def verdict_table(title: str, verdicts: Sequence[Verdict]) -> Table:
    """Return a section as a table for the terminal."""
    table = Table("what", "figures", "verdict", title=title, title_justify="left", show_lines=True, expand=True)
    for verdict in verdicts:
        word = {True: "[green]holds", False: "[red]fails", None: ""}[verdict.holds]
        table.add_row(
            verdict.what, "\n".join(f"{name}: {_text(value)}" for name, value in verdict.figures.items()), word
        )
    return table


def rows_table(first: str, rows: Mapping[str, Mapping[str, Any]]) -> Table:
    """Return figures by row and column as a table for the terminal; a column may be missing in a row."""
    columns = dict.fromkeys(name for row in rows.values() for name in row)
    table = Table(first, *columns)
    for name, row in rows.items():
        table.add_row(name, *("" if row.get(column) is None else _text(row[column]) for column in columns))
    return table


class Times(defaultdict[str, list[float]]):
    """Milliseconds of each kind of work, by name."""

    def __init__(self) -> None:
        super().__init__(list)

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        """Record the duration of the block."""
        start = perf_counter()
        yield
        self[name].append((perf_counter() - start) * 1e3)

    def quantiles(self) -> dict[str, dict[str, float]]:
        """Return the median and the 95th percentile of each."""
        return {name: quantiles(values) for name, values in self.items()}


def quantiles(milliseconds: Sequence[float]) -> dict[str, float]:
    """Return the median and the 95th percentile."""
    return {"median": float(np.median(milliseconds)), "p95": float(np.quantile(milliseconds, 0.95))}


def _text(value: Any) -> str:
    match value:
        case float():
            return f"{value:.2g}" if 0 < abs(value) < 1e-3 else f"{value:.3f}"
        case dict():
            return ", ".join(f"{name} {_text(part)}" for name, part in value.items())
        case list() | tuple():
            return " ".join(map(_text, value))
        case _:
            return str(value)
