"""Who or what caused an event, and why a run began, in words."""

from typing import Final

from projections.memories.requests import IMPORTER

_AUTHORS: Final = {
    "front": "an agent or a command",
    "http:ui": "a person, on a page",
    "http:nobody": "somebody without a key",
    IMPORTER: "an import",
    "workspace": "attention",
    "consolidator": "sleep, or the search for goals",
    "scheduler": "sleep, on schedule",
    "linker": "search for causes",
    "store": "the store",
    "log": "the store",
    "snapshot": "a repair, from the snapshot",
    "reembed": "a re-embedding",
}

TRIGGERS: Final = {
    "request": "on request",
    "schedule": "on schedule",
    "made up": "on schedule, late",
    "idle": "in a quiet moment",
    "stored": "after new memories",
}
"""Why a run began."""

_OAUTH: Final = "oauth:"


def author(actor: str) -> str:
    """Return who or what caused an event, by its name in the log; an unknown one as it is."""
    if actor in _AUTHORS:
        return _AUTHORS[actor]
    kind, _, name = actor.partition(":")
    if kind != "http":
        return actor
    return f"the account {name.removeprefix(_OAUTH)}" if name.startswith(_OAUTH) else f"the key {name}"
