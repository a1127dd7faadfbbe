"""The items of an import, parsed: memories and events as plain values."""

import hashlib
import json
import math
from contextlib import suppress
from datetime import datetime
from typing import Any, NamedTuple, TypeAlias
from uuid import UUID, uuid5

import msgspec

from actors.api.params.fields import MAX_BATCH
from actors.api.params.memories import StoreMemory
from actors.api.params.parsing import invalid, moment, parse
from actors.exporters.history import Carried
from actors.proxy.namespaces import MAX_NAME
from actors.runtime.faults import InvalidParamsFault
from actors.runtime.types import JsonObject
from events.vocabulary import ConsolidationStarted, MemoriesLinked, MemoriesMerged
from projections.graph.relations import LINK_TO

IMPORTED = UUID("7a5e3f0c-3d5b-5c51-9d0b-6c1f2f6f4a27")
"""The namespace of idempotency keys of imports (UUID version 5): a key is derived from all that the item says, its id
included, and known for ever (`projections.memories.requests`)."""
OWN_FIELDS = ("id", "links", "stored_at", "part_of", "former")
"""Fields of an imported memory besides those of `store_memory`."""


class ImportedMemory(StoreMemory, frozen=True, kw_only=True):
    """A memory as an export has it, in a namespace of any name that a store has taken."""

    names_namespace = False


class MemoryItem(NamedTuple):
    """An imported memory."""

    params: StoreMemory
    key: UUID
    id: UUID | None
    stored_at: datetime | None
    links: tuple[MemoriesLinked, ...] | None
    """Those that it was stored with; None where they are to be found."""
    part_of: UUID | None = None
    """The first section of its text."""
    former: tuple[UUID, ...] = ()
    """What its file held in its place before (`memory/former`)."""

    @property
    def memories_named(self) -> set[UUID]:
        """The memories that it names."""
        linked = {end for link in self.links or () for end in (link.source, *link.targets)}
        return (linked | {*self.params.link_to, *self.params.supersedes, *self.former}) - {self.id}


class EventItem(NamedTuple):
    """An imported event."""

    event: Carried
    key: UUID
    at: datetime | None
    id: UUID | None
    """Its id in the log that it was exported from."""

    @property
    def run(self) -> UUID | None:
        """The run that the event is part of; None if it is part of none."""
        return getattr(self.event, "run", None)


ImportItem: TypeAlias = MemoryItem | EventItem


def parse_item(item: Any) -> ImportItem:
    """Parse an item of an import (`InvalidParamsFault` if it is neither a memory nor an event that can be imported)."""
    if not isinstance(item, dict):
        raise InvalidParamsFault(f"A memory is an object, not {type(item).__name__}", parameter="items")
    if "event" in item:
        return _parse_event(item)
    params = parse({name: value for name, value in item.items() if name not in OWN_FIELDS}, ImportedMemory)
    own, origin = (_uuid(_text(item, name)) for name in ("id", "part_of"))
    links = None
    if item.get("links") is not None:
        links = _convert(item["links"], tuple[MemoriesLinked, ...], "links")
        for link in links:
            _check_link(link)
            if own is None or own not in {link.source, *link.targets}:
                raise invalid("links", "a link of a memory starts or ends at its id")
        targets = dict.fromkeys(
            target for link in links if link.source == own and link.relation == LINK_TO for target in link.targets
        )
        params = msgspec.structs.replace(params, link_to=tuple(targets))
    former = _convert(item.get("former") or (), tuple[UUID, ...], "former")
    return MemoryItem(params, item_key(item), own, _moment(item, "stored_at"), links, origin, former)


def _parse_event(item: JsonObject) -> EventItem:
    event = _convert(item["event"], Carried, "event")
    if isinstance(event, MemoriesLinked):
        _check_link(event)
    if isinstance(event, MemoriesMerged) and len(event.absorbed) != len(event.similarities):
        raise invalid("event", "as many similarities as absorbed memories")
    key = uuid5(IMPORTED, f"run {event.run}") if isinstance(event, ConsolidationStarted) else item_key(item)
    named = item.get("id")
    return EventItem(event, key, _moment(item, "at"), _uuid(named if isinstance(named, str) else None))


def _check_link(link: MemoriesLinked) -> None:
    if not (math.isfinite(link.weight) and 0 <= link.weight <= 1):
        raise invalid("weight", f"{link.weight} is not from 0 to 1")
    if not 0 < len(link.relation) <= MAX_NAME or not 0 < len(link.targets) <= MAX_BATCH:
        raise invalid("links", f"a relation of 1 to {MAX_NAME} characters and 1 to {MAX_BATCH} targets")


def _convert(value: Any, kind: Any, parameter: str) -> Any:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise invalid(parameter, str(error)) from None


def _moment(item: JsonObject, name: str) -> datetime | None:
    value = item.get(name)
    if value is not None and not isinstance(value, str):
        raise invalid(name, "not an ISO 8601 time")
    return None if value is None else moment(value, name)


def _text(item: JsonObject, name: str) -> str | None:
    value = item.get(name)
    if value is not None and not isinstance(value, str):
        raise invalid(name, "not a text")
    return value


def _uuid(named: str | None) -> UUID | None:
    """Return an id that is a UUID; another one only tells lines apart."""
    with suppress(TypeError, ValueError):
        return UUID(named)
    return None


def item_key(item: JsonObject) -> UUID:
    """Return the idempotency key of an import, derived from its id and all else that it says."""
    canonical = json.dumps(item, sort_keys=True, separators=(",", ":")).encode()
    return uuid5(IMPORTED, hashlib.sha256(canonical).hexdigest())
