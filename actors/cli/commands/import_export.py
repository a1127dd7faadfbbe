"""Commands that carry memories in and out, as JSON lines."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import ExitStack, nullcontext
from itertools import islice
from pathlib import Path
from typing import IO, Annotated, Any, NamedTuple

import typer

from actors.cli.program import (
    PATIENCE,
    AsOf,
    Data,
    Embedder,
    Json,
    Models,
    Namespace,
    app,
    data_folder,
    print_json,
    told_plainly,
)
from actors.runtime.settings import ModelProfile

BATCH = 100
"""Memories that are stored together (`memory/import`)."""
SHOWN = 20
"""Bad lines that a person is shown; `--json` tells of all."""
STANDARD = "-"


class _Line(NamedTuple):
    number: int
    """From 1."""
    item: Any
    problem: str | None
    """Why it is no JSON."""


@app.command(name="import")
def take_in(
    file: Annotated[
        str, typer.Argument(help="JSON lines, one memory each, as export writes them; - is standard input.")
    ],
    data: Data = None,
    embedder: Embedder = ModelProfile.EMBEDDED,
    models: Models = None,
    *,
    as_json: Json = False,
) -> None:
    """Store the memories of a file, each line once however often it is imported; ends with 1 if any failed."""
    from actors.cli import store_access as reaching
    from actors.cli.views.memories import imported, progress_bar

    place = reaching.endless(data_folder(data), embedder, models)
    told: dict[str, Any] = {"stored": 0, "stored_before": 0, "failed": []}
    with told_plainly(), ExitStack() as stack:
        source = sys.stdin if file == STANDARD else stack.enter_context(_opened(Path(file)))
        total = _counted(source)
        report = stack.enter_context(progress_bar(quiet=as_json))
        store = stack.enter_context(reaching.store(place, making=True, patience=PATIENCE))
        lines = _lines(source)
        while batch := list(islice(lines, BATCH)):
            sound = [line for line in batch if line.problem is None]
            told["failed"] += [{"line": line.number, "message": line.problem} for line in batch if line.problem]
            if sound:
                first = batch[0].number - 1

                def advanced(done: float, _of: float | None, what: str, first: int = first) -> None:
                    report(first + done, total, what)

                answer = store.call("memory/import", advanced, items=[line.item for line in sound])
                told["stored"] += answer["stored"]
                told["stored_before"] += answer["stored_before"]
                told["failed"] += [
                    {"line": line.number, "message": one["error"]["message"], **_field(one["error"])}
                    for line, one in zip(sound, answer["results"], strict=True)
                    if not one["success"]
                ]
    told["failed"].sort(key=lambda failure: failure["line"])
    if as_json:
        print_json(told)
    else:
        imported(told, SHOWN)
    if told["failed"]:
        raise typer.Exit(1)


@app.command()
def export(
    file: Annotated[Path, typer.Argument(help="Where to; - is standard output.")] = Path(STANDARD),
    data: Data = None,
    namespace: Namespace = None,
    as_of: AsOf = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print a summary as JSON, if there is a file.")] = False,
) -> None:
    """Write all memories that can be found as JSON lines, without embeddings, in the order in which they came."""
    from actors.cli import store_access as reaching
    from actors.cli.views.memories import exported, progress_bar

    place = reaching.endless(data_folder(data))
    then = {} if as_of is None else {"as_of": as_of}
    written = 0
    with told_plainly(), ExitStack() as stack:
        report = stack.enter_context(progress_bar(quiet=as_json))
        store = stack.enter_context(reaching.store(place, patience=PATIENCE))
        counts = store.call("store/status", report, **then)["namespaces"]
        wanted = {name: count for name, count in sorted(counts.items()) if namespace in (None, name)}
        target = stack.enter_context(
            nullcontext(sys.stdout) if str(file) == STANDARD else file.open("w", encoding="utf-8")
        )
        for name in wanted:
            page: dict[str, Any] = {"next_after": None}
            while "next_after" in page:
                after = {} if page["next_after"] is None else {"after": page["next_after"]}
                page = store.call("memory/export", namespace=name, **after, **then)
                for memory in page["memories"]:
                    target.write(json.dumps(memory, ensure_ascii=False) + "\n")
                written += len(page["memories"])
                report(written, sum(wanted.values()), "memories written")
    if str(file) == STANDARD:
        return
    answer = {"exported": written, "file": str(file)}
    if as_json:
        print_json(answer)
    else:
        exported(answer)


def _opened(file: Path) -> IO[str]:
    """Open a file in which a byte that is no UTF-8 spoils its line, and not the others."""
    return file.open(encoding="utf-8-sig", errors="surrogateescape")


def _counted(source: IO[str]) -> int | None:
    """Return how many lines are to come, if that can be told without taking them in."""
    if not source.seekable():
        return None
    count = sum(1 for _ in source)
    source.seek(0)
    return count


def _lines(source: IO[str]) -> Iterator[_Line]:
    """Yield the lines that aren't blank, each as what it says or with what is wrong with it."""
    for number, text in enumerate(source, start=1):
        if not text.strip():
            continue
        try:
            item, problem = json.loads(text), None
        except (ValueError, RecursionError) as error:
            item, problem = None, f"not JSON: {error}"
        yield _Line(number, item, problem)


def _field(error: dict[str, Any]) -> dict[str, str]:
    """Return the field that an error is about, if it names one."""
    parameter = (error.get("data") or {}).get("parameter")
    return {} if parameter is None else {"field": parameter}
