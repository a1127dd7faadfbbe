"""Parameters of operations on the log and the whole store. Docstrings are the descriptions of tools."""

from typing import Annotated, ClassVar
from uuid import UUID

from msgspec import Meta

from actors.api.params.fields import Reading, When
from actors.api.params.parsing import Params
from actors.runtime.faults import InvalidParamsFault


class AuditTrail(Reading, frozen=True, kw_only=True):
    """List what happened and why, latest first."""

    aliases: ClassVar[dict[str, str]] = {"id": "memory_id", "fingerprint_id": "memory_id"}

    memory_id: Annotated[UUID | None, Meta(description="About this memory")] = None
    run_id: Annotated[UUID | None, Meta(description="Of this run")] = None
    since: Annotated[When | None, Meta(description="Event or time")] = None
    until: Annotated[When | None, Meta(description="Event or time")] = None
    limit: Annotated[int, Meta(ge=1, le=500, description="Events")] = 50
    before: Annotated[Annotated[int, Meta(ge=1)] | None, Meta(description="next_before")] = None


class MemoryHistory(AuditTrail, frozen=True, kw_only=True):
    """List what happened to a memory, latest first, with or without the searches that found it."""

    recalls: bool = True

    def check(self) -> None:
        """Refuse a history of no memory."""
        super().check()
        if self.memory_id is None:
            raise InvalidParamsFault("Missing 'memory_id' parameter", parameter="memory_id")


class StoreStatus(Reading, frozen=True, kw_only=True):
    """Return what the store holds, which models fill the spaces, and how long operations take."""


class StoreDiff(Reading, frozen=True, kw_only=True):
    """Return the changes between two moments; the second one is now if left out."""

    a: When
    b: When | None = None
    limit: Annotated[int, Meta(ge=0, le=1_000)] = 20
    """Of each list."""


class StoreReplay(Params, frozen=True, kw_only=True):
    """Replay the log and compare the result with the live projections; with `as_of`, only replay up to there."""

    as_of: When | None = None


class StoreVerify(Params, frozen=True, kw_only=True):
    """Verify that no byte of the log has changed."""

    anchor: str | None = None
    """Lines of `context-graph anchor`, whose events must be in the log."""


MIN_TEXTS = 50
"""Memories that a calibration needs."""


class StoreCalibrate(Params, frozen=True, kw_only=True):
    """Calibrate the similarities of a model that `--embedder` chose on texts of the store."""

    texts: Annotated[int, Meta(ge=MIN_TEXTS, le=2_000)] = 400
    """How many live memories are compared with each other; they are spread evenly over the store."""


class StoreBackUp(Params, frozen=True, kw_only=True):
    """Copy the store to a new folder."""

    target: str
    """An absolute path that does not exist yet."""
