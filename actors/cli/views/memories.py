"""Views of memories, search results and the state of a store."""

from rich.text import Text

from actors.api.parts import BANDS, MAX_REASONS, PARTS, minute, reasons, said_minute
from actors.cli.options import advise
from actors.cli.views.maintenance import backups_kept
from actors.cli.views.terminal import OUT, columns, in_line
from actors.exporters.json_text import to_json
from actors.runtime.settings import Confidence
from actors.runtime.types import JsonObject
from events.spaces import SPACES
from events.wording import counted

SLOWEST = 5
"""Operations whose latencies `status` shows: those with the highest p95."""
NOTHING_SPEAKS = "less like the question than other memories in all respects"


def stored(answer: JsonObject) -> None:
    OUT.print(f"stored [bold]{answer['fingerprintId']}[/] in {counted(answer['embedderCount'], 'space')}", markup=True)
    if "warning" in answer:
        kinds = ", ".join(dict.fromkeys(one["kind"] for one in answer["secrets"]))
        OUT.print(f"This holds what looks like a secret: {kinds}.", style="bold yellow")
        OUT.print(
            advise(f"Store it again with --redact, then: context-graph forget {answer['fingerprintId']} --hard"),
            style="yellow",
        )
    if "redacted" in answer:
        kinds = ", ".join(dict.fromkeys(one["kind"] for one in answer["redacted"]))
        OUT.print(f"left out: {kinds}", style="yellow")
    if duplicate := answer.get("duplicate_of"):
        OUT.print(f"the same content was stored before: {duplicate}", style="yellow")
    for memory in answer.get("supersedes", ()):
        OUT.print(f"supersedes {memory}", style="yellow")
    for one in answer.get("may_supersede", ()):
        change = f"{one['was']} → {one['now']}" if "was" in one and "now" in one else one["changed"]
        OUT.print(Text(f"supersedes {one['id']} ({change}): {one['content']}", "yellow"))
        OUT.print(advise(f"if that is wrong: context-graph restore {one['id']}"), style="dim")
    for one in answer.get("similar", ()):
        OUT.print(Text(f"similar: {one['content']}", "dim"))
        told = f"if that is out of date: context-graph supersede {one['id']} {answer['fingerprintId']}"
        OUT.print(advise(told), style="dim")


def superseded(answer: JsonObject) -> None:
    OUT.print(f"{answer['superseded_by']} holds in the place of {answer['fingerprintId']}", style="yellow")
    OUT.print(advise(f"to undo that: context-graph restore {answer['fingerprintId']}"), style="dim")


def found(answer: JsonObject, *, explain: bool) -> None:
    """Print search results: text, time, place and reasons; with `explain` also the similarity in each space."""
    if not answer["results"]:
        OUT.print("nothing found")
    elif answer.get("confidence") == Confidence.NOTHING:
        OUT.print("nothing of this clearly bears on the query", style="yellow")
    if read_as := answer.get("read_as"):
        OUT.print(Text(f"read as: {read_as}", "yellow"))
    told = reasons([hit["contributions"] for hit in answer["results"]])
    for rank, (hit, keys) in enumerate(zip(answer["results"], told, strict=True), 1):
        OUT.print_item(f"{rank}. ", hit["content"])
        if heading := hit.get("excerpt", {}).get("heading"):
            OUT.print_line(f"   under {heading}", style="dim")
        session = f", session {hit['session']}" if "session" in hit else ""
        speaker = f", said by {hit['speaker']}" if "speaker" in hit else ""
        OUT.print_line(f"   {said_minute(hit['createdAt'])} in {hit['namespace']}{session}{speaker}", style="dim")
        if later := hit.get("superseded_by"):
            OUT.print(f"   superseded by {later}", style="yellow")
        why = _in_words(hit, keys)
        OUT.print(f"   found by {why}" if why else f"   {NOTHING_SPEAKS}", style="green" if why else "dim")
        if explain:
            scores = (
                f"{key.partition('_')[0]} {'–' if score is None else f'{score:.2f}'}"
                for key, score in hit["embedderScores"].items()
            )
            OUT.print_item("   ", "  ".join(scores), "dim")
            top = ", ".join(f"{space['space']} {space['contribution']:+.2f}" for space in hit["topSpaces"])
            OUT.print(f"   top spaces: {top}", style="dim")
        OUT.print(f"   {hit['fingerprintId']}", style="dim")
    sure = f", relevance {answer['relevance']:.2f} of 1" if "relevance" in answer else ""
    OUT.print(f"{answer['count']} found in {answer['queryLatencyMs']:.0f} ms as {answer['profile']}{sure}", style="dim")


def _in_words(hit: JsonObject, keys: list[str]) -> str:
    """Return the reasons for a result in words; "" if nothing raises its score.

    With a single candidate all contributions are 0: the spaces are ranked by weighted similarity.
    """
    if not keys and min(hit["contributions"].values()) < 0:
        return ""
    named = [PARTS[key].lower() for key in keys or [one["space"] for one in hit["topSpaces"]]]
    *first, last = list(dict.fromkeys(named))[:MAX_REASONS]
    return f"{', '.join(first)} and {last}" if first else last


def compared(answer: JsonObject) -> None:
    OUT.print(
        f"[bold]{answer['overall_similarity']:.2f}[/] alike over all spaces, coherence {answer['coherence']:.2f}",
        markup=True,
    )
    for space, score in zip(SPACES, answer["per_embedder"], strict=True):
        shown = "   –" if score is None else f"{score:.2f}"
        OUT.print(f"  {shown}  {space.key}", style="bold" if space.key == answer["dominant_embedder"] else "")


def forgotten(answer: JsonObject) -> None:
    memory, is_soft = answer["fingerprintId"], answer["deleteType"] == "soft"
    what = "forgotten" if is_soft else "erased for good"
    OUT.print(f"{memory} {what}")
    for copy in answer.get("deletedWith", ()):
        OUT.print(f"{what} with it, since they were merged: {copy}")
    if is_soft:
        OUT.print(advise(f"to bring it back: context-graph restore {memory}"), style="dim")


def memory_restored(answer: JsonObject) -> None:
    """Print what was restored: a hidden memory, or the validity of one that was superseded."""
    memory = answer["fingerprintId"]
    if "was_superseded_by" in answer:
        OUT.print(f"{memory} is back: it holds again, and {answer['was_superseded_by']} supersedes it no more")
        for copy in answer.get("restoredWith", ()):
            OUT.print(f"so does its copy {copy}", style="dim")
    elif "superseded_by" in answer:
        OUT.print(f"{memory} is back; {answer['superseded_by']} still supersedes it: restore it again to end that")
    else:
        OUT.print(f"{memory} is back")


def memory(answer: JsonObject) -> None:
    OUT.print_item("", answer["content"], "bold")
    table = columns("", "", show_header=False)
    for name, value in _properties(answer).items():
        if value:
            table.add_row(Text(name, "dim"), Text(value if name in MANY_LINES else in_line(value)))
    OUT.print(table)


MANY_LINES = frozenset({"metadata", "why", "links"})
"""Properties that may have several lines, all in the second column."""


def _properties(answer: JsonObject) -> dict[str, str]:
    band = answer["alignmentBand"]
    last = f", last {minute(answer['lastAccessed'])}" if answer["lastAccessed"] else ""
    edges = [f"{'to' if edge['forward'] else 'from'} {edge['id']} ({edge['relation']})" for edge in answer["edges"]]
    metadata = (
        f"{name}: {value if isinstance(value, str) else to_json(value)}" for name, value in answer["metadata"].items()
    )
    return {
        "id": answer["id"],
        "state": answer["state"] + (f", because: {answer['reason']}" if answer["reason"] else ""),
        "created": said_minute(answer["createdAt"]),
        "stored": minute(answer["storedAt"]),
        "namespace": answer["namespace"],
        "session": f"{answer['session']}, turn {answer['position'] + 1}" if answer["session"] else "",
        "kind": answer["modality"],
        "importance": f"{answer['importance']:.2f}",
        "tags": ", ".join(answer["tags"]),
        "metadata": "\n".join(metadata),
        "why": answer["rationale"] or "",
        "recalled": f"{counted(answer['accessCount'], 'time')}{last}",
        "absorbed": ", ".join(answer["lineage"]),
        "superseded by": answer["superseded_by"] or "",
        "supersedes": ", ".join(answer["supersedes"]),
        "links": "\n".join(edges),
        "North Star": "" if band is None else f"{answer['thetaToNorthStar']:.2f}, {BANDS[band]}",
    }


def status(answer: JsonObject, *, latencies: bool = False) -> None:
    memories = answer["memories"]
    if answer["read_only"]:
        OUT.print(answer["read_only"], style="bold red")
    OUT.print(f"{counted(memories['live'], 'memory')}, {memories['forgotten']} forgotten, {memories['erased']} erased")
    if lost := memories["lost"]:
        OUT.print(f"{counted(lost, 'memory')} lost, because the store was damaged", style="bold yellow")
    OUT.print(f"in {answer['folder']}; log at event {answer['log']['position']}, {answer['log']['hash'][:16]}…")
    if answer["serves"] is not None:
        OUT.print_line(f"serves {', '.join(answer['serves'])} alone")
    if "server" in answer["log"]:
        lag = answer["log"]["lag"]
        why = f": {lag['reason']}" if lag["reason"] else ""
        OUT.print(f"on {answer['log']['server']}, known {lag['seconds']} s ago{why}")
    backups_kept(answer["backups"])
    if answer["spaces"]:
        table = columns(
            *("space", "model", "dimension", "calibrated", "sha256"),
            title=f"profile {answer['profile']}",
            title_justify="left",
        )
        for space in answer["spaces"]:
            calibrated = answer["calibration"].get(space["key"], "no")
            table.add_row(space["key"], space["model"], str(space["dimension"]), calibrated, space["sha256"][:12])
        OUT.print(table)
    runtime = answer["runtime"]
    times = ", ".join(f"{name} {ms:.1f} ms" for name, ms in runtime["measured_ms"].items())
    OUT.print(
        f"model runtime {runtime['name']} {runtime['version']}, {runtime['precision'] or 'no precision yet'}, "
        f"chosen by {runtime['chosen_by']}{f' ({times})' if times else ''}"
    )
    if measured := answer["latencies_ms"]:
        shown, title = measured, "latencies"
        if not latencies:
            shown = dict(sorted(measured.items(), key=lambda one: -one[1]["p95"])[:SLOWEST])
            title = f"slowest of {counted(len(measured), 'operation')}; --latencies shows all"
        table = columns("operation", "median ms", "p95 ms", "samples", title=title, title_justify="left")
        for name, latency in shown.items():
            table.add_row(name, f"{latency['median']:.2f}", f"{latency['p95']:.2f}", str(latency["count"]))
        OUT.print(table)
