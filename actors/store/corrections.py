"""Find the stored statements that a new memory corrects, among its nearest neighbours."""

from collections.abc import Iterator

from actors.store.messages import Append
from actors.text.statements.corrections import find_correction, read_statement
from events.vocabulary import MemoryStored, MemorySuperseded
from events.vocabulary.codec import decompress
from projections.memories.catalog import Catalog
from projections.projection import MemoryState


def corrections(message: Append, catalog: Catalog) -> Iterator[MemorySuperseded]:
    """Yield what a new memory supersedes by its text: statements of the same speaker that still hold."""
    stored = message.event
    if not message.alike or not isinstance(stored, MemoryStored):
        return
    later = read_statement(decompress(stored.content))
    for memory, similarity in message.alike:
        entry = catalog.get(memory)
        body = entry.body
        if body is None or entry.state is not MemoryState.LIVE or entry.superseded_by is not None:
            continue
        if body.metadata.get("speaker") != stored.metadata.get("speaker"):
            continue
        if found := find_correction(read_statement(body.text), later, similarity):
            yield MemorySuperseded(memory=memory, by=message.id, rule=found.rule, was=found.was, now=found.now)
