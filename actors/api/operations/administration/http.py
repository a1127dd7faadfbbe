"""Operations on the HTTP server of the hub, which only a process on the hub's own socket may ask for."""

from __future__ import annotations

from actors.api.context import Context
from actors.api.params.http import HttpListen, HttpLogin, WebServer
from actors.runtime.faults import UnknownOperationFault
from actors.runtime.types import JsonObject


async def http_listen(context: Context, params: HttpListen) -> JsonObject:
    """Start the HTTP server, or say where it listens already."""
    return {"url": await _server(context).listen(params)}


async def http_login(context: Context, _params: HttpLogin) -> JsonObject:
    """Return a link that logs a browser in once."""
    return {"url": await _server(context).login_link()}


def _server(context: Context) -> WebServer:
    if context.process.web is None:
        raise UnknownOperationFault("This process serves no HTTP")
    return context.process.web
