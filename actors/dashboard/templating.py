"""The templates of the pages, and what they call relations, runs, times and sentences of the audit."""

import re
from collections.abc import Callable
from typing import Final

import jinja2
from markupsafe import Markup, escape

from actors.api.answers import TRIGGERS
from actors.api.operations.administration.history import moment_in_words
from actors.api.parts import BANDS, PARTS, SPACE_NAMES, minute, run_summary, said_minute
from actors.text.plain_excerpts import plain_excerpt
from events.spaces import SPACES
from events.wording import counted

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
    "deep": "Also merges near copies, groups memories by topic and looks for causes",
    "rem": "Also looks for patterns and drift",
}
"""Modes of the runs that a person may start, and what they do."""

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
STORED_ORDER: Final = dict.fromkeys((*range(0x202A, 0x202F), *range(0x2066, 0x206A)), "\N{REPLACEMENT CHARACTER}")
"""Visible signs for what lets a text read otherwise than it is stored, as a file name whose end is in its middle."""
_KEPT: Final = re.compile("(<textarea[^>]*>[^<]*</textarea>|<[^>]*>)")
"""What of a page may hold such characters: attributes, and text to edit."""
_IDS: Final = re.compile(
    r"""(goal (?:(?:"|&#34;).{0,400}?(?:"|&#34;) \()?|run )?\b([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\b"""
)
"""An id in a sentence, escaped or not, and what comes before that of a goal, perhaps with its words, or of a run."""


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


def in_stored_order(page: str) -> str:
    """Return a page whose texts read in the order in which they are stored."""
    parts = _KEPT.split(page)
    parts[::2] = [text.translate(STORED_ORDER) for text in parts[::2]]
    return "".join(parts)


def _signed(value: float) -> str:
    return f"{value:+.2f}".replace("-", "−")


def _spoken(what: str, address: Callable[[str], str]) -> Markup:
    """Return a sentence of the audit with each id shortened, and that of a memory or a run as a link."""

    def shortened(found: re.Match[str]) -> str:
        before, uuid = found.group(1) or "", found.group(2)
        if before.startswith("goal "):
            return f"{before}{uuid[:8]}"
        folder = "sleep" if before == "run " else "memory"
        return f'{before}<a href="{escape(address(f"/{folder}/{uuid}"))}" title="{uuid}">{uuid[:8]}</a>'

    return Markup(_IDS.sub(shortened, str(escape(what))))  # noqa: S704 -- escaped before the links are put in


def memories_in(what: str) -> list[str]:
    """Return the ids of the memories that a sentence of the audit names, each once."""
    return list(dict.fromkeys(uuid for before, uuid in _IDS.findall(what) if not before))


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("actors.dashboard"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "minute": minute,
        "said_minute": said_minute,
        "moment": moment_in_words,
        "signed": _signed,
        "plural": counted,
        "excerpt": lambda text, length=160: plain_excerpt(text or "", length),
        "spoken": _spoken,
    }
    environment.globals |= {
        "SPACES": SPACES,
        "SPACE_NAMES": SPACE_NAMES,
        "PARTS": PARTS,
        "BANDS": BANDS,
        "MODES": MODES,
        "RUNS": RUNS,
        "TRIGGERS": TRIGGERS,
        "when_words": when,
        "run_summary": run_summary,
        "relation": relation,
    }
    return environment


TEMPLATES: Final = _environment()
