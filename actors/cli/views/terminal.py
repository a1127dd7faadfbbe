"""Terminal output: escaped text, a progress bar, times."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime

from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.segment import Segment

from actors.cli.store_access import Report
from actors.exporters.json_text import CONTROLS

UNSEEN = {code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\n\t"} | dict.fromkeys(
    CONTROLS, "\N{REPLACEMENT CHARACTER}"
)
"""Visible replacements of characters that control a terminal or the direction of writing."""


class Screen(Console):
    """A terminal on which the text of memories cannot emit control sequences."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Yield segments with control characters in texts replaced."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else text.translate(UNSEEN), style, control)


OUT = Screen(highlight=False, soft_wrap=True, markup=False)
ERR = Screen(stderr=True, markup=False)


@contextmanager
def progress_bar(*, quiet: bool) -> Iterator[Report]:
    """Show the progress of an operation on standard error, and remove it at the end."""
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=ERR, transient=True, disable=quiet or not ERR.is_terminal) as bar:
        task = bar.add_task("starting", total=None)

        def report(done: float, total: float | None, what: str) -> None:
            bar.update(task, completed=done, total=total, description=what)

        yield report


def minute(moment: str) -> str:
    """Return a time in ISO 8601 to the minute."""
    return datetime.fromisoformat(moment).strftime("%Y-%m-%d %H:%M")
