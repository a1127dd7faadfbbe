"""What the tools take and give: parsed once, at the boundary, into frozen values.

Parameters and outputs are those of seeds 001 and 004; each may be written in snake_case or camelCase.
"""

import math
from datetime import UTC, datetime
from typing import Annotated, Any, TypeVar
from uuid import UUID

import msgspec
from msgspec import Meta

from actors.faults import InvalidParamsFault
from actors.settings import SearchProfile
from events.vocabulary import Modality

MAX_CONTENT = 65_536
MAX_QUERY = 4_096
MAX_RATIONALE = 4_096
MAX_NAME = 256
MAX_TAGS = 64
MAX_LINKS = 64
MAX_METADATA = 16_384
MAX_RESULTS = 100

DEFAULT_NAMESPACE = "default"

Name = Annotated[str, Meta(min_length=1, max_length=MAX_NAME)]
Reason = Annotated[str, Meta(max_length=MAX_RATIONALE)]
Content = Annotated[str, Meta(max_length=MAX_CONTENT, description="The text to remember, at most 65,536 characters.")]
Importance = Annotated[
    float,
    # The limits of the seed's schema; a value outside them is clamped, not refused.
    Meta(description="0 to 1; what matters for long stays longer.", extra_json_schema={"minimum": 0, "maximum": 1}),
]
Moment = Annotated[str, Meta(max_length=MAX_NAME, description="ISO 8601; UTC without an offset.")]


class Params(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The arguments of one tool."""


class Kept(Params, frozen=True, kw_only=True):
    """What both ways of storing accept and keep."""

    content: Content
    importance: Importance = 0.5
    modality: Annotated[Modality, Meta(description="What kind of content it is.")] = Modality.TEXT
    tags: Annotated[tuple[Name, ...], Meta(max_length=MAX_TAGS, description="For filtering later.")] = ()
    link_to: Annotated[
        tuple[UUID, ...],
        Meta(max_length=MAX_LINKS, description="Ids of memories that this one belongs with."),
    ] = ()
    namespace: Annotated[Name, Meta(description="Project or person; a search stays inside one if told to.")] = (
        DEFAULT_NAMESPACE
    )
    session: Annotated[Name | None, Meta(description="The conversation it is a turn of; order in it is kept.")] = None
    metadata: Annotated[dict[str, Any], Meta(description="Any JSON object to keep with it.")] = {}
    created_at: Annotated[Moment | None, Meta(description="When it happened or was said, if not now.")] = None


class StoreMemory(Kept, frozen=True, kw_only=True):
    """Arguments of `store_memory`."""

    rationale: Annotated[Reason | None, Meta(description="Why it is worth keeping.")] = None


class InjectContext(Kept, frozen=True, kw_only=True):
    """Arguments of `inject_context`."""

    rationale: Annotated[Reason, Meta(description="Why it is worth keeping.")]


class SearchGraph(Params, frozen=True, kw_only=True):
    """Arguments of `search_graph`."""

    query: Annotated[str, Meta(max_length=MAX_QUERY, description="A question or keywords, as you would say them.")]
    top_k: Annotated[int, Meta(ge=1, le=MAX_RESULTS)] = 10
    min_similarity: Annotated[float, Meta(ge=0, le=1)] = 0.0
    profile: Annotated[SearchProfile, Meta(description="What it is about; auto reads that off the wording.")] = (
        SearchProfile.AUTO
    )
    namespace: Name | None = None
    session: Name | None = None
    speaker: Name | None = None
    modality: Modality | None = None
    tags: Annotated[tuple[Name, ...], Meta(max_length=MAX_TAGS, description="All of them must be there.")] = ()
    since: Moment | None = None
    until: Moment | None = None
    asked_at: Annotated[Moment | None, Meta(description="When it is asked, if not now.")] = None
    explain: Annotated[bool, Meta(description="Add all thirteen scores, the weights and the stages.")] = False


class MemoryRetrieve(Params, frozen=True, kw_only=True):
    """Arguments of `memory_retrieve`."""

    id: UUID


class MemoryDelete(Params, frozen=True, kw_only=True):
    """Arguments of `memory_delete`."""

    id: UUID
    soft: Annotated[bool, Meta(description="False destroys it for good; nobody can bring it back.")] = True
    reason: Reason | None = None


P = TypeVar("P", bound=Params)


def moment(value: str | None, parameter: str) -> datetime:
    """Read an ISO 8601 time, in UTC; now for None.

    Raises:
        InvalidParamsFault: it isn't one, or lies outside the years 1 to 9999 once in UTC.
    """
    if value is None:
        return datetime.now(UTC)
    try:
        parsed = datetime.fromisoformat(value)
        return parsed.astimezone(UTC) if parsed.tzinfo else parsed.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        raise InvalidParamsFault(f"Invalid '{parameter}': not an ISO 8601 time", parameter=parameter) from None


def _text(value: str, parameter: str) -> None:
    if not value.strip():
        raise InvalidParamsFault(f"{parameter.capitalize()} cannot be empty", parameter=parameter)
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidParamsFault(f"Invalid '{parameter}': a lone surrogate is not text", parameter=parameter) from None


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


def parse(arguments: dict[str, Any], kind: type[P]) -> P:
    """Parse a tool's arguments.

    Raises:
        InvalidParamsFault: with the parameter's name and its limit (-32602).
    """
    fields = kind.__struct_fields__
    named = {(_snake(name) if _snake(name) in fields else name): value for name, value in arguments.items()}
    for field in msgspec.structs.fields(kind):
        if field.required and field.name not in named:
            raise InvalidParamsFault(f"Missing '{field.name}' parameter", parameter=field.name)
    try:
        params = msgspec.convert(named, kind)
    except msgspec.ValidationError as error:
        raise _named(error) from None
    for parameter in ("content", "query", "rationale"):
        if isinstance(value := getattr(params, parameter, None), str):
            _text(value, parameter)
    if isinstance(params, Kept):
        if math.isnan(params.importance):
            raise InvalidParamsFault("Invalid 'importance': not a number", parameter="importance")
        _check_metadata(params.metadata)
    return params


def _check_metadata(metadata: dict[str, Any]) -> None:
    """Refuse what the log can't keep as it is: too much, or numbers beyond 64 bits."""
    try:
        size = len(msgspec.msgpack.encode(metadata))
    except (OverflowError, RecursionError, UnicodeEncodeError, TypeError) as error:
        raise InvalidParamsFault(f"Invalid 'metadata': {error}", parameter="metadata") from None
    if size > MAX_METADATA:
        problem = f"Invalid 'metadata': {size} bytes, at most {MAX_METADATA}"
        raise InvalidParamsFault(problem, parameter="metadata")


def _named(error: msgspec.ValidationError) -> InvalidParamsFault:
    """Turn "Expected `float`, got `str` - at `$.importance`" into a sentence about the parameter."""
    problem, _, path = str(error).partition(" - at `$.")
    parameter = path.rstrip("`")
    if not parameter:
        return InvalidParamsFault(problem)
    return InvalidParamsFault(f"Invalid '{parameter}': {problem[0].lower()}{problem[1:]}", parameter=parameter)


def json_schema(kind: type[Params]) -> dict[str, Any]:
    """Return the JSON Schema of a tool's arguments, with `"type": "object"` at the root as MCP requires."""
    (root,), components = msgspec.json.schema_components([kind])
    schema = components.pop(root["$ref"].rsplit("/", 1)[-1])
    schema.pop("title", None)
    schema.pop("description", None)
    return schema | ({"$defs": components} if components else {})
