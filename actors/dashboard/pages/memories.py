"""One memory: its text, circumstances, life and relations; its tags; forgetting, restoring, erasing, correcting it."""

from base64 import b64decode

from starlette.requests import Request
from starlette.responses import Response

from actors.api.params.fields import MAX_QUERY
from actors.dashboard.graph_layout import place_neighbours
from actors.dashboard.page import back, chosen, entered, identifier, number, operate, redirect, render
from actors.dashboard.templating import closeness
from actors.runtime.faults import InvalidParamsFault, NotFoundFault
from actors.runtime.types import JsonObject

SIMILAR = 5
NEIGHBOURS = 60
IN_GRAPH = 30
EVENTS = 100


async def memory(request: Request) -> Response:
    """Show one memory in any state; of an erased one what the log still knows."""
    asked = identifier(request)
    life = await operate(request, "memory/history", memory_id=asked, limit=EVENTS, recalls=False)
    (own,) = (await operate(request, "memory/list", ids=[asked]))["memories"] or [None]
    if own is None:
        happened = {event["kind"] for event in life["events"]}
        lost = "event_lost" in happened and "memory_erased" not in happened
        return render(request, "erased.html", 410, id=asked, life=life["events"], lost=lost)
    found = await operate(request, "memory/retrieve", id=asked)
    live = own["state"] == "live"
    return render(
        request,
        "memory.html",
        memory=found,  # of a merged memory that of the one that stands for it
        own=own,
        versions=await _versions(request, found),
        pieces=_marked(own["content"], chosen(request, "from"), chosen(request, "to")),
        life=life["events"],
        more_life="next_before" in life or life.get("recalls_left_out", 0) > 0,
        edges=await _edges(request, asked) if live else [],
        most_edges=NEIGHBOURS,
        similar=await _similar(request, own) if live else [],
    )


async def image(request: Request) -> Response:
    """Return the file of the image that a memory shows (`NotFoundFault` without one)."""
    found = await operate(request, "memory/retrieve", id=identifier(request), include_image=True)
    if not found.get("image", {}).get("data"):
        raise NotFoundFault("This memory is no image")
    content = b64decode(found["image"]["data"].partition(",")[2])
    return Response(content, media_type=found["image"]["media_type"], headers={"cache-control": "no-store"})


async def graph(request: Request) -> Response:
    """Show what surrounds a memory."""
    depth = number(chosen(request, "depth"), "depth", 2, 1, 3)
    found = await operate(request, "graph/neighborhood", id=identifier(request), depth=depth, limit=IN_GRAPH)
    centre, neighbours = found["center"], found["neighbors"]
    return render(
        request,
        "graph.html",
        centre=centre,
        neighbours=neighbours,
        most=IN_GRAPH,
        texts={one["id"]: one["content"] for one in (centre, *neighbours)},
        depth=depth,
        picture=place_neighbours(centre, neighbours),
    )


async def forget(request: Request) -> Response:
    """Take a memory out of every search."""
    reason = entered(await request.form(), "reason")
    await operate(request, "memory/delete", id=identifier(request), reason=reason)
    return await back(request)


async def restore(request: Request) -> Response:
    """Bring a forgotten or pruned memory back."""
    await operate(request, "memory/restore", id=identifier(request))
    return await back(request)


async def erase(request: Request) -> Response:
    """Destroy a memory for good (`InvalidParamsFault` without the confirmation)."""
    form = await request.form()
    if form.get("confirm") != "yes":
        raise InvalidParamsFault("Nothing was erased: tick the box that says you understand", parameter="confirm")
    await operate(request, "memory/delete", id=identifier(request), soft=False, reason=entered(form, "reason"))
    return await back(request)


async def tag(request: Request) -> Response:
    """Replace the tags of a memory."""
    form = await request.form()
    typed = (one.strip().removeprefix("#") for one in str(form.get("tags") or "").splitlines())
    tags = [*map(str, form.getlist("tag")), *filter(None, typed)]
    await operate(request, "memory/tag", id=identifier(request), tags=tags)
    return await back(request)


async def supersede(request: Request) -> Response:
    """Store a correction of a memory, with its circumstances; that of an image is a text.

    Raises:
        InvalidParamsFault: The text is the same.
    """
    form = await request.form()
    asked = identifier(request)
    found = await operate(request, "memory/retrieve", id=asked)
    content = _with_line_feeds(str(form.get("content") or ""))
    if content == _with_line_feeds(found["content"]):
        raise InvalidParamsFault("Nothing was stored: the text is as it was", parameter="content")
    stored = await operate(
        request,
        "memory/store",
        content=content,
        supersedes=[asked],
        modality="text" if found["modality"] == "image" else found["modality"],
        rationale=entered(form, "reason") or "a correction by hand",
        **{name: found[name] for name in ("namespace", "tags", "importance", "memory_type", "metadata")},
    )
    return redirect(request, f"/memory/{stored['fingerprintId']}")


def _with_line_feeds(text: str) -> str:
    """Return a text with the line breaks that it was stored with: a browser sends each as CR LF."""
    return text.replace("\r\n", "\n")


async def _versions(request: Request, found: JsonObject) -> dict[str, str]:
    """Return the texts of what superseded a memory and of what it corrects; the id of one that is erased."""
    ids = [one for one in (found["superseded_by"], *found["supersedes"]) if one]
    listed = (await operate(request, "memory/list", ids=ids))["memories"] if ids else []
    return {one: one for one in ids} | {one["id"]: one["content"] for one in listed}


async def _edges(request: Request, memory_id: str) -> list[JsonObject]:
    found = await operate(request, "graph/neighborhood", id=memory_id, depth=1, limit=NEIGHBOURS)
    return sorted(found["neighbors"], key=lambda one: closeness(one["edge_type"]))


async def _similar(request: Request, own: JsonObject) -> list[JsonObject]:
    found = await operate(
        request, "search/graph", query=own["content"][:MAX_QUERY], namespace=own["namespace"], top_k=SIMILAR + 1
    )
    others = [one for one in found["results"] if one["fingerprintId"] != own["id"]]
    return sorted(others, key=lambda one: -one["similarity"])[:SIMILAR]


def _marked(text: str, start: str | None, end: str | None) -> tuple[str, str, str]:
    """Return the text before, in and after the passage between two positions; all of it before without them."""
    if start is None or end is None:
        return text, "", ""
    first = number(start, "from", 0, 0, len(text))
    last = number(end, "to", len(text), first, len(text))
    return text[:first], text[first:last], text[last:]
