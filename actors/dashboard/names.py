"""What the pages call things: spaces, parts of a score, relations, states and modes of sleep."""

from typing import Final

from events.spaces import SPACES

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

RELATIONS: Final = {
    "link_to": ("links to", "linked from"),
    "cluster": ("same topic as", "same topic as"),
    "causes": ("causes", "caused by"),
    "next": ("followed by", "follows"),
    "shortcut": ("leads to", "follows from"),
    "causal_shortcut": ("led to", "followed from"),
}
"""A relation forwards and backwards."""

RUNS: Final = {
    "light": "Light sleep",
    "deep": "Deep sleep",
    "rem": "REM sleep",
    "dream": "Dream",
    "link": "Search for causes",
}
"""What a run is called."""

MODES: Final = {
    "light": "Merges copies and hides what matters too little",
    "deep": "Also merges near copies and groups memories by topic",
    "rem": "Also looks for patterns, drift and causes",
    "dream": "Replays fading memories and strengthens links",
}

SHORT: Final = {space.key: space.key.partition("_")[0].upper() for space in SPACES}
"""E1 to E13."""


_NEAREST: Final = ("causes", "causal_shortcut", "link_to", "shortcut", "next", "cluster")
"""Relations in the order in which they are listed; others come before the last one."""


def closeness(name: str) -> int:
    """Return the place of a relation in a list."""
    return _NEAREST.index(name) if name in _NEAREST else len(_NEAREST) - 2


def relation(name: str, *, forward: bool) -> str:
    """Return a relation in words."""
    forwards, backwards = RELATIONS.get(name, (name.replace("_", " "), f"target of “{name}” from"))
    return forwards if forward else backwards
