"""What the operations for audits take.

As in `schemas`, descriptions are for agents and paid for in every conversation.
"""

from typing import Annotated, ClassVar
from uuid import UUID

from msgspec import Meta

from actors.api.operations.as_of import When
from actors.api.params.parsing import Params

MAX_EVENTS = 500
MAX_LIST = 1_000


class AuditTrail(Params, frozen=True, kw_only=True):
    """Arguments of `audit_trail`."""

    aliases: ClassVar[dict[str, str]] = {"id": "memory_id", "fingerprint_id": "memory_id"}

    memory_id: UUID | None = None
    run_id: UUID | None = None
    since: When | None = None
    until: When | None = None
    limit: Annotated[int, Meta(ge=1, le=MAX_EVENTS)] = 50
    before: Annotated[int | None, Meta(description="next_before")] = None


class StoreStatus(Params, frozen=True, kw_only=True):
    """`store/status` takes no arguments."""


class StoreDiff(Params, frozen=True, kw_only=True):
    """Arguments of `store/diff`: two moments; the later one is now unless it is named."""

    a: When
    b: When | None = None
    limit: Annotated[int, Meta(ge=0, le=MAX_LIST)] = 20
    """Of each list."""


class StoreReplay(Params, frozen=True, kw_only=True):
    """Arguments of `store/replay`."""

    as_of: When | None = None
    """Replay up to there alone, and compare with nothing."""


class StoreVerify(Params, frozen=True, kw_only=True):
    """`verify` takes no arguments."""


class StoreBackUp(Params, frozen=True, kw_only=True):
    """Arguments of `backup`."""

    target: str
    """An absolute path at which nothing is yet."""
