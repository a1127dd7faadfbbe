"""Operations on namespaces: rename one, merge two, move memories."""

from typing import Annotated

from msgspec import Meta

from actors.api.answers import pick
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

    def check(self) -> None:
        """Refuse names of no namespace, and what doesn't say which memories are meant."""
        super().check()
        for name in ("source", "target"):
            if getattr(self, name) == EVERYWHERE:
                raise invalid(name, f"'{EVERYWHERE}' means all namespaces in a search, and names none")
        if problem := problem_of(self.target):
            raise invalid("target", problem)
        given = (self.source is not None, self.session is not None, bool(self.ids))
        if self.kind is not MoveKind.MOVE and given != (True, False, False):
            raise invalid("source", f"{self.kind.value} takes a source and a target, and neither session nor ids")
        if self.kind is MoveKind.MOVE and given not in {(True, True, False), (False, False, True)}:
            raise invalid("ids", "move takes either ids, or a source and a session")


async def namespace_move(context: Context, params: NamespaceMove) -> JsonObject:
    """Move memories, and return the run that did, by which it can be undone."""
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
        **pick(params, "kind", "dry_run", "target"),
        "moved_count": result.count,
        "moved_from": {one.source: len(one.memories) for one in result.moved},
    }
