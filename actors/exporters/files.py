"""Writes exports: JSON lines, a folder of Markdown, Parquet. A file stands under its name only once it is whole."""

import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

import msgspec

from actors.exporters.forms import write_markdown, write_parquet
from actors.exporters.json_text import to_json
from actors.proxy.endpoint import Report
from actors.runtime.faults import InvalidParamsFault
from actors.runtime.types import JsonObject
from events.recovery.backup import new_store
from events.storage import replacement

SUPERSEDED_BY = "superseded_by"
"""Relation of a memory to the one that corrected it."""


class Export(msgspec.Struct, frozen=True):
    """What is exported, and from where."""

    call: Callable[..., JsonObject]
    """Calls `(method, report, /, **arguments)` of a store."""
    report: Report
    namespace: str | None
    """The namespace whose memories are exported; None for all."""
    moment: JsonObject
    """The argument `as_of`, if there is one."""


def write(wanted: Export, form: str, file: Path | None, *, replace: bool = False) -> JsonObject:
    """Write an export, and return its summary.

    `form` is `jsonl`, `memories`, `markdown` or `parquet`. Without a `file`, JSON lines go to standard output;
    `replace` lets an export take the place of a file.

    Raises:
        InvalidParamsFault: the target can't be standard output, exists already, or is a folder that isn't empty.
    """
    left_out: Counter[str] = Counter()
    if form == "markdown":
        with _whole_folder(file) as target:
            exported = write_markdown(target, list(memories(wanted)), _links(wanted))
    elif form == "parquet":
        if file is None:
            raise InvalidParamsFault("Parquet needs a file: name one", parameter="file")
        with _whole(file, replace=replace) as target:
            exported = write_parquet(target, memories(wanted, include_embeddings=True))
    else:
        lines = _history(wanted, left_out) if form == "jsonl" else memories(wanted)
        exported = 0
        with _text(file, replace=replace) as target:
            for line in lines:
                target.write(to_json(line, encoding=target.encoding) + "\n")
                exported += "content" in line
    return {"exported": exported, "file": str(file), "left_out": dict(left_out)}


def _history(wanted: Export, left_out: Counter[str]) -> Iterator[JsonObject]:
    scope = {} if wanted.namespace is None else {"namespace": wanted.namespace}
    page: JsonObject = {"next_after": 0}
    while "next_after" in page:
        wanted.report(page["next_after"], page.get("last"), "events exported")
        page = wanted.call("store/export", None, after=page["next_after"], **scope, **wanted.moment)
        left_out.update(page["left_out"])
        yield from page["lines"]


def memories(wanted: Export, *, include_embeddings: bool = False) -> Iterator[JsonObject]:
    """Yield the live memories, namespace by namespace."""
    counts = wanted.call("store/status", None, **wanted.moment)["namespaces"]
    named = wanted.namespace  # the store refuses one that it doesn't know
    chosen = dict(sorted(counts.items())) if named is None else {named: counts.get(named, 0)}
    done = 0
    more = {"include_embeddings": True} if include_embeddings else {}
    for name in chosen:
        page: JsonObject = {"next_after": None}
        while "next_after" in page:
            after = {} if page["next_after"] is None else {"after": page["next_after"]}
            page = wanted.call("memory/export", None, namespace=name, **after, **more, **wanted.moment)
            yield from page["memories"]
            done += len(page["memories"])
            wanted.report(done, sum(chosen.values()), "memories exported")


def _links(wanted: Export) -> Iterator[tuple[str, str, str]]:
    """Yield source, target and relation of each link: those that memories were stored with, and later ones.

    What corrected a memory, and still does, is a link of it too.
    """
    corrected: dict[str, str] = {}
    for line in _history(wanted, Counter()):
        event: JsonObject = line.get("event", {})
        for link in line.get("links", [event]):
            if "targets" in link:
                yield from ((link["source"], target, link["relation"]) for target in link["targets"])
        match event.get("type", "").partition(".")[0]:
            case "memory_superseded":
                corrected[event["memory"]] = event["by"]
            case "memory_reinstated":
                corrected.pop(event["memory"], None)
            case _:
                pass
    yield from ((earlier, later, SUPERSEDED_BY) for earlier, later in corrected.items())


@contextmanager
def _text(file: Path | None, *, replace: bool) -> Iterator[TextIO]:
    if file is None:
        yield sys.stdout
        return
    with _whole(file, replace=replace) as target, target.open("w", encoding="utf-8") as text:
        yield text


@contextmanager
def _whole(file: Path, *, replace: bool) -> Iterator[Path]:
    """Yield a path in a folder beside a file, which takes the file's place if the body succeeds."""
    _check_free(file, replace=replace)
    folder = replacement.partial_folder(file)
    replacement.remove_partial(file.parent)
    with replacement.building(folder):
        try:
            target = folder / file.name
            yield target
            _check_free(file, replace=replace)  # another export may have written it meanwhile
            target.replace(file)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _check_free(file: Path, *, replace: bool) -> None:
    if file.is_dir() or not file.parent.is_dir():
        problem = "is a folder" if file.is_dir() else "is in no folder that exists"
        raise InvalidParamsFault(f"{file} {problem}: name a file", parameter="file")
    if file.exists() and not (replace and file.is_file()):
        advice = "name another; with --replace the export takes its place" if file.is_file() else "it is no plain file"
        raise InvalidParamsFault(f"{file} exists already: {advice}", parameter="file")


@contextmanager
def _whole_folder(file: Path | None) -> Iterator[Path]:
    """Yield a folder that gets the name of `file` if the body succeeds; or `file` itself, an empty folder."""
    if file is None:
        raise InvalidParamsFault("Markdown needs a folder: name one", parameter="file")
    if file.exists() and (not file.is_dir() or any(file.iterdir())):
        raise InvalidParamsFault(f"{file} must be an empty folder, or none at all", parameter="file")
    if file.exists():
        yield file
        return
    with new_store(file) as target:
        yield target
