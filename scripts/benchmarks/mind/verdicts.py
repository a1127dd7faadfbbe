"""What was promised, what was measured, and whether it holds."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from rich.table import Table


class Verdict(msgspec.Struct, frozen=True):
    """One line of a report."""

    what: str
    figures: dict[str, Any]
    holds: bool | None = None
    """None where nothing was promised."""


Sections = Mapping[str, Sequence[Verdict]]
"""Verdicts under their headings, in the order of measuring."""


def table(title: str, verdicts: Sequence[Verdict]) -> Table:
    """Return a section as a table for the terminal."""
    drawn = Table("what", "figures", "verdict", title=title, title_justify="left", show_lines=True, expand=True)
    for verdict in verdicts:
        word = {True: "[green]holds", False: "[red]fails", None: ""}[verdict.holds]
        drawn.add_row(
            verdict.what, "\n".join(f"{name}: {_plain(value)}" for name, value in verdict.figures.items()), word
        )
    return drawn


def _plain(value: Any) -> str:
    match value:
        case float():
            return f"{value:.2g}" if 0 < abs(value) < 1e-3 else f"{value:.3f}"
        case dict():
            return ", ".join(f"{name} {_plain(of)}" for name, of in value.items())
        case list() | tuple():
            return " ".join(map(_plain, value))
        case _:
            return str(value)
