"""How calls reach a store: by the socket of the hub on this machine, or by HTTP."""

from __future__ import annotations

import json
import threading
from importlib.metadata import version
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING, Any, Protocol
from uuid import uuid4

if TYPE_CHECKING:
    import httpx2

    from actors.proxy.client import Client

PROTOCOL = "2026-07-28"
"""Revision of MCP whose requests need no session."""
POLL = 0.05
"""Seconds between two attempts to reach a hub that starts."""
LONGEST_ECHO = 500
"""Characters of an unexpected answer that an error repeats."""
LONGEST = 86_400.0
"""Seconds that a connection to the hub lasts."""


class ContextGraphError(Exception):
    """A call failed.

    Args:
        code: A JSON-RPC code, such as -32602 for an invalid argument and -32010 for an unknown memory.
        message: What is wrong, in a sentence.
        data: Details.
    """

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class Transport(Protocol):
    """Calls a tool and returns its structured answer."""

    def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Call; raises `ContextGraphError`."""
        ...

    def close(self) -> None:
        """Release the connection."""
        ...


class SocketTransport:
    """The hub on this machine, which is started if necessary. Threads take turns.

    Args:
        folder: The store's.
        namespace: Of calls that name none.
    """

    def __init__(self, folder: Path, namespace: str | None) -> None:
        from actors.proxy.client import ClientError
        from actors.proxy.launcher import HubError, HubLauncher

        self._turn = threading.Lock()
        self._launcher = HubLauncher(folder, [])
        self._namespace = namespace
        self._failures = (HubError, ClientError, OSError)
        try:
            self._client: Client | None = self._connect()
        except self._failures as error:
            raise ContextGraphError(-32004, str(error)) from error

    def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Call a tool; if the hub ended before it answered, ask the next one once, which does nothing twice."""
        from actors.proxy.endpoint import REQUEST_KEY, RESENT

        meta: dict[str, Any] = {REQUEST_KEY: str(uuid4())}
        try:
            with self._turn:
                try:
                    result = self._request(tool, arguments, meta)
                except (ConnectionError, TimeoutError):  # the hub ended, or the connection is `LONGEST` old
                    self.close()
                    self._client = None
                    result = self._request(tool, arguments, meta | {RESENT: True})
        except self._failures as error:
            raise ContextGraphError(-32004, str(error)) from error
        return structured(result)

    def close(self) -> None:
        """Close the connection."""
        if self._client is not None:
            self._client.close()

    def _request(self, tool: str, arguments: dict[str, Any], meta: dict[str, Any]) -> dict[str, Any]:
        self._client = self._client or self._connect()
        return self._client.request("tools/call", name=tool, arguments=arguments, _meta=meta)

    def _connect(self) -> Client:
        from actors.proxy.client import Client

        while (connection := self._launcher.step()) is None:
            self._launcher.reap()
            sleep(POLL)
        with connection:
            return Client(self._launcher.folder, LONGEST, self._namespace)


class HttpTransport:
    """A server; one request without a session for each call.

    Args:
        url: Of the server, without `/mcp`.
        key: From `context-graph key create`, or an access token.
        namespace: Of calls that name none.
        timeout: Seconds for one call.
    """

    def __init__(self, url: str, key: str, namespace: str | None, timeout: float) -> None:
        import httpx2

        self._url = f"{url.rstrip('/')}/mcp"
        self._namespace = namespace
        self._client = httpx2.Client(headers=_headers(key), timeout=timeout)
        self._failures = httpx2.HTTPError

    def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Call a tool."""
        try:
            answer = self._client.post(
                self._url, json=_request(tool, arguments, self._namespace), headers={"mcp-name": tool}
            )
        except self._failures as error:
            raise ContextGraphError(-32004, f"{self._url} can't be reached: {error}") from error
        return structured(_result(answer))

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


def structured(result: dict[str, Any]) -> dict[str, Any]:
    """Return the structured answer of a tool, or raise the error that it reports."""
    match result:
        case {"isError": True, "structuredContent": {"error": {"code": int(code), "message": str(message), **more}}}:
            raise ContextGraphError(code, message, more.get("data"))
        case {"structuredContent": {**answer}} if not result.get("isError"):
            return answer
        case _:
            raise ContextGraphError(-32603, f"the server answered {json.dumps(result)[:LONGEST_ECHO]}")


def _headers(key: str) -> dict[str, str]:
    return {
        "authorization": f"Bearer {key}",
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": PROTOCOL,
        "mcp-method": "tools/call",
    }


def _request(tool: str, arguments: dict[str, Any], namespace: str | None) -> dict[str, Any]:
    from actors.proxy.endpoint import PROJECT

    name = "io.modelcontextprotocol"
    meta: dict[str, Any] = {
        f"{name}/protocolVersion": PROTOCOL,
        f"{name}/clientInfo": {"name": "context_graph", "version": version("context-graph")},
        f"{name}/clientCapabilities": {},
    }
    if namespace is not None:
        meta[PROJECT] = namespace
    params = {"name": tool, "arguments": arguments, "_meta": meta}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


def _result(answer: httpx2.Response) -> dict[str, Any]:
    """Return the result in an answer, which is JSON, or the last event of a stream if the call took long."""
    text = answer.text
    if answer.headers.get("content-type", "").startswith("text/event-stream"):
        events = [line.removeprefix("data:") for line in text.splitlines() if line.startswith("data:")]
        text = events[-1] if events else ""
    said: object = text.strip() or "nothing"
    try:
        message: object = json.loads(text)
    except ValueError:  # a page of another server, or an answer that was cut off
        message = None
    match message:
        case {"result": {**result}}:
            return result
        case {"error": {"code": int(code), "message": str(reason), **more}}:
            raise ContextGraphError(code, reason, more.get("data"))
        case {"error": error}:
            said = error
        case _:
            pass
    raise ContextGraphError(-32603, f"the server answered {answer.status_code}: {str(said)[:LONGEST_ECHO]}")
