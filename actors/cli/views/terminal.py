"""The terminal: escaped text, a progress bar, a secret that is typed."""

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.segment import Segment
from rich.table import Column, Table
from rich.text import Text

from actors.cli.store_access import CommandError
from actors.exporters.json_text import CONTROLS
from actors.proxy.endpoint import Report

LINE_INTERVAL = 30.0
"""Seconds between two lines on the progress of what is done without a terminal."""
UNSEEN = {code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\n\t"} | dict.fromkeys(
    CONTROLS, "\N{REPLACEMENT CHARACTER}"
)
"""Visible replacements of characters that control a terminal or the direction of writing."""

BREAKS = {ord("\n"): "\N{SYMBOL FOR NEWLINE}", ord("\t"): "\N{SYMBOL FOR HORIZONTAL TABULATION}"} | dict.fromkeys(
    (0x2028, 0x2029), "\N{REPLACEMENT CHARACTER}"
)
"""Visible replacements of what would begin another line, or column, within a name or a reason."""


def visible(text: str) -> str:
    """Return a text with the characters of `UNSEEN` replaced, for what is printed without a `Screen`."""
    return text.translate(UNSEEN)


def in_line(text: str) -> str:
    """Return a text that stays in its line: a name, a tag or a reason with a line break could fake another line."""
    return text.translate(BREAKS)


class Screen(Console):
    """A terminal on which the text of memories cannot emit control sequences."""

    def print_line(self, text: str, style: str = "") -> None:
        """Print a text as one line."""
        self.print(Text(in_line(text), style))

    def print_item(self, mark: str, text: str, style: str = "") -> None:
        """Print a text behind a mark, its lines below each other; on a terminal they break between words."""
        item = Text(text, style)
        width = max(1, self.width - len(mark))
        lines = item.wrap(self, width) if self.is_terminal else item.split("\n", allow_blank=True)
        self.print(Text.assemble((mark, "bold"), Text("\n" + " " * len(mark)).join(lines)))

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Yield segments with control characters in texts replaced."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else text.translate(UNSEEN), style, control)


def columns(first: str, *others: str, **options: Any) -> Table:
    """Return a table in which nothing is cut: where a terminal is narrow, all columns wrap but the first."""
    wrapping = (Column(name, overflow="fold") for name in others)
    return Table(Column(first, no_wrap=True), *wrapping, box=None, **options)


OUT = Screen(highlight=False, soft_wrap=True, markup=False)
ERR = Screen(stderr=True, markup=False)


@contextmanager
def progress_bar(*, quiet: bool) -> Iterator[Report]:
    """Show the progress of an operation on standard error: a bar that is removed at the end, or now and then a line."""
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=ERR, transient=True, disable=quiet or not ERR.is_terminal) as bar:
        task = bar.add_task("starting", total=None)
        due = monotonic() + LINE_INTERVAL

        def report(done: float, total: float | None, what: str) -> None:
            nonlocal due
            bar.update(task, completed=done, total=total, description=what)
            if not (quiet or ERR.is_terminal) and monotonic() >= due:
                ERR.print(f"{what}: {done / total:.0%}" if total else what)
                due = monotonic() + LINE_INTERVAL

        yield report


def read_secret(prompt: str, *, confirms: bool = False) -> str:
    """Read a secret without showing it: from the terminal, or else a line of standard input (`CommandError`)."""
    if (sys.stdin and sys.stdin.isatty()) or _has_terminal():
        return typer.prompt(prompt, hide_input=True, confirmation_prompt=confirms)
    line = sys.stdin.readline().rstrip("\r\n") if sys.stdin else ""
    if not line:
        raise CommandError(
            f"{prompt}: there is no terminal to type it, and standard input is empty; pass it on standard input, "
            "or set CONTEXT_GRAPH_PASSPHRASE or CONTEXT_GRAPH_PASSPHRASE_FILE"
        )
    return line


def _has_terminal() -> bool:
    """Return whether the process has a terminal beside its standard input, from which getpass reads."""
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | getattr(os, "O_NOCTTY", 0)))
    except OSError:
        return False
    return True
