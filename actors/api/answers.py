"""What several answers share: fields, and words for the authors of events.

Field names are the published API of the tools, so they mix `camelCase` and `snake_case` (`fingerprintId`,
`duplicate_of`). They cannot be changed without breaking clients.
"""

from collections.abc import Collection, Mapping
from datetime import datetime
from difflib import get_close_matches
from enum import Enum
from typing import Final
from uuid import UUID

from actors.api.params.fields import MAX_EXCERPT
from actors.runtime.settings import Confidence
from actors.runtime.types import JsonObject
from actors.text.excerpts import excerpt
from actors.text.plain_excerpts import plain_excerpt
from events.vocabulary.values import Learning
from projections.memories.catalog import Body, Entry
from projections.memories.requests import IMPORTER

MAX_HEADING: Final = 200
"""Characters of the heading of an excerpt."""
PATH_SEPARATOR: Final = " › "

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

LABEL = 120
"""Characters that identify a memory in a list; memory_retrieve returns the whole."""


def rounded(value: float) -> float:
    """Return a number with four decimals."""
    return round(value, 4)


def iso(moment: datetime | None) -> str | None:
    """Return a time in ISO 8601."""
    return moment.isoformat() if moment else None


def pick(source: object, *names: str) -> JsonObject:
    """Return attributes as JSON values: ids as text, times in ISO 8601, numbers with four decimals."""
    return {name: _json_value(getattr(source, name)) for name in names}


def _json_value(value: object) -> object:
    match value:
        case float():
            return rounded(value)
        case UUID():
            return str(value)
        case datetime():
            return iso(value)
        case Enum():
            return value.value
        case tuple():
            return [_json_value(one) for one in value]
        case _:
            return value


def body_of(entry: Entry) -> Body:
    """Return the stored content of a memory that is not erased."""
    if entry.body is None:
        raise ValueError(f"{entry.id} has no body")
    return entry.body


def content_fields(entry: Entry, start: int = 0, end: int | None = None) -> JsonObject:
    """Return the content of a memory, or an excerpt of it from `start`, with its time, place and speaker.

    An excerpt that doesn't begin with the text names the title and the heading that it is under.
    """
    body = body_of(entry)
    text = body.text
    end = len(text) if end is None else end
    content = text[start : min(end, start + MAX_EXCERPT)]
    answer: JsonObject = {"content": content}
    if len(content) < len(text):
        heading = _heading(body.metadata) if start else ""
        place = {"start": start, "end": start + len(content), "of": len(text)}
        answer["excerpt"] = place | ({"heading": heading} if heading else {})
    answer |= {"createdAt": iso(body.said_at), "namespace": body.namespace}
    if body.session is not None:
        answer |= {"session": body.session, "position": body.position}
    if isinstance(speaker := body.metadata.get("speaker"), str):
        answer["speaker"] = speaker
    if body.tags:
        answer["tags"] = list(body.tags)
    if entry.superseded_by is not None:
        answer["superseded_by"] = str(entry.superseded_by)
    return answer


def _heading(metadata: JsonObject) -> str:
    """Return what a part of a document stands under, which only the beginning of its text says; "" if unknown."""
    division = metadata.get("division")
    named = (metadata.get("title"), division.get("heading") if isinstance(division, dict) else None)
    title, heading = (one if isinstance(one, str) else "" for one in named)
    above = (heading,) if title.casefold() in heading.casefold() else (title, heading)
    return excerpt(PATH_SEPARATOR.join(one for one in above if one), MAX_HEADING)


def start_of(entry: Entry | None, length: int) -> str | None:
    """Return the start of a memory on one line; None for an erased one."""
    return None if entry is None or entry.body is None else plain_excerpt(entry.body.text, length)


def mean_alignment(purpose: tuple[float, ...]) -> float:
    """Return the alignment with the North Star: the mean of a purpose vector."""
    return sum(purpose) / len(purpose)


def alignment(entry: Entry) -> float | None:
    """Return the alignment of a memory with the North Star; None without a North Star."""
    return rounded(mean_alignment(entry.purpose)) if any(entry.purpose) else None


def empty_namespace(name: str, known: Collection[str]) -> str:
    """Return a sentence on a namespace without memories, with the most similar name among those with some."""
    near = get_close_matches(name, known, n=1)
    return f"The namespace '{name}' holds no live memories" + (f"; did you mean '{near[0]}'?" if near else "")


def nothing_within(limits: Mapping[str, object], least: Confidence = Confidence.NOTHING) -> str:
    """Return a sentence on a search that found nothing among some memories, with the limits that it set.

    With a least confidence there may be memories within these limits.
    """
    named = (
        f"{name} {', '.join(map(str, value)) if isinstance(value, tuple) else value}" for name, value in limits.items()
    )
    within = " and ".join(named)
    if least is Confidence.NOTHING:
        return f"No memory is within {within}; wider limits may find some"
    return f"Nothing within {within} has a confidence of {least.value} or more; other limits may find some"


def learning(values: Learning) -> dict[str, float]:
    """Return the learning score of a memory and its parts."""
    return {
        "learningScore": values.learning_score,
        "entropy": values.entropy,
        "coherence": values.coherence,
        "surprise": values.surprise,
    }


def learning_inputs(values: Learning) -> dict[str, float | None]:
    """Return the other inputs of the learning score, and the predicted usefulness."""
    return {"emotionalWeight": values.emotional_weight, "phase": values.phase, "usefulness": values.usefulness}


def stored_params(body: Body) -> JsonObject:
    """Return the parameters that a memory was stored with."""
    names = ("namespace", "session", "importance", "rationale", "memory_type", "metadata")
    return {name: getattr(body, name) for name in names} | {"modality": body.modality.value, "tags": list(body.tags)}


def author(actor: str) -> str:
    """Return who or what caused an event, by its name in the log; an unknown one as it is."""
    if actor in _AUTHORS:
        return _AUTHORS[actor]
    kind, _, name = actor.partition(":")
    if kind != "http":
        return actor
    return f"the account {name.removeprefix(_OAUTH)}" if name.startswith(_OAUTH) else f"the key {name}"
