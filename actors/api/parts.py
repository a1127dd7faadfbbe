"""What spaces and the other parts of a score are called where people read them; imports nothing, as commands need."""

from typing import Final

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
