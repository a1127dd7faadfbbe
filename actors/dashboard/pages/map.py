"""The map: all memories as points of a plane, near each other if they are about the same."""

import json

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from actors.dashboard.jobs import StoreMap
from actors.dashboard.page import chosen, link, moment, operate, render
from actors.dashboard.templating import STORED_ORDER
from actors.runtime.faults import InvalidParamsFault
from actors.runtime.types import JsonObject
from actors.text.plain_excerpts import plain_excerpt

COLOURS = {"namespace": "Project", "goal": "Goal", "age": "Age", "salience": "Salience: how much it matters now"}

MAX_TEXTS = 60
"""Points whose texts are sent at once."""
MAX_TEXT = 300
"""Characters of each."""


async def map_page(request: Request) -> Response:
    """Show the map, coloured by project where it has several, or else by goal."""
    namespace, colour = chosen(request, "namespace"), chosen(request, "colour")
    calendar = await operate(request, "store/calendar", sessions=0)
    colour = colour or ("namespace" if namespace is None and len(calendar["namespaces"]) > 1 else "goal")
    if colour not in COLOURS:
        raise InvalidParamsFault(f"Invalid 'colour': expected one of {', '.join(COLOURS)}", parameter="colour")
    return render(
        request,
        "map.html",
        colour=colour,
        colours=COLOURS,
        namespace=namespace,
        namespaces=calendar["namespaces"],
        total=calendar["total"] if namespace is None else calendar["namespaces"].get(namespace, 0),
        points=link(request, "/map/points", namespace=namespace),
        salience=link(request, "/map/points", namespace=namespace, colour=colour) if colour == "salience" else "",
        texts=link(request, "/map/texts"),
    )


async def points(request: Request) -> Response:
    """Return the points as binary columns; the legend and the token of the map are in the header `X-Map`.

    With salience they take seconds in a large store, so the page shows them without it before.
    """
    namespace, salience = chosen(request, "namespace"), chosen(request, "colour") == "salience"

    async def compute() -> JsonObject:
        return await operate(request, "store/map", namespace=namespace, salience=salience)

    key = (request.state.caller.name, namespace, moment(request), salience)
    found: StoreMap = await request.state.shared.maps.get(key, compute)
    legend = json.dumps({"token": found.token, "count": found.count} | found.legend)
    return Response(found.points, media_type="application/octet-stream", headers={"X-Map": legend})


async def texts(request: Request) -> Response:
    """Return the texts of some points of a map (`InvalidParamsFault` for no list of numbers, or too many)."""
    asked = (chosen(request, "n") or "").split(",")
    if not 0 < len(asked) <= MAX_TEXTS or not all(one.isascii() and one.isdecimal() and len(one) < 9 for one in asked):
        raise InvalidParamsFault(f"Invalid 'n': expected up to {MAX_TEXTS} numbers of points", parameter="n")
    ids = request.state.shared.maps.find(chosen(request, "map") or "", request.state.caller.name, [*map(int, asked)])
    found = {one["id"]: one for one in (await operate(request, "memory/list", ids=ids))["memories"]}
    answers = [
        {
            "n": int(number),
            "content": plain_excerpt(found[memory]["content"], MAX_TEXT).translate(STORED_ORDER),
            "created": found[memory]["createdAt"],
            "namespace": found[memory]["namespace"].translate(STORED_ORDER),
            "url": link(request, f"/memory/{memory}"),
        }
        for number, memory in zip(asked, ids, strict=True)
        if memory in found
    ]
    return JSONResponse(answers)
