"""Pages of a search: where the next one starts, and how much of an answer fits into a budget of tokens."""

import base64
import binascii
import hashlib
import json
import math
from bisect import bisect_right
from datetime import datetime
from typing import Annotated
from uuid import UUID

import msgspec
from msgspec import Meta

from actors.api.operations.retrieval.restated import COMPARED
from actors.api.params.parsing import invalid
from actors.api.params.search import SearchGraph
from actors.runtime.types import JsonObject
from projections.mind.workspace import CAPACITY

BYTES_PER_TOKEN = 3
"""Bytes of UTF-8 JSON in a token: an assumption, rather too low than too high, since every model has its own tokens."""
FRAME = 110
"""Tokens of what stands around the results: count, cursor, latency and pulse."""
_PAGING = {"cursor", "top_k", "max_tokens", "max_characters", "explain", "as_of"}
"""Parameters that may change from page to page; `as_of` if it still means the same moment."""
LARGEST = 2**31
"""The largest number that a search writes in a cursor."""
_ENCODER = msgspec.msgpack.Encoder(uuid_format="bytes")
Order = Annotated[float, Meta(ge=0, le=1)]


class Page(msgspec.Struct, frozen=True, array_like=True):
    """Where a page starts, and what must stay as it was on the first one for the pages to fit together."""

    offset: Annotated[int, Meta(ge=0, le=LARGEST)]
    pool: Annotated[int, Meta(ge=1, le=LARGEST)]
    """Candidates that each way of recall names."""
    stored: Annotated[int, Meta(ge=0, le=LARGEST)] | None
    """Memories that were stored when the first page was searched; None on that page itself."""
    asked_at: str
    search: bytes
    """The `search_digest` of the search that it belongs to."""
    primed: Annotated[dict[UUID, Order], Meta(max_length=CAPACITY)] | None = None
    """What was in the workspace then, with its order; None on the first page."""
    restated: Annotated[dict[UUID, UUID], Meta(max_length=COMPARED)] | None = None
    """Which memories answer in place of which others; None on the first page."""


def search_digest(params: SearchGraph, then: datetime | None = None) -> bytes:
    """Return a digest of what all pages of one search share: its parameters, and the time of a past state."""
    asked = {name: value for name, value in msgspec.structs.asdict(params).items() if name not in _PAGING}
    asked["then"] = then
    return hashlib.sha256(msgspec.json.encode(asked)).digest()[:8]


def first_page(params: SearchGraph, pool: int, asked_at: datetime, then: datetime | None = None) -> Page:
    """Return the first page of a search; `then` is the time of the store as it was, None for the present one."""
    return Page(0, pool, None, asked_at.isoformat(), search_digest(params, then))


def encode_cursor(page: Page) -> str:
    """Return the cursor of a page."""
    return base64.urlsafe_b64encode(_ENCODER.encode(page)).decode()


def decode_cursor(cursor: str, params: SearchGraph, then: datetime | None = None) -> Page:
    """Return the page of a cursor (`InvalidParamsFault` for one of another search); arguments as in `first_page`."""
    try:
        page = msgspec.msgpack.decode(base64.b64decode(cursor, altchars=b"-_", validate=True), type=Page)
    except (binascii.Error, ValueError, msgspec.DecodeError):
        raise invalid("cursor", "not one that a search gave") from None
    if any(math.isnan(order) for order in (page.primed or {}).values()):  # which is neither below 0 nor above 1
        raise invalid("cursor", "not one that a search gave")
    if page.search != search_digest(params, then):
        raise invalid("cursor", "it belongs to a search with other parameters")
    return page


def tokens(answer: object) -> int:
    """Estimate the tokens that an answer takes in an agent's context, rather too many than too few."""
    return math.ceil(len(json.dumps(answer, ensure_ascii=False).encode()) / BYTES_PER_TOKEN)


def fit(results: list[JsonObject], budget: int) -> list[JsonObject]:
    """Return the first results that fit into a budget of tokens together; if not even one does, its text is cut.

    A cut result says so by `excerpt`: where its text starts and ends in the memory.
    """
    kept: list[JsonObject] = []
    for result in results:
        left = budget - tokens(result) - 1  # the comma
        if left < 0:
            break
        kept.append(result)
        budget = left
    if results and not kept:
        kept = [_cut(results[0], budget)]
    return kept


def _cut(result: JsonObject, budget: int) -> JsonObject:
    """Shorten the text of a result until it fits (`InvalidParamsFault` if not even one character does)."""
    text = result["content"]
    excerpt = result.get("excerpt", {"start": 0, "of": len(text)})

    def shown(length: int) -> JsonObject:
        end = excerpt["start"] + length
        return result | {"content": text[:length], "excerpt": {**excerpt, "end": end}}

    missing = tokens(shown(1)) - budget
    if missing > 0:
        problem = f"{missing} more are needed for the first result; give more, or leave explain out"
        raise invalid("max_tokens", problem, missing=missing)
    lengths = range(1, len(text) + 1)
    return shown(bisect_right(lengths, budget, key=lambda length: tokens(shown(length))))
