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


class EventLost(Event, frozen=True, kw_only=True, tag="event_lost.1"):
    """Takes the place of an event that was damaged on the disk, under its id and sequence number."""

    kind: str
    """The tag of that event; `unknown` if it can't be read either."""
    why: str
    """What is damaged, in words."""
