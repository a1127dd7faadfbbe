"""The tags of memories whose tags were edited."""

from uuid import UUID

from events.vocabulary import MemoryTagged
from projections.projection import digest_of


class EditedTags:
    """Tags by memory; one whose tags were never edited takes no space."""

    _tags: dict[UUID, tuple[str, ...]]
    _edits: dict[UUID, tuple[int, ...]]

    def __init__(self) -> None:
        self._tags = {}
        self._edits = {}
        """Sequence numbers of the events, which are erased with the memory."""

    def edit(self, event: MemoryTagged, seq: int) -> None:
        """Apply an edit."""
        self._tags[event.memory] = event.tags
        self._edits[event.memory] = (*self._edits.get(event.memory, ()), seq)

    def erase(self, memory: UUID) -> frozenset[int]:
        """Delete what is known of a memory; return the sequence numbers of its edits."""
        self._tags.pop(memory, None)
        return frozenset(self._edits.pop(memory, ()))

    def of(self, memory: UUID, stored_with: tuple[str, ...]) -> tuple[str, ...]:
        """Return the tags of a memory, given those of its `MemoryStored`."""
        return self._tags.get(memory, stored_with)

    def __contains__(self, memory: UUID) -> bool:
        return memory in self._tags

    def digest(self) -> bytes:
        """Return the SHA-256 of all edits by memory."""
        return digest_of(self._tags, self._edits)
