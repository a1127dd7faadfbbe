"""How the parts of a score, what a run did, and times are shown to people; needs no models, for commands."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from events.wording import counted

SPACE_NAMES: Final = {
    "e1_semantic": ("Meaning", "What the text is about"),
    "e2_temporal_recent": ("Recency", "How near in time it was said"),
    "e3_temporal_periodic": ("Rhythm", "Same hour, weekday or season"),
    "e4_temporal_positional": ("Position", "Place within its session"),
    "e5_causal": ("Cause", "Cause and effect"),
    "e6_sparse": ("Same words", "Words in common, rare ones first"),
    "e7_code": ("Code", "Structure and identifiers of code"),
    "e8_graph": ("Context", "What it is connected with"),
    "e9_hdc": ("Spelling", "Letters in common, also with typing errors"),
    "e10_multimodal": ("Kind", "Text, code or transcript"),
    "e11_entity": ("Names", "People, places, files, versions"),
    "e12_late_interaction": ("Wording", "Word by word, in context"),
    "e13_splade": ("Related words", "Words that tend to go together"),
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
