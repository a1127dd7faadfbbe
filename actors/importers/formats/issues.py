"""Issues of GitHub, and of Beads, the tracker that coding agents keep in a repository (`.beads/issues.jsonl`).

An issue or pull request is a memory, and so is each comment on it and each review with a text; those of an issue are a
session. The fields of GitHub are those of `gh issue list --json …`, `gh pr view --json …`, GraphQL, or of the REST API,
which may list comments apart (https://cli.github.com/manual/gh_issue_list, https://docs.github.com/rest/issues). The
fields of Beads are those of https://github.com/steveyegge/beads. What an issue of Beads depends on is linked to it.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple
from uuid import UUID

import msgspec

from actors.importers.files import document, lines
from actors.importers.records import (
    Broken,
    Item,
    Options,
    Record,
    Skipped,
    first_text,
    link,
    memory,
    moment,
    origin,
    present,
    texts,
)
from actors.runtime.types import JsonObject

GITHUB: Final = "issues of GitHub"
SECTIONS: Final = ("description", "design", "acceptance_criteria", "notes", "close_reason")
"""Sections of an issue of Beads, in their order; the first has no heading."""

_ADDRESS = re.compile(
    r"https?://[^/]+/(?:api/v3/)?(?:repos/)?(?P<repository>[^/]+/(?P<name>[^/]+))/(?:issues|pulls?)/(?P<number>\d+)"
)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
"""What a template tells the author."""
_json = msgspec.json.Decoder()
_object = msgspec.json.Decoder(JsonObject)


class _Told(NamedTuple):
    """What somebody wrote in an issue."""

    kind: str
    text: str
    own: str
    """Address or id; empty without one."""
    author: object
    created: object
    tags: list[str] = []
    stated: dict[str, str | None] = {}


def is_github(value: object) -> bool:
    """Tell whether a JSON document is an issue, a list of issues, or a list of comments on issues."""
    return has_github(_objects(_all(value)))


def has_github(first: list[JsonObject]) -> bool:
    """Tell whether one of some objects is an issue of GitHub, or a comment on one."""
    return any(_is_issue(one) or _is_comment(one) for one in first)


def has_beads(first: list[JsonObject]) -> bool:
    """Tell whether one of some objects is an issue of Beads."""
    return any({"id", "title", "status", "issue_type"} <= one.keys() for one in first)


def read_github(file: Path, options: Options) -> Iterator[Record]:
    """Yield the issues of a document, each followed by its comments."""
    value = document(file, _json)
    if isinstance(value, Broken):
        yield value
        return
    for number, one in enumerate(_all(value), start=1):
        yield from _github(one, f"entry {number}", file, 0, options)


def read_github_lines(file: Path, options: Options) -> Iterator[Record]:
    """Yield the issues of JSON lines, each followed by its comments."""
    for line, issue in lines(file, _object):
        yield from [issue] if isinstance(issue, Broken) else _github(issue, "the line", file, line, options)


def read_beads(file: Path, options: Options) -> Iterator[Record]:
    """Yield the issues of Beads, each followed by its comments; links last, since an issue may follow those on it."""
    ids: dict[str, UUID] = {}
    links: list[tuple[str, str, str, int]] = []
    folder = file.resolve().parent
    namespace = options.namespace_of(str(folder.parent) if folder.name == ".beads" else None)
    for line, issue in lines(file, _object):
        if isinstance(issue, Broken):
            yield issue
            continue
        if not (own := first_text(issue.get("id"))) or not has_beads([issue]):
            yield Broken(str(file), line, "no issue with 'id', 'title', 'status' and 'issue_type'")
            continue
        for told in _beads(own, issue):
            for record in _memories("beads", own, told, file, line, namespace):
                if told.kind == "issue" and isinstance(record, Item):
                    ids.setdefault(own, UUID(record.value["id"]))
                yield record
        links += (
            (own, first_text(one.get("depends_on_id")), first_text(one.get("type"), "depends on"), line)
            for one in _objects(issue.get("dependencies"))
        )
    for own, other, relation, line in links:
        if own in ids and other in ids:
            yield link(ids[own], ids[other], relation, file, line)


def _beads(own: str, issue: JsonObject) -> Iterator[_Told]:
    kind, state, title = (first_text(issue[name]) for name in ("issue_type", "status", "title"))
    heading = f"{kind.capitalize()} {own}: {title} ({state.replace('_', ' ')})"
    body = (_section(name, text) for name in SECTIONS if (text := first_text(issue.get(name))))
    tags = [kind, *texts(_listed(issue.get("labels")))]
    stated = {"title": title, "state": state, "closed": moment(issue.get("closed_at"))}
    yield _Told(
        "issue", "\n\n".join([heading, *body]), own, issue.get("created_by"), issue.get("created_at"), tags, stated
    )
    for one in _objects(issue.get("comments")):
        id_ = str(one.get("id") or "")
        yield _Told("comment", first_text(one.get("text")), id_, one.get("author"), one.get("created_at"))


def _section(name: str, text: str) -> str:
    return text if name == SECTIONS[0] else f"{name.replace('_', ' ').capitalize()}: {text}"


def _all(value: object) -> list[object]:
    """Return the entries of a document; pages that `gh api --paginate --slurp` joined are lists of their own."""
    entries = value if isinstance(value, list) else [value]
    return [one for entry in entries for one in (entry if isinstance(entry, list) else [entry])]


def _listed(value: object) -> list[object]:
    """Return a list, which GraphQL wraps; none for the mere count of comments that the REST API gives."""
    nodes = value.get("nodes") if isinstance(value, dict) else value
    return nodes if isinstance(nodes, list) else []


def _objects(value: object) -> list[JsonObject]:
    return [one for one in _listed(value) if isinstance(one, dict)]


def _is_issue(one: JsonObject) -> bool:
    told = not one.keys().isdisjoint(("body", "url", "html_url")) and "content" not in one
    return told and isinstance(one.get("number"), int) and isinstance(one.get("title"), str)


def _is_comment(one: JsonObject) -> bool:
    return isinstance(one.get("issue_url"), str) and "body" in one


def _github(one: object, place: str, file: Path, line: int, options: Options) -> Iterator[Record]:
    if not isinstance(one, dict) or not (_is_issue(one) or _is_comment(one)):
        yield Broken(str(file), line, f"{place} is no issue with 'number', 'title' and 'body', and no comment on one")
        return
    is_issue = _is_issue(one)
    url = first_text(one.get("html_url"), one.get("url")) if is_issue else one["issue_url"]
    address = _ADDRESS.match(url)
    session = f"{address['repository']}#{address['number']}" if address else f"#{one['number']}" if is_issue else url
    namespace = options.namespace_of(address["name"] if address else None)
    told = [_issue(one, url)] if is_issue else [_said("comment", one)]
    for kind in ("comment", "review") if is_issue else ():
        told += (_said(kind, said) for said in _objects(one.get(f"{kind}s")))
    for each in told:
        yield from _memories("github", session, each, file, line, namespace)


def _issue(issue: JsonObject, url: str) -> _Told:
    pull = issue.get("pull_request")
    is_pull = "/pull/" in url or pull is not None or "headRefName" in issue
    merged = issue.get("mergedAt") or (isinstance(pull, dict) and pull.get("merged_at"))
    state = "merged" if merged else first_text(issue.get("state")).lower()
    heading = f"{'Pull request' if is_pull else 'Issue'} #{issue['number']}: {issue['title']}"
    body = _COMMENT.sub("", first_text(issue.get("body"))).strip()
    return _Told(
        "pull_request" if is_pull else "issue",
        "\n\n".join(texts([f"{heading} ({state})" if state else heading, body])),
        url or str(issue["number"]),
        issue.get("author") or issue.get("user"),
        issue.get("createdAt") or issue.get("created_at"),
        [_name(label) for label in _listed(issue.get("labels"))],
        {"title": issue["title"], "state": state, "closed": moment(issue.get("closedAt") or issue.get("closed_at"))},
    )


def _said(kind: str, one: JsonObject) -> _Told:
    return _Told(
        kind,
        _COMMENT.sub("", first_text(one.get("body"))).strip(),
        first_text(one.get("html_url"), one.get("url"), one.get("id")) or str(one.get("id") or ""),
        one.get("author") or one.get("user"),
        one.get("createdAt") or one.get("created_at") or one.get("submittedAt"),
    )


def _memories(source: str, session: str, told: _Told, file: Path, line: int, namespace: str | None) -> Iterator[Record]:
    """Yield the memory of what was told.

    Its id holds the text: what was edited since, and an issue that was closed, is another memory. It takes the place of
    the former one if both are read from one file.
    """
    if not told.text:
        yield Skipped(f"{told.kind}s without text")
        return
    # A number is one of a file alone; an address says which.
    place = (source, "" if "/" in session else origin(file), session, told.kind, told.own)
    speaker, url = _name(told.author), told.own if "/" in told.own else None
    yield from memory(
        (*place, told.text),
        told.text,
        file,
        line,
        namespace=namespace,
        session=session,
        created_at=moment(told.created),
        tags=told.tags,
        memory_type=told.kind,
        metadata={"source": source} | present(speaker=speaker, url=url, **told.stated),
        origin=origin(file, *place) if told.own else None,
    )


def _name(of: object) -> str:
    """Return the name of a person or a label; "" of an account that is gone."""
    return first_text(of.get("login"), of.get("name")) if isinstance(of, dict) else first_text(of)
