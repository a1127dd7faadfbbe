"""Commands that store, find and forget memories."""

import sys
from datetime import datetime
from io import TextIOWrapper
from typing import Annotated

import typer

from actors.cli.options import HELP, AsOf, Memory, MemoryId, Namespace, Session, Tags, given_path
from actors.cli.program import Panel, operation_command
from actors.runtime.settings import Confidence, SearchProfile


def _text(content: str) -> str:
    """Return the text of an argument, or of standard input, of which at most `MAX_CONTENT + 1` characters are read."""
    try:
        if content == "-":
            from actors.api.params.fields import MAX_CONTENT

            return TextIOWrapper(sys.stdin.buffer, "utf-8-sig").read(MAX_CONTENT + 1)  # a longer one is refused
        content.encode()
    except (UnicodeDecodeError, UnicodeEncodeError) as error:
        raise typer.BadParameter(f"the text is not UTF-8: {error.reason}") from None
    return content


def _moment(named: str | None) -> str | None:
    """Return the beginning of a time in ISO 8601, named as in a search; a day is one of this machine's calendar."""
    if named is None:
        return None
    from actors.api.params.times import EXPECTED, find_period

    found = find_period(named.strip(), datetime.now().astimezone())
    if found is None:
        raise typer.BadParameter(f"'{named}' names no time {EXPECTED}")
    try:
        return (found.first if found.first.tzinfo else found.first.astimezone()).isoformat()
    except (ValueError, OverflowError):  # at the ends of the calendar
        return found.first.isoformat()


def _absolute(path: str | None) -> str | None:
    return path if path is None or path.startswith("data:") else str(given_path(path).absolute())


@operation_command(Panel.REMEMBER, "memory/store", "memories.stored", embeds=True, creates=True)
def store(
    content: Annotated[
        str, typer.Argument(callback=_text, help="The text to remember; - reads it from standard input.")
    ],
    namespace: Namespace = None,
    session: Session = None,
    tags: Tags = None,
    importance: Annotated[float, typer.Option(help="0 to 1; a number beyond counts as the nearer end.")] = 0.5,
    modality: Annotated[str, typer.Option(help="text, code, structured, mixed, audio (a transcript), image.")] = "text",
    image: Annotated[
        str | None,
        typer.Option(callback=_absolute, help="The file of an image (--modality image); the content is its caption."),
    ] = None,
    rationale: Annotated[str | None, typer.Option("--rationale", "-r", help="Why it is worth remembering.")] = None,
    created_at: Annotated[
        str | None,
        typer.Option(
            callback=_moment,
            metavar="TIME",
            help="When it was said, if not now: ISO 8601, or as 'yesterday', whose beginning is meant.",
        ),
    ] = None,
    link_to: Annotated[
        list[MemoryId] | None, typer.Option(parser=MemoryId, metavar="MEMORY", help="Id of a memory to link it to.")
    ] = None,
    supersedes: Annotated[
        list[MemoryId] | None,
        typer.Option(
            parser=MemoryId, metavar="MEMORY", help="Id of a memory that it corrects; `restore` of that id undoes it."
        ),
    ] = None,
    *,
    redact: Annotated[bool, typer.Option("--redact", help="Leave out what looks like a secret.")] = False,
) -> None:
    """Store a memory."""


@operation_command(Panel.REMEMBER, "search/graph", "memories.found", embeds=True, shown=["explain"], explain=True)
def search(
    query: Annotated[str, typer.Argument(help="A question or keywords.")],
    namespace: Namespace = None,
    session: Session = None,
    tags: Tags = None,
    top_k: Annotated[int, typer.Option("--top-k", "-k", help="1 to 100.")] = 5,
    profile: Annotated[
        SearchProfile,
        typer.Option(
            "--profile",
            "-p",
            metavar="KIND",
            help=f"Kind of question, which weighs the spaces: {', '.join(SearchProfile)}.",
        ),
    ] = SearchProfile.AUTO,
    min_confidence: Annotated[Confidence, typer.Option(help="Show nothing if the search is less sure.")] = (
        Confidence.NOTHING
    ),
    since: Annotated[
        str | None, typer.Option(metavar="TIME", help="Said then or later: ISO 8601, or as 'last week'.")
    ] = None,
    until: Annotated[str | None, typer.Option(metavar="TIME", help="Said then or earlier; its end counts.")] = None,
    speaker: Annotated[str | None, typer.Option(help="Said by this speaker.")] = None,
    as_of: AsOf = None,
    *,
    explain: Annotated[bool, typer.Option("--explain", help="Show the similarity in each space.")] = False,
    include_superseded: Annotated[
        bool, typer.Option("--superseded/--no-superseded", help="Whether to show what was corrected since.")
    ] = True,
) -> None:
    """Find memories, and see why each was found."""


@operation_command(Panel.REMEMBER, "memory/delete", "memories.forgotten")
def forget(
    id: Memory,
    *,
    soft: Annotated[  # the contrary of the option, as the operation takes it
        bool,
        typer.Option(
            "--hard", callback=lambda hard: not hard, help="Destroy its key, so that it can never be restored."
        ),
    ] = False,
    reason: Annotated[str | None, typer.Option(help="Why.")] = None,
) -> None:
    """Remove a memory from every search; `restore` reverts that."""


@operation_command(Panel.REMEMBER, "memory/supersede", "memories.superseded")
def supersede(
    id: Memory,
    by: Annotated[MemoryId, typer.Argument(parser=MemoryId, metavar="BY", help="The memory that holds in its place.")],
) -> None:
    """Say that a memory is out of date, and which one holds; `restore` reverts that."""


@operation_command(Panel.INSPECT, "store/status", "memories.status", reads=True, shown=["latencies"])
def status(
    as_of: AsOf = None,
    *,
    latencies: Annotated[bool, typer.Option("--latencies", help="Show how long each operation takes.")] = False,
) -> None:
    """Show how much the store holds, the models of its spaces, and what takes longest."""


@operation_command(Panel.INSPECT, "memory/retrieve", "memories.memory", reads=True)
def show(id: Memory, as_of: AsOf = None) -> None:
    """Show a memory with its state and links."""


@operation_command(Panel.INSPECT, "memory/compare", "memories.compared", reads=True, include_per_embedder=True)
def compare(
    memory_a: Annotated[MemoryId, typer.Argument(parser=MemoryId, metavar="ONE", help=HELP)],
    memory_b: Annotated[MemoryId, typer.Argument(parser=MemoryId, metavar="OTHER", help="Another one.")],
) -> None:
    """Show the similarity of two memories, space by space."""


@operation_command(Panel.INSPECT, "goal/discover", "mind.goals", hints=False)
def goals(namespace: Namespace = None) -> None:
    """Find what the memories are about; choose a North Star among the goals if there is none."""


@operation_command(Panel.INSPECT, "purpose/drift_check", "mind.drift", reads=True, hints=False)
def drift(namespace: Namespace = None) -> None:
    """Show how far the latest memories have drifted from the goals, and in which spaces."""


@operation_command(Panel.INSPECT, "consciousness/get_state", "mind.mind", reads=True)
def mind(namespace: Namespace = None) -> None:
    """Show the workspace, the agreement of the spaces, and the stage of the store's life."""
