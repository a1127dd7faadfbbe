"""How commands and hooks reach a store: through the process that serves it, or by opening it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from math import inf
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from actors.runtime.settings import ModelProfile

if TYPE_CHECKING:
    from anyio.from_thread import BlockingPortal

    from actors.api.operations.facade import Operations
    from actors.proxy.client import Client

MARGIN = 0.2
"""Seconds that are left to tell what is known when a server is too slow with the rest."""
LONGEST = 86_400.0
"""Seconds that a person's command may take: as good as endless."""
PAUSE = 0.05
"""Seconds until it is tried again whether the store is served, or free."""

Report = Callable[[float, float | None, str], None]
"""Told (done, total, what) while something takes long."""


def unheard(_done: float, _total: float | None, _what: str) -> None:
    """Report progress to nobody."""


class NoStoreError(Exception):
    """There is no store, and none is to be made."""


class StoreLocation(msgspec.Struct, frozen=True):
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
            raise NoStoreError(f"no store in {self.folder}; serve and store make one")


def endless(folder: Path, profile: ModelProfile = ModelProfile.EMBEDDED, models: Path | None = None) -> StoreLocation:
    """Return a place at which a person waits for whatever takes its time."""
    return StoreLocation(folder=folder, profile=profile, models=models, until=monotonic() + LONGEST)


class StoreSession(Protocol):
    """A store that can be asked."""

    served: bool
    """Whether another process has it open, and its models loaded or loading."""

    def call(self, method: str, report: Report = unheard, /, **arguments: Any) -> dict[str, Any]:
        """Do what a JSON-RPC method does, and return its answer."""
        ...


class _Served:
    """A store that another process has open."""

    served = True

    def __init__(self, client: Client) -> None:
        self.call = client.request


class _Held:
    """A store that this process has open."""

    served = False

    def __init__(self, operations: Operations, portal: BlockingPortal) -> None:
        self._operations = operations
        self._portal = portal

    def call(self, method: str, report: Report = unheard, /, **arguments: Any) -> dict[str, Any]:
        from actors.api.tools.agent_tools import BY_METHOD
        from actors.api.tools.dispatch import call

        async def progress(done: float, total: float | None, what: str) -> None:
            report(done, total, what)

        return self._portal.call(call, self._operations, BY_METHOD[method], arguments, progress)


@contextmanager
def store(
    place: StoreLocation, *, starting: float = 0.0, making: bool = False, patience: float = inf
) -> Iterator[StoreSession]:
    """Yield the store: through the process that serves it, or opened here once nobody else has it.

    Args:
        place: Which one.
        starting: Seconds to wait for a server before the store is opened here.
        making: Whether it is made if there is none.
        patience: Seconds to wait for a process that has it open and doesn't serve it.

    Raises:
        NoStoreError: there is none.
        LogError: it can't be trusted.
        LogInUseError: such a process keeps it open.
        TimeoutError: the same, and there is no time left.
        OSError, ClientError: whoever serves it doesn't answer as it should (`Client`).
    """
    if not making:
        place.check()
    with ExitStack() as stack:
        now = monotonic()
        yield _reached(place, now + starting, now + patience, stack)


@contextmanager
def served(place: StoreLocation) -> Iterator[StoreSession | None]:
    """Yield the store if another process serves it; errors as in `store`."""
    from actors.proxy.client import Client

    place.check()
    with ExitStack() as stack:
        client = None
        with suppress(FileNotFoundError, ConnectionRefusedError):
            client = stack.enter_context(Client(place.folder, place.left))
        yield None if client is None else _Served(client)


def _reached(place: StoreLocation, opening: float, giving_up: float, stack: ExitStack) -> StoreSession:
    """Return the store as soon as it is served, or free and `opening` is past."""
    from actors.proxy.client import Client

    while place.left > MARGIN:
        with suppress(FileNotFoundError, ConnectionRefusedError):  # nobody listens
            return _Served(stack.enter_context(Client(place.folder, place.left - MARGIN)))
        if monotonic() >= opening:
            from events.storage.log import LogInUseError

            try:
                return _opened(place, stack)
            except LogInUseError:  # by a server that doesn't listen yet, or not any more, or by a command
                if monotonic() >= giving_up:
                    raise
        sleep(PAUSE)
    raise TimeoutError("the store stayed in use")


def _opened(place: StoreLocation, stack: ExitStack) -> StoreSession:
    from anyio.from_thread import start_blocking_portal

    from actors.api.operations.facade import Operations
    from actors.hub.composition import open_hub

    hub = stack.enter_context(open_hub(place.folder, place.profile, place.models))
    return _Held(Operations(hub), stack.enter_context(start_blocking_portal()))
