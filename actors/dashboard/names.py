"""What the pages call relations, kinds of runs, and schedules."""

from typing import Final

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
    "move": "Move between namespaces",
}
"""Names of the modes of runs."""

MODES: Final = {
    "light": "Merges copies and hides what matters too little",
    "deep": "Also merges near copies and groups memories by topic",
    "rem": "Also looks for patterns, drift and causes",
    "dream": "Replays fading memories and strengthens links",
}

EVENTS: Final = {
    "stored": ("stored", {"memory_stored"}),
    "found": ("found in a search", {"memory_recalled"}),
    "changed": (
        "corrected, tagged or moved",
        {"memory_superseded", "memory_reinstated", "memory_tagged", "memories_moved", "memories_linked"},
    ),
    "gone": (
        "forgotten, erased or brought back",
        {"memory_forgotten", "memory_erased", "memory_restored", "derived_events_erased", "event_lost"},
    ),
    "sleep": (
        "sleep",
        {
            "consolidation_started",
            "consolidation_finished",
            "consolidation_skipped",
            "consolidation_undone",
            "memories_merged",
            "memories_pruned",
        },
    ),
    "requests": ("calls over HTTP, and refusals", {"requests_counted"}),
}
"""Kinds of events that the audit is filtered by: their name, and which they are."""

_DAYS: Final = {
    name: day
    for number, day in enumerate(("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"))
    for name in (str(number), day[:3].lower())
} | {"7": "Sunday"}

_NEAREST: Final = ("causes", "causal_shortcut", "link_to", "shortcut", "next", "cluster")
"""Relations in the order in which they are listed; others come before the last one."""


def when(schedule: str | None) -> str:
    """Return when a schedule begins runs in words; a crontab line of a rarer form as it is."""
    match (schedule or "off").split():
        case [minute, "*", "*", "*", "*"] if minute.isdecimal():
            return "every hour" if minute == "0" else f"every hour at {minute} minutes past"
        case [minute, hour, "*", "*", day] if minute.isdecimal() and hour.isdecimal() and (day == "*" or day in _DAYS):
            return f"{'every day' if day == '*' else f'{_DAYS[day]}s'} at {int(hour):02}:{int(minute):02}"
        case _:
            return schedule or "off"


def closeness(name: str) -> int:
    """Return the place of a relation in a list."""
    return _NEAREST.index(name) if name in _NEAREST else len(_NEAREST) - 2


def relation(name: str, *, forward: bool) -> str:
    """Return a relation in words."""
    forwards, backwards = RELATIONS.get(name, (name.replace("_", " "), f"target of “{name}” from"))
    return forwards if forward else backwards
