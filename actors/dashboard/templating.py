"""The templates of the pages, and how they show times, numbers, excerpts and sentences of the audit."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

import jinja2
from markupsafe import Markup, escape

from actors.api.responses.administration.authors import TRIGGERS
from actors.api.responses.parts import PARTS, SPACE_NAMES, did
from actors.dashboard import names
from actors.text.plain_excerpts import plain_excerpt
from events.spaces import SPACES
from events.wording import counted

_IDS: Final = re.compile(r"(goal |run )?\b([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\b")


def _minute(value: str | None) -> str:
    """Return an ISO 8601 time to the minute, in UTC."""
    if not value:
        return ""
    return datetime.fromisoformat(value).astimezone(UTC).strftime("%Y-%m-%d %H:%M")


def _signed(value: float) -> str:
    return f"{value:+.2f}".replace("-", "−")


def _spoken(what: str, address: Callable[[str], str]) -> Markup:
    """Return a sentence of the audit with each id shortened, and that of a memory or a run as a link."""

    def shortened(found: re.Match[str]) -> str:
        before, uuid = found.group(1) or "", found.group(2)
        if before == "goal ":
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
        "minute": _minute,
        "signed": _signed,
        "plural": counted,
        "excerpt": lambda text, length=160: plain_excerpt(text or "", length),
        "spoken": _spoken,
    }
    environment.globals |= {
        "SPACES": SPACES,
        "SPACE_NAMES": SPACE_NAMES,
        "PARTS": PARTS,
        "MODES": names.MODES,
        "RUNS": names.RUNS,
        "TRIGGERS": TRIGGERS,
        "when_words": names.when,
        "did": did,
        "relation": names.relation,
    }
    return environment


TEMPLATES: Final = _environment()
