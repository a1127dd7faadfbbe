"""Find the stored statements that a new memory corrects, among its nearest neighbours."""

from collections.abc import Iterator

from actors.store.messages import Append
from actors.text.statements.corrections import find_correction
from actors.text.statements.statement import read_statement
from events.vocabulary import MemoryStored, MemorySuperseded
from events.vocabulary.codec import decompress
from projections.memories.catalog import Catalog


def find_superseded(message: Append, catalog: Catalog) -> Iterator[MemorySuperseded]:
    """Yield what a new memory supersedes by its text: statements of the same speaker that still hold."""
    stored = message.event
    if not isinstance(stored, MemoryStored):
        return
    later = read_statement(decompress(stored.content))
    for memory, similarity in message.alike:
        text, speaker = catalog.utterance(memory) or (None, None)
        if text is None or speaker != stored.metadata.get("speaker"):
            continue
        if found := find_correction(read_statement(text), later, similarity):
            yield MemorySuperseded(memory=memory, by=message.id, rule=found.rule, was=found.was, now=found.now)
