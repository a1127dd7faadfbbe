"""Operations on namespaces: rename one, merge two, move memories."""

from typing import Annotated

from msgspec import Meta

from actors.api.confinement import check_served
from actors.api.context import Context
from actors.api.idempotency import key_conflict
from actors.api.params.fields import MemoryId, Name, Reason
from actors.api.params.parsing import Params, invalid
from actors.consolidator.messages import MoveMemories
from actors.proxy.namespaces import EVERYWHERE, problem_of
from actors.runtime.ask import LONG_TIMEOUT, ask
from actors.runtime.settings import MoveKind
from actors.runtime.types import JsonObject

MAX_IDS = 1_000
"""Memories that one request names; a session or a namespace has any number."""


class NamespaceMove(Params, frozen=True, kw_only=True):
    """Put memories into another namespace: all of one (rename, merge), or some (move)."""

    kind: MoveKind
    target: Name
    source: Name | None = None
    session: Name | None = None
    """With a source: only this conversation."""
    ids: Annotated[tuple[MemoryId, ...], Meta(max_length=MAX_IDS)] = ()
    dry_run: bool = False
    rationale: Reason | None = None


async def namespace_move(context: Context, params: NamespaceMove) -> JsonObject:
    """Move memories, and return the run that did, by which it can be undone."""
    _check(params)
    check_served(context, "source", params.source)
    check_served(context, "target", params.target)
    wanted = MoveMemories(
        run=context.correlation_id,
        kind=params.kind,
        source=params.source,
        target=params.target,
        session=params.session,
        memories=params.ids,
        dry_run=params.dry_run,
        rationale=params.rationale,
        actor=context.actor,
    )
    result = await ask(context.hub.consolidator, wanted, LONG_TIMEOUT)
    if any(one.target != params.target for one in result.moved):
        raise key_conflict()
    return {
        "run_id": str(result.run),
        "kind": params.kind.value,
        "dry_run": params.dry_run,
        "target": params.target,
        "moved_count": result.count,
        "moved_from": {one.source: len(one.memories) for one in result.moved},
    }


def _check(params: NamespaceMove) -> None:
    for name, value in (("source", params.source), ("target", params.target)):
        if value == EVERYWHERE:
            raise invalid(name, f"'{EVERYWHERE}' means all namespaces in a search, and names none")
    if problem := problem_of(params.target):
        raise invalid("target", problem)
    whole = params.kind is not MoveKind.MOVE
    if whole and (params.source is None or params.session is not None or params.ids):
        raise invalid("source", f"{params.kind.value} takes a source and a target, and neither session nor ids")
    by_session = params.source is not None and params.session is not None and not params.ids
    by_id = bool(params.ids) and params.source is None and params.session is None
    if not (whole or by_session or by_id):
        raise invalid("ids", "move takes either ids, or a source and a session")
