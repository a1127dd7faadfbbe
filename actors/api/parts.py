"""How the parts of a score, what a run did, and times are shown to people; needs no models, for commands."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from events.spaces import E1, E2, E3, E4, E5, E6, E7, E8, E9, E10, E11, E12, E13
from events.wording import counted

SPACE_NAMES: Final = {
    E1: ("Meaning", "What the text is about"),
    E2: ("Recency", "How near in time it was said"),
    E3: ("Rhythm", "Same hour, weekday or season"),
    E4: ("Position", "Place within its session"),
    E5: ("Cause", "Cause and effect"),
    E6: ("Same words", "Words in common, rare ones first"),
    E7: ("Code", "Structure and identifiers of code"),
    E8: ("Context", "What it is connected with"),
    E9: ("Spelling", "Letters in common, also with typing errors"),
    E10: ("Kind", "Text, code or transcript"),
    E11: ("Names", "People, places, files, versions"),
    E12: ("Wording", "Word by word, in context"),
    E13: ("Related words", "Words that tend to go together"),
}
"""Name and explanation of each space."""

PARTS: Final = {key: name for key, (name, _) in SPACE_NAMES.items()} | {
    "context": "Neighbouring turns",
    "priming": "Recent attention",
    "renewal": "Latest version",
    "causes": "States the cause",
    "scope": "Shared project",
    "alignment": "North Star",
}
"""What a score consists of."""

_MADE: Final = {
    "clusters": "group",
    "patterns": "pattern",
    "causes": "cause",
    "clauses": "causal clause",
    "strengthened": "stronger link",
    "shortcuts": "shortcut",
    "replayed": "replayed memory",
    "goals_adjusted": "adjusted goal",
}


def did(counts: Mapping[str, int], *, pruned: str = "hidden") -> str:
    """Return what a run did, by the counts of `list_consolidations`; what it didn't is left out.

    `pruned` is what pruned memories are called.
    """
    changed = {"merged": "merged", "pruned": pruned, "moved": "moved"}
    words = [f"{counts[key]:,} {name}" for key, name in changed.items() if counts.get(key)]
    words += [counted(counts[key], noun) for key, noun in _MADE.items() if counts.get(key)]
    return ", ".join(words) or "changed nothing"


def minute(moment: str | None) -> str:
    """Return an instant in ISO 8601 to the minute, in the time zone of this machine; nothing for no instant."""
    return f"{datetime.fromisoformat(moment).astimezone():%Y-%m-%d %H:%M}" if moment else ""


def said_minute(created_at: str) -> str:
    """Return when a memory was said to the minute, as the clock showed it there."""
    return f"{datetime.fromisoformat(created_at):%Y-%m-%d %H:%M}"
