"""Find the stored statements that a new memory corrects, among its nearest neighbours."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from actors.text.statements.corrections import find_correction, read_statement
from actors.workspace.messages import UnjudgedMemory
from events.vocabulary import MemorySuperseded
from projections.memories.entries import Entry
from projections.projection import MemoryState


def superseded(
    memory: UnjudgedMemory, alike: Sequence[tuple[UUID, float]], entries: Mapping[UUID, Entry]
) -> tuple[MemorySuperseded, ...]:
    """Return what a new memory supersedes by its text: statements of the same speaker that still hold.

    Args:
        memory: The new memory.
        alike: Its neighbours, with their similarity in E1.
        entries: The catalog entries of these.
    """
    if not alike:
        return ()
    found: list[MemorySuperseded] = []
    later = read_statement(memory.new.content)
    for one, similarity in alike:
        entry = entries[one]
        body = entry.body
        if body is None or entry.state is not MemoryState.LIVE or entry.superseded_by is not None:
            continue
        if body.metadata.get("speaker") != memory.speaker:
            continue
        if correction := find_correction(read_statement(body.text), later, similarity):
            found.append(
                MemorySuperseded(
                    memory=one, by=memory.new.id, rule=correction.rule, was=correction.was, now=correction.now
                )
            )
    return tuple(found)
