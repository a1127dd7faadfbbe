"""How the parts of a score, what a run did, and times are shown to people; needs no models, for commands."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from events.spaces import E1, E2, E3, E4, E5, E6, E7, E8, E9, E10, E11, E12, E13
from events.wording import counted

SPACE_NAMES: Final = {
    E1: ("Meaning", "What the text is about"),
    E2: ("Time", "How near to the time that is asked for, or else to now"),
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

BANDS: Final = {
    "Optimal": "on its subject",
    "Acceptable": "on its subject",
    "Warning": "partly on its subject",
    "Critical": "about another subject",
}
"""The alignment with the North Star, by the name of its band."""

MAX_REASONS: Final = 3
"""Parts that are named as reasons for a result."""
LEAST_REASON: Final = 0.1
"""Least contribution of a reason, as a share of the largest one to the result."""
STANDS_OUT: Final = 2 / 3
"""Least contribution of a space that is a reason, as a share of its largest one to any result.

Where a question asks why, E5 speaks for any memory. Of 53 unrelated results of 15 such questions it is the first reason
for 18, and for 46 without this bound; of 22 that tell a cause for 17, and for 21 without it.
"""


def reasons(results: Sequence[Mapping[str, float]]) -> list[list[str]]:
    """Return the parts that say why each result is found, the largest first; none of a result that no part raises.

    `results` are the contributions to the scores of the results of one search, by part. Where no space stands out among
    these results, that one is named which comes nearest to it.
    """
    largest = {key: max((parts.get(key, 0.0) for parts in results), default=0.0) for key in SPACE_NAMES}
    found: list[list[str]] = []
    for parts in results:
        least = LEAST_REASON * max(parts.values(), default=0.0)
        raising = sorted((key for key, value in parts.items() if value >= least > 0), key=lambda key: -parts[key])
        shares = {key: parts[key] / largest[key] if key in largest else 1.0 for key in raising}
        telling = [key for key in raising if shares[key] >= STANDS_OUT]
        found.append((telling or sorted(raising, key=lambda key: -shares[key])[:1])[:MAX_REASONS])
    return found


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


def run_summary(counts: Mapping[str, int], *, pruned: str = "hidden") -> str:
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
