"""Commands that import and export memories as JSON lines."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import ExitStack, nullcontext
from functools import partial
from itertools import islice
from pathlib import Path
from typing import IO, Annotated, NamedTuple

import typer

from actors.cli.program import (
    LOCK_TIMEOUT,
    AsOf,
    Data,
    Embedder,
    Json,
    Models,
    Namespace,
    Panel,
    app,
    data_folder,
    exit_on_error,
    show,
)
from actors.runtime.settings import ModelProfile
from actors.runtime.types import JsonObject

BATCH = 100
"""Memories in one call of `memory/import`."""
MAX_FAILURES = 20
"""Bad lines that are printed for people; `--json` prints all."""
STANDARD = "-"


class _Line(NamedTuple):
    number: int
    """From 1."""
    item: object
    problem: str | None
    """Why it is not JSON."""


@app.command("import", rich_help_panel=Panel.MAINTAIN)
def import_memories(
    file: Annotated[
        str, typer.Argument(help="JSON lines, one memory each, as export writes them; - is standard input.")
    ],
    data: Data = None,
    embedder: Embedder = ModelProfile.EMBEDDED,
    models: Models = None,
    *,
    as_json: Json = False,
) -> None:
    """Store the memories of a file, each line once even if it is imported again; status 1 if any failed."""
    from actors.cli.store_access import open_store, store_location
    from actors.cli.views.memories import imported
    from actors.cli.views.terminal import progress_bar

    location = store_location(data_folder(data), embedder, models)
    result: JsonObject = {"stored": 0, "stored_before": 0, "failed": []}
    with exit_on_error(), ExitStack() as stack:
        source = sys.stdin if file == STANDARD else stack.enter_context(_open(Path(file)))
        total = _count_lines(source)
        report = stack.enter_context(progress_bar(quiet=as_json))
        store = stack.enter_context(open_store(location, creates=True, lock_timeout=LOCK_TIMEOUT))
        lines = _lines(source)
        while batch := list(islice(lines, BATCH)):
            valid = [line for line in batch if line.problem is None]
            result["failed"] += [{"line": line.number, "message": line.problem} for line in batch if line.problem]
            if valid:
                start = batch[0].number - 1

                def advance(done: float, _of: float | None, what: str, start: int = start) -> None:
                    report(start + done, total, what)

                answer = store.call("memory/import", advance, items=[line.item for line in valid])
                result["stored"] += answer["stored"]
                result["stored_before"] += answer["stored_before"]
                result["failed"] += [
                    {"line": line.number, "message": one["error"]["message"], **_field(one["error"])}
                    for line, one in zip(valid, answer["results"], strict=True)
                    if not one["success"]
                ]
    result["failed"].sort(key=lambda failure: failure["line"])
    show(result, partial(imported, max_failures=MAX_FAILURES), as_json=as_json)
    if result["failed"]:
        raise typer.Exit(1)


@app.command(rich_help_panel=Panel.MAINTAIN)
def export(
    file: Annotated[Path, typer.Argument(help="Target file; - is standard output.")] = Path(STANDARD),
    data: Data = None,
    namespace: Namespace = None,
    as_of: AsOf = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print a summary as JSON, if there is a file.")] = False,
) -> None:
    """Write all live memories as JSON lines, without embeddings, in the order of storage."""
    from actors.cli.store_access import open_store, store_location
    from actors.cli.views.memories import exported
    from actors.cli.views.terminal import progress_bar

    moment = {} if as_of is None else {"as_of": as_of}
    written = 0
    with exit_on_error(), ExitStack() as stack:
        report = stack.enter_context(progress_bar(quiet=as_json))
        store = stack.enter_context(open_store(store_location(data_folder(data)), lock_timeout=LOCK_TIMEOUT))
        counts = store.call("store/status", report, **moment)["namespaces"]
        wanted = {name: count for name, count in sorted(counts.items()) if namespace in (None, name)}
        target = stack.enter_context(
            nullcontext(sys.stdout) if str(file) == STANDARD else file.open("w", encoding="utf-8")
        )
        for name in wanted:
            page: JsonObject = {"next_after": None}
            while "next_after" in page:
                after = {} if page["next_after"] is None else {"after": page["next_after"]}
                page = store.call("memory/export", namespace=name, **after, **moment)
                target.writelines(json.dumps(memory, ensure_ascii=False) + "\n" for memory in page["memories"])
                written += len(page["memories"])
                report(written, sum(wanted.values()), "memories written")
    if str(file) != STANDARD:
        show({"exported": written, "file": str(file)}, exported, as_json=as_json)


def _open(file: Path) -> IO[str]:
    """Open a file. A byte that is not UTF-8 makes its line fail, and no other."""
    return file.open(encoding="utf-8-sig", errors="surrogateescape")


def _count_lines(source: IO[str]) -> int | None:
    """Return the number of lines, or None if the source cannot be read twice."""
    if not source.seekable():
        return None
    count = sum(1 for _ in source)
    source.seek(0)
    return count


def _lines(source: IO[str]) -> Iterator[_Line]:
    for number, text in enumerate(source, start=1):
        if not text.strip():
            continue
        try:
            item, problem = json.loads(text), None
        except (ValueError, RecursionError) as error:
            item, problem = None, f"not JSON: {error}"
        yield _Line(number, item, problem)


def _field(error: JsonObject) -> dict[str, str]:
    parameter = (error.get("data") or {}).get("parameter")
    return {} if parameter is None else {"field": parameter}
