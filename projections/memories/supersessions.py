"""Which memory took the place of which: corrections and newer versions, by the earlier one."""

from collections.abc import Callable, Iterable
from uuid import UUID

from events.storage.log import Envelope
from events.vocabulary import MemoryReinstated, MemorySuperseded
from projections.memories.lifecycle import Lifecycle
from projections.projection import digest_of


class Supersessions:
    """The supersessions in force, resolved to the survivors of merged memories.

    They hold in any state of their memories; an argument says which memories count as present. So a correction that
    is forgotten gives the earlier memory its place back, and one that is restored takes it again.
    """

    _later: dict[UUID, dict[UUID, None]]
    """What superseded each memory, in order."""
    _reinstated: dict[UUID, None]
    """Memories that got their place back, and that nothing superseded since."""

    def __init__(self) -> None:
        self._later, self._reinstated = {}, {}
        self._before: dict[UUID, set[UUID]] = {}

    def after_load(self) -> None:
        """Derive what a snapshot leaves out."""
        for memory, later in self._later.items():
            for by in later:
                self._before.setdefault(by, set()).add(memory)

    def __bool__(self) -> bool:
        return bool(self._later or self._reinstated)

    def apply(self, envelope: Envelope) -> bool:
        """Fold the next event of the log; return whether it may have changed them."""
        match envelope.event:
            case MemorySuperseded(memory=memory, by=by):
                later = self._later.setdefault(memory, {})
                later.pop(by, None)  # named again, it is the latest
                later[by] = None
                self._before.setdefault(by, set()).add(memory)
                self._reinstated.pop(memory, None)
                return True
            case MemoryReinstated(memory=memory):
                self._reinstated[memory] = None
                for by in self._later.pop(memory, ()):
                    self._before[by].remove(memory)
                return True
            case _:
                return False

    def superseded(self) -> Iterable[UUID]:
        """Return the memories that something superseded."""
        return self._later.keys()

    def is_reinstated(self, memory: UUID) -> bool:
        """Return whether a memory got its place back from what superseded it."""
        return memory in self._reinstated

    def successor(self, memory: UUID, lifecycle: Lifecycle, is_present: Callable[[UUID], bool]) -> UUID | None:
        """Return the latest present memory that superseded this one, directly or over others; None without any.

        Memories that superseded each other in a circle all hold: an import, a merge, or requests at the same time can
        bring one about. The memory is a survivor, or not merged.
        """
        later = self._all_later(memory, lifecycle)
        if memory in later:
            later = [one for one in later if memory not in self._all_later(one, lifecycle)]
        return next(filter(is_present, reversed(later)), None)

    def _all_later(self, memory: UUID, lifecycle: Lifecycle) -> list[UUID]:
        """Return the survivors that superseded a memory, directly or over others, in the order of their discovery."""
        found: dict[UUID, None] = {}
        pending = [memory]
        for one in pending:  # grows meanwhile
            later = (by for each in (one, *lifecycle.absorbed(one)) for by in self._later.get(each, ()))
            new = [root for root in dict.fromkeys(map(lifecycle.root, later)) if root not in found]
            found |= dict.fromkeys(new)
            pending += new
        return list(found)

    def earlier(self, memory: UUID, lifecycle: Lifecycle) -> set[UUID]:
        """Return the memories that this one, or what it absorbed, superseded directly."""
        absorbed = (memory, *lifecycle.absorbed(memory))
        return {lifecycle.root(one) for each in absorbed for one in self._before.get(each, ())}

    def digest(self) -> bytes:
        """Return the SHA-256 of all supersessions, and of what was reinstated."""
        return digest_of({memory: list(later) for memory, later in self._later.items()}, self._reinstated)
