"""What spaces, other parts of a score, and authors of events are called where people read them."""

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


def author(actor: str) -> str:
    """Return who or what caused an event, by its name in the log; an unknown one as it is."""
    if actor in _AUTHORS:
        return _AUTHORS[actor]
    kind, _, name = actor.partition(":")
    if kind != "http":
        return actor
    return f"the account {name.removeprefix(_OAUTH)}" if name.startswith(_OAUTH) else f"the key {name}"
