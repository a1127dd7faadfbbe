"""How a command that must not wait reaches a store: through the process that serves it, or by opening it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from actors.settings import ModelProfile

if TYPE_CHECKING:
    from anyio.from_thread import BlockingPortal

    from actors.front.operations import Operations
    from actors.pipe import Pipe

MARGIN = 0.2
"""Seconds that are left to tell what is known when a server is too slow with the rest."""
PAUSE = 0.05
"""Seconds until it is tried again whether the store is served, or free."""


class NoStoreError(Exception):
    """There is no store, and none is to be made."""


class Place(msgspec.Struct, frozen=True):
    """Where a store is, whose models it has, and when whatever is asked of it must be over."""

    folder: Path
    profile: ModelProfile
    models: Path | None
    until: float
    """By the monotonic clock."""

    @property
    def left(self) -> float:
        """Seconds until then."""
        return self.until - monotonic()

    def check(self) -> None:
        """Raise `NoStoreError` if there is no store."""
        if not (self.folder / "log.duckdb").exists():
            raise NoStoreError(f"no store in {self.folder}")


class Store(Protocol):
    """A store that can be asked."""

    served: bool
    """Whether another process has it open, and its models loaded or loading."""

    def call(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """Call a tool and return its answer."""
        ...

    def status(self) -> dict[str, Any]:
        """Return what the store holds."""
        ...


class _Served:
    """A store that another process has open."""

    served = True

    def __init__(self, pipe: Pipe) -> None:
        self.call = pipe.call
        self._pipe = pipe

    def status(self) -> dict[str, Any]:
        (content,) = self._pipe.request("resources/read", uri="context-graph://status")["contents"]
        return json.loads(content["text"])


class _Held:
    """A store that this process has open."""

    served = False

    def __init__(self, operations: Operations, portal: BlockingPortal) -> None:
        self._operations = operations
        self._portal = portal

    def call(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        from actors.front.access import silent
        from actors.front.parsing import parse
        from actors.front.tools import BY_NAME

        known = BY_NAME[tool]
        return self._portal.call(known.run, self._operations, parse(arguments, known.params), silent)

    def status(self) -> dict[str, Any]:
        return self._portal.call(self._operations.status)


@contextmanager
def store(place: Place, *, starting: float = 0.0, making: bool = False) -> Iterator[Store]:
    """Yield the store: through the process that serves it, or opened here once nobody else has it.

    Args:
        place: Which one.
        starting: Seconds to wait for a server before the store is opened here.
        making: Whether it is made if there is none.

    Raises:
        NoStoreError: there is none.
        LogError: it can't be trusted.
        TimeoutError: a process that doesn't serve it has it open.
        OSError, PipeError: whoever serves it doesn't answer as it should (`Pipe`).
    """
    if not making:
        place.check()
    with ExitStack() as stack:
        yield _reached(place, monotonic() + starting, stack)


def _reached(place: Place, opening: float, stack: ExitStack) -> Store:
    """Return the store as soon as it is served, or free and `opening` is past."""
    from actors.pipe import Pipe

    while place.left > MARGIN:
        with suppress(FileNotFoundError, ConnectionRefusedError):  # nobody listens
            return _Served(stack.enter_context(Pipe(place.folder, place.left - MARGIN)))
        if monotonic() >= opening:
            from events.log import LogInUseError

            with suppress(LogInUseError):  # a server that doesn't listen yet, or not any more, or a command
                return _opened(place, stack)
        sleep(PAUSE)
    raise TimeoutError("the store stayed in use")


def _opened(place: Place, stack: ExitStack) -> Store:
    from anyio.from_thread import start_blocking_portal

    from actors.front.operations import Operations
    from actors.hub import opened

    hub = stack.enter_context(opened(place.folder, place.profile, place.models))
    return _Held(Operations(hub), stack.enter_context(start_blocking_portal()))
