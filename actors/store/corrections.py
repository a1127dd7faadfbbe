"""Find the stored statements that a new memory corrects, among its nearest neighbours."""

from collections.abc import Iterator

from actors.store.messages import Append
from actors.text.statements.utterances import find_spoken_correction
from events.vocabulary import MemoryStored, MemorySuperseded
from events.vocabulary.codec import decompress
from projections.memories.catalog import Catalog


def find_superseded(message: Append, catalog: Catalog) -> Iterator[MemorySuperseded]:
    """Yield what a new memory supersedes by its text: statements of the same speaker that still hold."""
    stored = message.event
    if not isinstance(stored, MemoryStored):
        return
    later, said_by = decompress(stored.content), stored.metadata.get("speaker")
    for memory, similarity in message.alike:
        earlier, speaker = catalog.utterance(memory) or (None, None)
        if earlier is None or speaker != said_by:
            continue
        if found := find_spoken_correction(earlier, later, speaker, similarity):
            yield MemorySuperseded(memory=memory, by=message.id, rule=found.rule, was=found.was, now=found.now)
