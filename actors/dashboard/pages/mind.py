"""Goals and drift of a project; sleep: what each run merged and hid, why, taking it back, and the schedule."""

from functools import partial

from starlette.requests import Request
from starlette.responses import Response

from actors.api.answers import author
from actors.api.context import Context
from actors.api.params.fields import DEFAULT_NAMESPACE, MAX_BATCH
from actors.dashboard.charts import line_through
from actors.dashboard.comparisons import mark_differences
from actors.dashboard.page import (
    back,
    caller_of,
    chosen,
    entered,
    identifier,
    in_background,
    number,
    operate,
    render,
    sees_all,
)
from actors.runtime.types import JsonObject

CHART = (600, 120)
RUNS = 50
MOST = 1_000_000
ENDS = ("cause", "effect")


async def sleep(request: Request) -> Response:
    """Show the runs, of all modes or of one, and the schedule; runs that changed nothing only if that is chosen."""
    mode, offset = chosen(request, "mode"), number(chosen(request, "offset"), "offset", 0, 0, MOST)
    idle = chosen(request, "idle")
    found = await operate(
        request, "memory/consolidations", limit=RUNS + 1, offset=offset, mode=mode, changed=idle is None
    )
    state = await operate(request, "dream/status") if sees_all(request) else None
    return render(
        request,
        "sleep.html",
        runs=found["runs"][:RUNS],
        skipped=found["skipped"],
        mode=mode,
        idle=idle,
        later=None if offset == 0 else max(offset - RUNS, 0),
        earlier=offset + RUNS if len(found["runs"]) > RUNS else None,
        state=state,
    )


async def run(request: Request) -> Response:
    """Show one run: every merge with both texts, and every memory that it hid."""
    found = await operate(request, "memory/consolidations", run_id=identifier(request))
    (shown,) = found["runs"]
    return render(request, "run.html", run=await _with_texts(request, shown))


async def undo(request: Request) -> Response:
    """Take back a run, whole or for one memory."""
    memory = entered(await request.form(), "memory")
    await operate(request, "memory/undo_consolidation", run_id=identifier(request), memory_id=memory)
    return await back(request)


async def start(request: Request) -> Response:
    """Start a run, or a dry run."""
    form = await request.form()
    return in_background(
        request,
        "sleep",
        "memory/consolidate",
        partial(_with_texts, request),
        mode=entered(form, "mode") or "light",
        dry_run=form.get("dry_run") == "yes",
        rationale=f"asked for by {author(caller_of(request).actor)}",
    )


async def schedule(request: Request) -> Response:
    """Change what a form says otherwise than the schedule; the log holds nothing else."""
    form = await request.form()
    plan = (await operate(request, "dream/status"))["scheduler"]
    before: JsonObject = {mode: one["when"] or "off" for mode, one in plan["modes"].items()}
    before |= {name: plan[name] for name in ("paused", "pruning_permitted")}
    asked: JsonObject = {mode: entered(form, mode) or "off" for mode in plan["modes"]}
    asked |= {"paused": form.get("paused") == "yes", "pruning_permitted": form.get("pruning") == "yes"}
    changed: JsonObject = {name: value for name, value in asked.items() if value != before[name]}
    await operate(request, "store/schedule", None, **changed)
    return await back(request)


async def _with_texts(request: Request, found: JsonObject) -> JsonObject:
    """Add to each merge both texts with the difference marked, and their texts to causes and to hidden memories."""
    merges = [(merge["survivor"], one) for merge in found["merges"] for one in merge["absorbed"]]
    causes = found.get("causes", [])
    wanted = [memory for survivor, one in merges for memory in (survivor, one["id"])]
    wanted += [one["id"] for one in found["pruned"]]
    wanted += [one[end] for one in causes for end in ENDS]
    distinct = list(dict.fromkeys(wanted))
    contents: dict[str, str] = {}
    states: dict[str, str] = {}
    for first in range(0, len(distinct), MAX_BATCH):
        for one in (await operate(request, "memory/list", ids=distinct[first : first + MAX_BATCH]))["memories"]:
            contents[one["id"]], states[one["id"]] = one["content"], one["state"]
    pairs = [
        {
            "survivor": survivor,
            "absorbed": one["id"],
            "similarity": one["similarity"],
            "state": states.get(one["id"], "erased"),
            "texts": mark_differences(contents[survivor], contents[one["id"]])
            if {survivor, one["id"]} <= contents.keys()
            else None,
        }
        for survivor, one in merges
    ]
    pruned = [
        one | {"text": contents.get(one["id"]), "state": states.get(one["id"], "erased")} for one in found["pruned"]
    ]
    linked = [one | {"texts": [contents.get(one[end]) for end in ENDS]} for one in causes]
    return found | {"pairs": pairs, "pruned": pruned, "causes": linked}


async def goals(request: Request) -> Response:
    """Show the goals of a namespace, its North Star, and the drift away from it."""
    calendar = await operate(request, "store/calendar", sessions=0)
    namespace = chosen(request, "namespace") or next(iter(calendar["namespaces"]), _own(request))
    found = await operate(request, "goal/list", namespace=namespace)
    members = [member for goal in found["goals"] for member in goal["members"]][:100]
    listed = await operate(request, "memory/list", ids=members) if members else {"memories": []}
    history = found["drift"].get("history", [])
    return render(
        request,
        "goals.html",
        namespace=namespace,
        namespaces=calendar["namespaces"],
        goals=found["goals"],
        star=found["north_star"],
        drift=found["drift"],
        texts={one["id"]: one["content"] for one in listed["memories"]},
        chart=line_through([one["similarity"] for one in history], *CHART),
        chart_size=CHART,
        history=history,
    )


async def discover(request: Request) -> Response:
    """Look for goals."""
    form = await request.form()
    namespace = entered(form, "namespace") or _own(request)
    return in_background(request, "goals", "goal/discover", namespace=namespace, max_goals=20, min_confidence=0.0)


def _own(request: Request) -> str:
    """Return the caller's namespace, which may be empty yet."""
    context: Context = request.state.context
    return context.own_namespace or DEFAULT_NAMESPACE
