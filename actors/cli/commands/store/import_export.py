"""Commands that import the memories of other programs and stores, and export those of this one."""

from __future__ import annotations

import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from enum import StrEnum
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from actors.cli.commands.store.conversion import Ray, Workers
from actors.cli.options import AsOf, Data, Embedder, Models, Namespace, given_path, location_of
from actors.cli.program import Panel, app, exit_on_error, folder_command, show
from actors.cli.store_access import StoreLocation, open_store
from actors.importers import KNOWN
from actors.proxy.endpoint import Report, print_notice
from actors.proxy.namespaces import problem_of
from actors.proxy.project import find_root_project
from actors.proxy.serve_command import data_folder
from actors.runtime.faults import Fault
from actors.runtime.settings import ModelProfile
from actors.runtime.types import JsonObject

if TYPE_CHECKING:
    from uuid import UUID

    from actors.importers.recogniser import Source
    from actors.importers.records import Item

STANDARD = "-"


class ExportFormat(StrEnum):
    """What an export is written as."""

    JSONL = "jsonl"
    MEMORIES = "memories"
    MARKDOWN = "markdown"
    PARQUET = "parquet"


@folder_command(Panel.MAINTAIN, "transfer.imported", "import", succeeded=lambda answer: not answer["failed"])
def import_memories(
    folder: Path,
    report: Report,
    context: typer.Context,
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE…",
            help=f"Files and folders, as ~/.claude/projects: {KNOWN}, as export writes them; - is standard input with "
            "such lines.",
        ),
    ],
    namespace: Annotated[
        str | None, typer.Option("--namespace", "-n", help="For all memories, instead of the source's projects.")
    ] = None,
    embedder: Embedder = ModelProfile.EMBEDDED,
    models: Models = None,
    column: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The column of a table that holds the texts, if it isn't named content, text, memory, note, body, "
            "message or description.",
        ),
    ] = None,
    *,
    hub: Annotated[
        bool,
        typer.Option(
            "--hub/--no-hub",
            envvar="CONTEXT_GRAPH_HUB",
            help="Start the hub first, through which agents and other commands use the store meanwhile; not with "
            "--workers, --ray, --embedder or --models.",
        ),
    ] = True,
    workers: Workers = None,
    ray: Ray = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Report what would be imported; change nothing.")] = False,
    everything: Annotated[
        bool, typer.Option("--everything", help="Also tool calls, their results, thinking, side chains, quoted mail.")
    ] = False,
) -> JsonObject:
    """Store the memories of files and folders, each once however often it is imported; status 1 if any failed.

    What was edited in a file since its last import supersedes its former version; what was deleted stays.

    Secrets and passages between <private> and </private> are left out.
    """
    from actors.cli.importing import batches_of, import_batches, import_in_pool, so_far
    from actors.embedder.pool.worker import WorkerSettings
    from actors.importers.recogniser import recognise_all
    from actors.importers.records import FormatError, Options, project

    if sources.count(STANDARD) > 1:
        raise FormatError("standard input is named twice")
    if namespace and (problem := problem_of(namespace)):
        raise FormatError(f"the namespace {problem}")
    with ExitStack() as stack:
        paths = [stack.enter_context(_path(source)) for source in sources]
        # The namespace of a session's folder is recorded in the store, which a dry run leaves as it is.
        find_project = project if dry_run else partial(_project, folder)
        options = Options(namespace=namespace, everything=everything, column=column, project=find_project)
        found = recognise_all(paths, options)
        files: dict[str, list[str]] = {}
        result = _survey(found, files, report, validates=dry_run)
        if not dry_run:
            begin = partial(batches_of, found, files, result, report)
            try:
                if workers is None and ray is None:
                    import_batches(location_of(context, folder, embedder, models), begin, starts_hub=hub)
                else:
                    import_in_pool(folder, begin, WorkerSettings(embedder, models), workers, ray)
            except KeyboardInterrupt:
                print_notice(f"interrupted; {so_far(result)}")
                raise
    copies = {str(path) for path, source in zip(paths, sources, strict=True) if source == STANDARD}
    result["failed"] = [one | {"file": STANDARD} if one["file"] in copies else one for one in result["failed"]]
    result["failed"].sort(key=lambda failure: (failure["file"], failure["line"]))
    result["namespaces"] = dict(sorted(result["namespaces"].items()))
    return result | {"redacted": dict(result["redacted"]), "dry_run": dry_run}


@contextmanager
def _path(source: str) -> Iterator[Path]:
    """Yield the path of a source; standard input is copied to a file, since it is read twice."""
    from actors.importers.records import FormatError

    if not source:
        raise FormatError("name the file or folder to import: an empty name would be the current folder")
    if source != STANDARD:
        path = Path(source).expanduser()
        if not path.exists():
            raise FileNotFoundError(f"there is no file or folder {path} to import")
        yield path
        return
    with TemporaryDirectory() as folder:
        copy = Path(folder) / "standard-input.jsonl"
        with copy.open("wb") as target:
            shutil.copyfileobj(sys.stdin.buffer, target)
        try:
            yield copy
        except FormatError as error:
            problem = str(error).replace(str(copy), "standard input")
            if copy.stat().st_size:
                problem += "; standard input is read as JSON lines: give a file of another format by its name"
            raise FormatError(problem) from None


def _survey(source: Source, files: dict[str, list[str]], report: Report, *, validates: bool) -> JsonObject:
    """Read a whole source before anything is stored; with `validates`, find the items that a store would refuse.

    `files` receives the ids of the memories in each file that may be edited.
    """
    from actors.cli.importing import count, is_repeated
    from actors.importers.changes import file_of
    from actors.importers.records import Broken, Ignored, Skipped
    from actors.importers.screening import screened

    failed: list[JsonObject] = []
    ignored: list[JsonObject] = []
    skipped: Counter[str] = Counter()
    counts: JsonObject = {"namespaces": Counter(), "redacted": Counter(), "private": 0, "repeated": 0, "relations": 0}
    seen: set[UUID] = set()
    for number, record in enumerate(screened(source.read())):
        report(number, None, "reading")
        match record:
            case Broken():
                failed.append({"file": record.file, "line": record.line, "message": record.reason})
            case Ignored():
                ignored.append({"file": record.file, "line": record.line, "message": record.reason})
            case Skipped(reason=reason):
                skipped[reason] += 1
            case item if validates and (failure := _refused(item)):
                failed.append(failure)
            case item:
                if file := file_of(item):
                    files.setdefault(file, []).append(item.value["id"])
                if is_repeated(item, seen):
                    counts["repeated"] += 1
                    continue
                count(item, counts)
                counts["relations"] += isinstance(item.value, dict) and "event" in item.value
    return {
        "source": source.name,
        "files": len(source.files),
        "memories": counts["namespaces"].total(),
        **counts,
        "skipped": dict(skipped.most_common()),
        "unread": [{"file": str(file), "reason": reason} for file, reason in source.unread],
        "ignored": ignored,
        "failed": failed,
    }


def _refused(item: Item) -> JsonObject | None:
    """Return why a store would refuse an item, as the answer of an import has it; None if it takes it."""
    from actors.api.operations.ingest.import_items import parse_item
    from actors.cli.importing import failure_of

    try:
        parse_item(item.value)
    except Fault as fault:
        return failure_of(item, fault.message, fault.data)
    return None


def _project(store: Path, folder: str | None) -> str | None:
    """Return the namespace of sessions in a folder: that of its repository, as `serve` chooses it."""
    from actors.importers.records import project

    if not folder or not Path(folder).is_dir():
        return project(folder)
    store.mkdir(mode=0o700, parents=True, exist_ok=True)
    return find_root_project(Path(folder), store)


@app.command(rich_help_panel=Panel.MAINTAIN)
def export(
    file: Annotated[
        Path, typer.Argument(parser=given_path, help="Target file, for Markdown a folder; - is standard output.")
    ] = Path(STANDARD),
    data: Data = None,
    namespace: Namespace = None,
    as_of: AsOf = None,
    form: Annotated[
        ExportFormat | None,
        typer.Option(
            "--format",
            "-f",
            help="By default parquet for a file that is named so, else jsonl. jsonl: memories, links and history, to "
            "be imported again. memories: live memories alone, as JSON lines. markdown: a folder for Obsidian. "
            "parquet: live memories with embeddings.",
        ),
    ] = None,
    *,
    replace: Annotated[bool, typer.Option("--replace", help="Put the export in the place of a file.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print a summary as JSON, if there is a file.")] = False,
) -> None:
    """Write memories, in the order of storage: everything that happened to them, or the live ones."""
    from actors.cli.views.terminal import progress_bar
    from actors.cli.views.transfer import exported
    from actors.exporters.files import Export, write

    by_name = ExportFormat.PARQUET if file.suffix == f".{ExportFormat.PARQUET}" else ExportFormat.JSONL
    location = StoreLocation(data_folder(data), upgrades=False)
    with exit_on_error(), progress_bar(quiet=as_json) as report, open_store(location) as store:
        wanted = Export(store.call, report, namespace, {} if as_of is None else {"as_of": as_of})
        result = write(wanted, (form or by_name).value, None if str(file) == STANDARD else file, replace=replace)
    if str(file) != STANDARD:
        show(result, exported, as_json=as_json)
