"""The base class of all events."""

from typing import ClassVar

import msgspec


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """Something that happened."""

    sealed: ClassVar[bool] = False
    """Whether events of this kind are encrypted, each with its own key."""


class Shredded(Event, frozen=True, kw_only=True, tag="shredded.1"):
    """Takes the place of a sealed event whose key was destroyed; never written."""

    kind: str
