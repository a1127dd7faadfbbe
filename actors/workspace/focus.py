"""What the workspace turns to, one thing after the other."""

from __future__ import annotations

from uuid import UUID

import msgspec

from actors.comparator.messages import Resonate
from actors.runtime.faults import UNWRITTEN, StorageFault
from actors.runtime.reply import Reply
from actors.workspace.messages import Ask, Attention, Broadcast, ReadAttention, SetCoupling
from events.spaces import SEMANTIC

LOOKED_AT = 8
"""Memories that a focus looks at beside those in the workspace."""

MEANING = frozenset(SEMANTIC)
"""The spaces to which a memory speaks. Time has no say: what is said again on another day would never ignite, as three
spaces that can't agree keep r below .8 however well the other ten do."""


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """What the workspace will turn to: a focus, the last one again with another coupling, or just a reader."""

    focus: Resonate | None = None
    force: bool = False
    coupling: float | None = None
    reply: Reply[Attention] | None = None
    """Of whoever waits for it. A focus that nobody waits for gives way to a later one."""

    def answer(self, attention: Attention) -> None:
        """Tell whoever waits."""
        if self.reply is not None:
            self.reply.set(attention)

    def refuse(self) -> None:
        """Tell whoever waits that it can't be written."""
        if self.reply is not None:
            fault = StorageFault(UNWRITTEN)
            self.reply.set_exception((StorageFault, fault, None))

    def fail(self) -> None:
        """Tell whoever waits of the exception that is being handled."""
        if self.reply is not None:
            self.reply.set_exception()


def question(asked: Ask) -> Turn:
    """Turn to a question, and the best of its answer."""
    return Turn(
        focus=Resonate(
            focus=asked.embeddings,
            text=asked.text,
            keys=asked.keys,
            namespace=asked.namespace,
            memories=asked.found[:LOOKED_AT],
        )
    )


def beside(memory: UUID, namespace: str, near: tuple[UUID, ...]) -> Turn:
    """Turn to a memory that was stored, and those that were near it."""
    return Turn(focus=Resonate(focus=memory, keys=MEANING, namespace=namespace, memories=near))


def commanded(command: Broadcast | SetCoupling | ReadAttention, reply: Reply[Attention]) -> Turn:
    """Turn to what somebody asks for, and waits for."""
    match command:
        case ReadAttention():
            return Turn(reply=reply)
        case SetCoupling(coupling=coupling):
            return Turn(coupling=coupling, reply=reply)
        case Broadcast(memory=memory, namespace=namespace, force=force):
            wanted = Resonate(focus=memory, keys=MEANING, namespace=namespace, memories=(memory,), nearest=LOOKED_AT)
            return Turn(focus=wanted, force=force, reply=reply)
