"""Commands for memories: keep, find, look at, compare, forget and bring back."""

from __future__ import annotations

import sys
from typing import Annotated
from uuid import UUID

import typer

from actors.cli.program import AsOf, Data, Embedder, Json, Models, Namespace, Session, Tags, app, perform
from actors.runtime.settings import ModelProfile, SearchProfile


@app.command()
def store(
    content: Annotated[str, typer.Argument(help="The text to remember; - reads it from standard input.")],
    data: Data = None,
    namespace: Namespace = None,
    session: Session = None,
    tags: Tags = None,
    importance: Annotated[float, typer.Option(help="0 to 1.")] = 0.5,
    modality: Annotated[str, typer.Option(help="text, code, structured, mixed, audio (a transcript).")] = "text",
    rationale: Annotated[str | None, typer.Option("--rationale", "-r", help="Why it is worth keeping.")] = None,
    created_at: Annotated[str | None, typer.Option(help="ISO 8601, when it isn't now.")] = None,
    link_to: Annotated[list[str] | None, typer.Option(help="Id of a memory that it belongs with.")] = None,
    embedder: Embedder = ModelProfile.EMBEDDED,
    models: Models = None,
    *,
    as_json: Json = False,
) -> None:
    """Store one memory."""
    from actors.cli.views import memories as views

    perform(
        data,
        "memory/store",
        {
            "content": sys.stdin.read() if content == "-" else content,
            "namespace": namespace,
            "session": session,
            "tags": tags,
            "importance": importance,
            "modality": modality,
            "rationale": rationale,
            "created_at": created_at,
            "link_to": link_to,
        },
        views.stored,
        as_json=as_json,
        making=True,
        embedder=embedder,
        models=models,
    )


@app.command()
def search(
    query: Annotated[str, typer.Argument(help="A question or keywords.")],
    data: Data = None,
    namespace: Namespace = None,
    session: Session = None,
    tags: Tags = None,
    top_k: Annotated[int, typer.Option("--top-k", "-k", help="1 to 100.")] = 5,
    profile: Annotated[
        SearchProfile, typer.Option("--profile", "-p", help="What the question is about: it weighs the spaces.")
    ] = SearchProfile.AUTO,
    as_of: AsOf = None,
    embedder: Embedder = ModelProfile.EMBEDDED,
    models: Models = None,
    *,
    as_json: Json = False,
) -> None:
    """Find memories, and see which spaces found them."""
    from actors.cli.views import memories as views

    perform(
        data,
        "search/graph",
        {
            "query": query,
            "namespace": namespace,
            "session": session,
            "tags": tags,
            "top_k": top_k,
            "profile": profile.value,
            "explain": True,
            "as_of": as_of,
        },
        views.found,
        as_json=as_json,
        embedder=embedder,
        models=models,
    )


@app.command()
def compare(
    one: Annotated[UUID, typer.Argument(help="A memory's id.")],
    other: Annotated[UUID, typer.Argument(help="Another one's.")],
    data: Data = None,
    *,
    as_json: Json = False,
) -> None:
    """Tell how alike two memories are, space by space."""
    from actors.cli.views import memories as views

    arguments = {"memory_a": str(one), "memory_b": str(other), "include_per_embedder": True}
    perform(data, "memory/compare", arguments, views.alike, as_json=as_json)


@app.command()
def forget(
    memory: Annotated[UUID, typer.Argument(help="The memory's id.")],
    data: Data = None,
    *,
    hard: Annotated[bool, typer.Option("--hard", help="Destroy its key: nobody can bring it back.")] = False,
    reason: Annotated[str | None, typer.Option(help="Why.")] = None,
    as_json: Json = False,
) -> None:
    """Take a memory out of every search; `restore` brings it back."""
    from actors.cli.views import memories as views

    arguments = {"id": str(memory), "soft": not hard, "reason": reason}
    perform(data, "memory/delete", arguments, views.gone, as_json=as_json)
