"""Operations on the schedule of sleep, and whether the store sleeps now."""

from typing import Annotated

import anyio.to_thread
from msgspec import Meta

from actors.api.answers import pick, rounded
from actors.api.context import Context
from actors.api.operations.mind.runs import skipped, summary
from actors.api.params.fields import Reading
from actors.api.params.parsing import Params, invalid
from actors.consolidator.messages import ReadDream
from actors.runtime.ask import ask
from actors.runtime.faults import StorageFault
from actors.runtime.types import JsonObject
from actors.scheduler.messages import ChangeSchedule, ReadSchedule
from events.storage.duckdb_log import DuckDBLog
from events.storage.log import LogError
from events.vocabulary.values import Mode

NEVER = "off"
"""Schedule of a mode that never starts by itself."""


class GetDreamStatus(Reading, frozen=True, kw_only=True):
    """Check whether it sleeps, how the last dream ended, when the next sleep starts."""


class ChangeSchedules(Params, frozen=True, kw_only=True):
    """Read or change when each mode of sleep starts: a crontab line, an interval like `90m`, or `off`."""

    light: str | None = None
    deep: str | None = None
    rem: str | None = None
    paused: bool | None = None
    pruning_permitted: bool | None = None
    backups: Annotated[int, Meta(ge=0, le=365)] | None = None
    """How many of those after deep sleep are kept; 0 for none."""
    anchor: Annotated[str, Meta(min_length=1, max_length=4_096)] | None = None
    """File or git:FOLDER for an anchor after deep sleep, or `off`."""


async def get_dream_status(context: Context, _params: GetDreamStatus) -> JsonObject:
    """Return whether the store sleeps now, how the last dream ended, and when it will sleep next."""
    state = await ask(context.hub.consolidator, ReadDream())
    last = state.last
    since = None if last is None or last.finished_at is None else (context.now() - last.finished_at).total_seconds()
    if state.mode is None:
        activity = "Awake"
    else:
        activity = state.phase.value.upper() if state.phase else state.mode.value.capitalize()
    return {
        "state": activity,
        "is_dreaming": state.phase is not None or state.dreams > 0,
        "running": None if state.running is None else summary(state.running, running=True),
        "completed_cycles": state.completed,
        "last_dream": None if last is None else summary(last),
        "time_since_last_dream_secs": None if since is None else round(since, 1),
        "abort_latency_ms": None if state.abort_milliseconds is None else rounded(state.abort_milliseconds),
        "scheduler": await _schedule(context),
    }


async def store_schedule(context: Context, params: ChangeSchedules) -> JsonObject:
    """Change when the store sleeps, and return how it stands."""
    whens = {Mode.LIGHT: params.light, Mode.DEEP: params.deep, Mode.REM: params.rem}
    wanted = {mode: None if when.lower() == NEVER else when for mode, when in whens.items() if when is not None}
    target = None if params.anchor is None or params.anchor.lower() == NEVER else params.anchor
    if params.anchor is not None:
        await _check_anchor(context, target)
    if params.backups and context.hub.shared is not None:
        raise invalid("backups", "a log on a server isn't copied after sleep; run context-graph backup, or dump it")
    change = ChangeSchedule(whens=wanted, paused=params.paused, permitted=params.pruning_permitted, actor=context.actor)
    await ask(context.hub.scheduler, change)
    backups, anchors = context.hub.backups, context.hub.anchors
    try:
        if params.backups is not None:
            await anyio.to_thread.run_sync(backups.keep, params.backups)
        if params.anchor is not None:
            await anyio.to_thread.run_sync(anchors.keep, target)
    except (LogError, OSError) as error:
        raise StorageFault(f"Storage failed: {error}") from error
    after_sleep = {
        "backups": await anyio.to_thread.run_sync(backups.state),
        "anchors": await anyio.to_thread.run_sync(anchors.state),
    }
    return await _schedule(context) | after_sleep


async def _check_anchor(context: Context, target: str | None) -> None:
    """Refuse a target to which no anchor can be signed and written, before any part of the schedule is changed."""
    if context.caller is not None:
        raise invalid("anchor", "not over HTTP; run `context-graph schedule --anchor` on the machine of the store")
    if target is None:
        return
    log = context.hub.log
    if not isinstance(log, DuckDBLog) or log.keys.chain is None:
        raise invalid("anchor", "an anchor is signed by the chain key of a log in a folder; this log has none")
    if "\0" in target:
        raise invalid("anchor", "no path contains a null character")
    try:
        await anyio.to_thread.run_sync(context.hub.anchors.check, target)
    except (LogError, OSError) as error:
        raise invalid("anchor", str(error)) from None


async def _schedule(context: Context) -> JsonObject:
    state = await ask(context.hub.scheduler, ReadSchedule())
    return {
        "paused": state.paused,
        "pruning_permitted": state.permitted,
        "idle_after_minutes": round(state.idle_after.total_seconds() / 60),
        "modes": {one.mode.value: pick(one, "when", "next", "last") for one in state.modes},
        "skipped": skipped(state.skips),
    }
