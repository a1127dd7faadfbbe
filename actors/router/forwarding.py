"""A request to one hub: sent on with its key, and again if the hub ended before it answered."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final
from uuid import uuid4

import anyio
import httpx2
from context_graph.transports import ContextGraphError, headers, result_of, stateless
from mcp.shared.exceptions import MCPError

from actors.proxy.endpoint import REQUEST_KEY, RESENT, SERVED
from actors.router.table import HubAddress
from actors.runtime.faults import StorageFault
from actors.runtime.types import JsonObject

TIMEOUT: Final = httpx2.Timeout(35.0, connect=3.0)
"""Seconds without a byte: a hub that loads its models, or takes long for an answer, sends a line every fifteen."""
RESTART: Final = 10.0
"""Seconds that a hub which ended before it answered may take to start again."""
POLL: Final = 0.25
"""Seconds between two attempts to connect meanwhile."""
RETRY_AFTER_MS: Final = 2_000
OWN_META: Final = "context-graph/"
"""Prefix of the fields of `_meta` that hubs get."""


class HubFailedError(MCPError):
    """A hub can't be reached, or refuses the request as a whole."""

    def __init__(self, hub: HubAddress, code: int, message: str, data: object) -> None:
        super().__init__(code, message, data)
        self.hub = hub

    @property
    def shown(self) -> JsonObject:
        """What an answer of other hubs says of it."""
        return {"hub": self.hub.url, "namespaces": list(self.hub.namespaces), "error": self.message}


async def forward(
    client: httpx2.AsyncClient, hub: HubAddress, method: str, params: JsonObject, authorization: str
) -> JsonObject:
    """Return the answer of a hub to a request (`HubFailedError`)."""
    given: JsonObject = params.get("_meta") or {}
    own = {name: value for name, value in given.items() if name.startswith(OWN_META)}
    meta = {REQUEST_KEY: str(uuid4())} | own | {SERVED: _limit(hub, given.get(SERVED))}
    post = partial(_post, client, hub, method, authorization)
    try:
        try:
            return await post(params | {"_meta": meta})
        except (httpx2.ReadError, httpx2.WriteError, httpx2.RemoteProtocolError):  # it ended, perhaps after a commit
            return await _resend(hub, partial(post, params | {"_meta": meta | {RESENT: True}}))
    except httpx2.ReadTimeout as error:
        raise _away(hub, "doesn't answer; what was asked may be done nevertheless") from error
    except httpx2.HTTPError as error:
        raise _away(hub, f"can't be reached: {str(error) or type(error).__name__}") from error
    except ContextGraphError as error:
        raise HubFailedError(hub, error.code, f"{hub.shown}: {error.message}", error.data) from error


def _limit(hub: HubAddress, wanted: object) -> object:
    """Return the namespaces of a hub, of which a request may want some; the hub refuses what is no list."""
    if wanted is None:
        return list(hub.namespaces)
    return [one for one in hub.namespaces if one in wanted] if isinstance(wanted, list) else wanted


async def _resend(hub: HubAddress, post: Callable[[], Awaitable[JsonObject]]) -> JsonObject:
    """Send a request again once its hub runs again, which does nothing twice; errors as in `forward`."""
    deadline = anyio.current_time() + RESTART
    while True:
        try:
            return await post()
        except httpx2.HTTPError as error:
            if anyio.current_time() > deadline:
                raise _away(hub, "ended before it answered; what was asked may be done nevertheless") from error
        await anyio.sleep(POLL)


async def _post(
    client: httpx2.AsyncClient, hub: HubAddress, method: str, authorization: str, params: JsonObject
) -> JsonObject:
    body, more = stateless(method, params)
    return result_of(await client.post(f"{hub.url}/mcp", json=body, headers=headers(authorization) | more))


def _away(hub: HubAddress, why: str) -> HubFailedError:
    data = {"retry_after_ms": RETRY_AFTER_MS}
    return HubFailedError(hub, StorageFault.code, f"Storage failed: {hub.shown} {why}", data)
