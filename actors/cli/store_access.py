"""Access of commands and hooks to a store: `open_store` yields a `StoreSession`, whose `call` answers operations.

`_connect_or_open` chooses how: `_connect` sends them to the process that serves the store, as soon as there is one;
`_open` opens the store in this process, if there is none. `served_store` only does the former.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from glob import escape
from math import inf
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import msgspec

from actors.proxy.client import Client, ClientError
from actors.proxy.endpoint import Report, print_notice, read_hub_info
from actors.proxy.launcher import HubError, is_locked
from actors.proxy.own_version import describe_other_version
from actors.proxy.serve_command import hub_launcher, proxy_supported, serve_options
from actors.runtime.settings import ModelProfile
from actors.runtime.types import JsonObject
from events.wording import no_store_folder

if TYPE_CHECKING:
    from anyio.from_thread import BlockingPortal

    from actors.api.context import Context

MARGIN = 0.2
"""Seconds that remain to report an error when a server is too slow."""
LONGEST = 86_400.0
"""Seconds that a person's command may take."""
RETRY_INTERVAL = 0.05
"""Seconds between the first two attempts to reach or open a store."""
RETRY_GROWTH = 1.2
"""Of the interval with each attempt: an attempt to open takes a processor's time from the process that has it open."""
LONGEST_RETRY_INTERVAL = 0.5
"""Seconds between two attempts at most."""
LOCK_TIMEOUT = 60.0
"""Seconds that a person's command waits for another process to close the store: of six that are started at once on a
store without a hub, on two busy processors, the first to open it takes over ten."""
NOTICE_DUE = 2.0
"""Seconds after which a person is told what a command waits for."""
HUB_START = 10.0
"""Seconds that a command waits for a hub that another process starts, before it opens the store itself."""


class CommandError(Exception):
    """A command can't do what it was called for; the message gives the reason in a sentence."""


class NoStoreError(CommandError):
    """There is no store, and the command does not create one."""


class StoreLocation(msgspec.Struct, frozen=True):
    """Folder and models of a store, and how long requests may take."""

    folder: Path
    profile: str = ModelProfile.EMBEDDED
    models: Path | None = None
    deadline: float = msgspec.field(default_factory=lambda: monotonic() + LONGEST)
    """A time of the monotonic clock; by default that of a person's command."""
    lock_timeout: float = LOCK_TIMEOUT
    """Seconds to wait for a process that has it open and does not serve it."""
    project: str | None = None
    """Namespace of requests that name none."""
    models_chosen: bool = False
    """Whether a hub with another profile or other models is refused."""
    upgrades: bool = True
    """Whether a store of an earlier format is copied and upgraded; otherwise it is opened read-only."""

    @property
    def seconds_left(self) -> float:
        """Seconds until the deadline."""
        return self.deadline - monotonic()

    @property
    def log(self) -> str | None:
        """Address of the shared log; None for one in the folder."""
        from events.postgres.address import log_address

        return log_address(self.folder)

    def check_exists(self) -> None:
        """Raise `NoStoreError` if there is no store."""
        if self.log is None and not _holds_log(self.folder):
            raise NoStoreError(
                f"no store in {self.folder}; `context-graph store` or an agent's first session creates one"
            )

    def check_in_folder(self, advice: str) -> None:
        """Raise `LogError`, with advice, if the log is on a server; `NoStoreError` if there is none."""
        from events.postgres.address import without_password
        from events.storage.log import LogError

        self.check_exists()
        if self.log is not None and not (self.folder / "log.duckdb").exists():
            raise LogError(f"the log is at {without_password(self.log)}, not in {self.folder}: {advice}")


Call: TypeAlias = Callable[..., JsonObject]
"""Calls `(method, report, /, **arguments)` of a store by a JSON-RPC name; `report` may be left out."""


class StoreSession(NamedTuple):
    """An open store."""

    call: Call
    served: bool
    """Whether another process has it open, with its models loaded or loading."""


@contextmanager
def open_store(
    location: StoreLocation, *, server_timeout: float = 0.0, creates: bool = False
) -> Iterator[StoreSession]:
    """Yield a store: through the process that serves it, or opened here once no other process has it open.

    A server is waited for `server_timeout` seconds before the store is opened here.

    Raises:
        NoStoreError: There is none.
        LogError: It cannot be trusted.
        LogInUseError: Another process keeps it open.
        TimeoutError: The same, and the deadline has passed.
        CommandError: A hub of another version answers what can't be read.
        OSError, ClientError: The server does not answer as it should (`Client`).
    """
    if creates:
        _make_folder(location.folder)
    else:
        location.check_exists()
    with understanding(location.folder), ExitStack() as stack:
        yield _connect_or_open(location, server_timeout, stack)


@contextmanager
def served_store(location: StoreLocation) -> Iterator[StoreSession | None]:
    """Yield a store if another process serves it; errors as in `open_store`."""
    location.check_exists()
    with understanding(location.folder), ExitStack() as stack:
        yield _connect(location, stack)


def _connect_or_open(location: StoreLocation, server_timeout: float, stack: ExitStack) -> StoreSession:
    """Return the store as soon as it is served, or can be opened after `server_timeout` and no hub is starting."""
    start, notice_due, interval = monotonic(), NOTICE_DUE, RETRY_INTERVAL
    while location.seconds_left > MARGIN:
        if (served := _connect(location, stack)) is not None:
            return served
        waited = monotonic() - start
        hub_due = waited < HUB_START and proxy_supported()
        if waited >= server_timeout and not (hub_due and is_locked(location.folder)):
            from events.storage.log import LogInUseError

            try:
                return _open(location, stack)
            except LogInUseError as error:  # by a server that starts or ends, or by a command
                if waited >= location.lock_timeout:
                    raise
                if location.lock_timeout < inf and waited >= notice_due:
                    print_notice(f"waiting for up to {location.lock_timeout:.0f} s: {str(error).partition(';')[0]}")
                    notice_due = inf
        sleep(max(0.0, min(interval, location.seconds_left - MARGIN)))
        interval = min(interval * RETRY_GROWTH, LONGEST_RETRY_INTERVAL)
    raise TimeoutError("the store stayed in use")


def _connect(location: StoreLocation, stack: ExitStack) -> StoreSession | None:
    """Return the store through the process that serves it; None if none does, or it ends."""
    from events.postgres.address import check_remembered

    with suppress(FileNotFoundError, ConnectionError):
        client = stack.enter_context(Client(location.folder, location.seconds_left - MARGIN, location.project))
        check_remembered(location.folder)
        check_models(location)
        return StoreSession(client.request, served=True)
    return None


def _open(location: StoreLocation, stack: ExitStack) -> StoreSession:
    """Return the store, opened in this process; errors of the log as in `open_store`."""
    from anyio.from_thread import start_blocking_portal

    from actors.api.context import Context
    from actors.hub.composition import open_hub
    from actors.runtime.faults import DamagedFault

    opened = stack.enter_context(ExitStack())
    portal = stack.enter_context(start_blocking_portal())

    def open_context() -> Context:
        hub = open_hub(
            location.folder,
            location.profile,
            location.models,
            address=location.log,
            upgrades=location.upgrades,
            exits_on_damage=False,
        )
        return Context(opened.enter_context(hub), project=location.project)

    context = open_context()

    def call(method: str, report: Report | None = None, /, **arguments: object) -> JsonObject:
        nonlocal context
        try:
            return call_in(portal, context, method, report, **arguments)
        except DamagedFault:  # it is marked as damaged now, and opened read-only
            opened.close()
            context = open_context()
            return call_in(portal, context, method, report, **arguments)

    return StoreSession(call, served=False)


def call_in(
    portal: BlockingPortal, context: Context, method: str, report: Report | None = None, /, **arguments: object
) -> JsonObject:
    """Call a method of a store that is open in this process, on the event loop of a portal."""
    from actors.api.tools import dispatch
    from actors.api.tools.agent_tools import BY_METHOD

    async def progress(done: float, total: float | None, what: str) -> None:
        if report:
            report(done, total, what)

    return portal.call(dispatch.call, context.for_request(progress), BY_METHOD[method], arguments)


def start_hub(location: StoreLocation) -> None:
    """Start a hub in the background, if there is none; without one, each command opens the store itself."""
    if sys.platform == "win32":
        return
    with suppress(HubError):
        connection = hub_launcher(location.folder, location.profile, location.models).step()
        if connection is not None:
            connection.close()


def check_models(location: StoreLocation) -> None:
    """Raise `ClientError` if the hub serves the store with another profile or other models than were chosen."""
    if not location.models_chosen:
        return
    wanted = serve_options(location.profile, location.models, (), priming=False, sleep=True)
    info = read_hub_info(location.folder)
    if info is not None and (info.options.embedder, info.options.models) != (wanted.embedder, wanted.models):
        raise ClientError(
            f"the hub of {location.folder} serves it with {info.options.models_in_words()}, not "
            f"{wanted.models_in_words()}: leave --embedder and --models out, or end it first by: context-graph stop"
        )


@contextmanager
def understanding(folder: Path) -> Iterator[None]:
    """Raise `CommandError` where an answer lacks what is read of it, and the hub that gave it is of another version."""
    try:
        yield
    except (AttributeError, LookupError, TypeError) as error:
        if (other := describe_other_version(folder)) is None:
            raise
        raise CommandError(f"the answer can't be read: {other}") from error


def _holds_log(folder: Path) -> bool:
    """Return whether a folder holds a log, or the head of a lost one; an interrupted restore is finished first."""
    if not folder.exists():
        folder = folder.resolve()
        if any(one.is_dir() for one in folder.parent.glob(f"{escape(folder.name)}.restoring-*")):
            from events.storage.replacement import finish

            finish(folder)
    return (folder / "log.duckdb").exists() or (folder / "head").exists()


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise CommandError(no_store_folder(folder, error)) from error
