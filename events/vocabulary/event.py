"""What all events are."""

from typing import ClassVar

import msgspec


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """Anything that happened."""

    sealed: ClassVar[bool] = False
    """A sealed event is encrypted with a key of its own, which a hard delete destroys."""


class Shredded(Event, frozen=True, kw_only=True, tag="shredded.1"):
    """Never written: what a reader gets in place of a sealed event whose key is gone."""

    kind: str
