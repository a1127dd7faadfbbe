"""Memories that were imported from files: what these no longer hold, and a former text that they hold again."""

from uuid import UUID

from actors.api.context import Context, append, wait_until_ready
from actors.api.params.parsing import Params
from actors.runtime.ask import ask
from actors.runtime.types import JsonObject
from actors.store.messages import FindImported, FindMemories
from events.vocabulary import MemoryReinstated, MemorySuperseded
from events.vocabulary.memories import STATED
from projections.memories.entries import IMPORTED_FROM, Entry, imported_file
from projections.projection import MemoryState


class MemoryFormer(Params, frozen=True, kw_only=True):
    """Arguments of `memory/former`."""

    files: dict[str, frozenset[UUID]]
    """The ids of the memories that each file holds now, by its name in `imported_from`."""


async def memory_former(context: Context, params: MemoryFormer) -> JsonObject:
    """Return the memories that were imported from files before, and that these don't hold any more (`former`).

    Those in namespaces that the hub doesn't serve are left out. Of such files, `settled` are the memories that they
    hold now and that are stored, unless a later one took their place: those may supersede nothing.
    """
    await wait_until_ready(context)
    present = await ask(context.hub.store, FindImported(files=tuple(params.files)))
    visible = context.visible
    former = [
        {
            "id": str(entry.id),
            "from": body.metadata[IMPORTED_FROM],
            "namespace": body.namespace,
            "content": body.text,
            "tags": list(body.tags),
        }
        for entry in present
        if (body := entry.body) is not None
        and entry.id not in params.files[str(imported_file(body.metadata))]
        and (visible is None or body.namespace in visible)
    ]
    changed = {one["from"].partition("/")[0] for one in former}
    here = tuple(id_ for file in changed for id_ in params.files[file])
    known = await ask(context.hub.store, FindMemories(memories=here)) if here else ()
    settled = [str(entry.id) for entry in known if entry is not None and not _is_superseded(entry)]
    return {"former": former, "settled": settled}


def _is_superseded(entry: Entry) -> bool:
    return entry.state is MemoryState.LIVE and entry.superseded_by is not None


async def reinstate(context: Context, entry: Entry, former: tuple[UUID, ...]) -> bool:
    """Let a memory whose text a file holds again supersede the former ones; False if none of them superseded it."""
    if not _is_superseded(entry) or entry.superseded_by not in former:
        return False
    superseded = (MemorySuperseded(memory=one, by=entry.id, rule=STATED) for one in former)
    await append(context, MemoryReinstated(memory=entry.id), *superseded)
    return True
