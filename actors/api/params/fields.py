"""Types, limits and meanings of parameters that several operations share.

A parameter is declared once: msgspec parses arguments by its type, and `actors.api.mcp.tool_schemas` lists the same
type. Descriptions are part of the prompt of every conversation: keep them short.
"""

from typing import Annotated, TypeAlias
from uuid import UUID

from msgspec import Meta

from actors.api.params.parsing import Params
from actors.proxy.namespaces import MAX_NAME

MAX_CONTENT = 65_536
MAX_IMAGE = 10 << 20
"""Bytes of an image's file."""
MAX_QUERY = 4_096
MAX_EXCERPT = 2_000
"""Most characters of a memory in a search result; a window of the embedding model has some 1,400."""
MAX_BATCH = 100

DEFAULT_NAMESPACE = "default"

Name = Annotated[str, Meta(min_length=1, max_length=MAX_NAME)]
Tags = Annotated[tuple[Name, ...], Meta(max_length=64)]
Reason = Annotated[str, Meta(max_length=4_096)]
QueryText = Annotated[str, Meta(max_length=MAX_QUERY)]
Namespace = Annotated[Name, Meta(description="If not the project's")]
NamespaceFilter = Annotated[Name | None, Meta(description="Not the project's; * is all")]
SessionFilter = Annotated[Name | None, Meta(description="Only this conversation")]
MemoryId = Annotated[UUID, Meta(description="Of a memory")]
Moment: TypeAlias = str
"""ISO 8601; `Params.times` names these parameters, and checks them. `actors.api.params.times` reads words too."""
When: TypeAlias = int | Moment
"""A sequence number, also written as a text of digits, or a time in ISO 8601 or words."""
Share = Annotated[float, Meta(ge=0, le=1)]
MinSimilarity = Annotated[Share, Meta(description="At least this similar")]
PerEmbedder = Annotated[bool, Meta(description="Add the score of each space")]


class Reading(Params, frozen=True, kw_only=True):
    """The parameters of an operation that only reads: it can answer as of a past moment."""

    as_of: Annotated[When | None, Meta(description="Event or time")] = None
