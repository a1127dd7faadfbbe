"""How calls reach a store: by the socket of the hub on this machine, or by HTTP."""

from __future__ import annotations

import json
import threading
from http import HTTPStatus
from importlib.metadata import version
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING
from uuid import uuid4

from actors.runtime.types import JsonObject

if TYPE_CHECKING:
    import httpx2

    from actors.proxy.client import Client

PROTOCOL = "2026-07-28"
"""Revision of MCP whose requests need no session."""
LONGEST_ECHO = 500
"""Characters of an unexpected answer that an error repeats."""
UNREACHED = -32004
"""Code of a call that reached no server, as of a log that failed."""
FORBIDDEN = -32003
"""Code of a call that its key doesn't permit."""
LONGEST = 86_400.0
"""Most seconds for one call to the hub."""
CLOSED = "the store is closed: open another Memory"


class ContextGraphError(Exception):
    """A call failed.

    Args:
        code: A JSON-RPC code, such as -32602 for an invalid argument and -32010 for an unknown memory.
        message: What is wrong, in a sentence.
        data: Details.
    """

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(code, message, data)  # what pickle gives to the copy in another process
        self.code = code
        self.message = message
        self.data = data

    def __str__(self) -> str:
        return self.message


class SocketTransport:
    """The hub on this machine, which is started if necessary. Threads take turns.

    Of both transports a call raises `ContextGraphError`, and `RuntimeError` once it is closed.
    """

    def __init__(self, folder: Path, namespace: str | None, timeout: float) -> None:
        from actors.proxy.client import ClientError
        from actors.proxy.launcher import HubError

        self._turn = threading.Lock()
        self._folder = folder.absolute()
        self._namespace = namespace
        self._timeout = min(timeout, LONGEST)
        self._failures = (HubError, ClientError, OSError)
        self._closed = False
        try:
            self._client: Client | None = self._connect()
        except self._failures as error:
            raise ContextGraphError(UNREACHED, str(error)) from error

    def call(self, tool: str, arguments: JsonObject) -> JsonObject:
        """Call a tool; if the hub ended before it answered, ask the next one once, which does nothing twice."""
        try:
            result = self._in_turn(tool, arguments, monotonic() + self._timeout)
        except TimeoutError as error:
            problem = f"no answer within {self._timeout:g} s; what was asked for may be done later"
            raise ContextGraphError(UNREACHED, problem) from error
        except self._failures as error:
            code = getattr(error, "code", None)  # of a `ClientError` that repeats the hub's answer
            raise ContextGraphError(code or UNREACHED, str(error), getattr(error, "data", None)) from error
        return structured(result)

    def _in_turn(self, tool: str, arguments: JsonObject, deadline: float) -> JsonObject:
        from actors.proxy.endpoint import REQUEST_KEY, RESENT

        meta: JsonObject = {REQUEST_KEY: str(uuid4())}
        if not self._turn.acquire(timeout=self._timeout):
            raise TimeoutError
        try:
            try:
                return self._request(tool, arguments, meta, deadline)
            except ConnectionError:  # the hub ended
                return self._request(tool, arguments, meta | {RESENT: True}, deadline)
        finally:
            self._turn.release()

    def close(self) -> None:
        """Close the connection; later calls open none."""
        self._closed = True
        self._disconnect()

    def _disconnect(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            client.close()

    def _request(self, tool: str, arguments: JsonObject, meta: JsonObject, deadline: float) -> JsonObject:
        if self._closed:
            raise RuntimeError(CLOSED)
        self._client = self._client or self._connect()
        self._client.deadline = deadline
        try:
            return self._client.request("tools/call", name=tool, arguments=arguments, _meta=meta)
        except BaseException:  # also Ctrl-C: the rest of this answer would be read as that of the next request
            self._disconnect()
            raise

    def _connect(self) -> Client:
        from actors.proxy.client import client_of_hub
        from actors.proxy.launcher import HubLauncher

        # A launcher that failed to start a hub fails for ever.
        return client_of_hub(HubLauncher(self._folder, []), LONGEST, self._namespace)


class HttpTransport:
    """A server at a URL, with `/mcp` or without; one request without a session for each call."""

    def __init__(self, url: str, key: str, namespace: str | None, timeout: float) -> None:
        import httpx2

        from actors.proxy.endpoint import PROJECT

        self._url = f"{url.rstrip('/').removesuffix('/mcp')}/mcp"
        self._meta = {} if namespace is None else {PROJECT: namespace}
        key = key.strip()  # of the file that it was read from
        if not (key.isascii() and key.isprintable()):
            raise ValueError("key has characters that are in no key")
        self._client = httpx2.Client(headers=headers(f"Bearer {key}"), timeout=timeout)
        self._failures = httpx2.HTTPError

    def call(self, tool: str, arguments: JsonObject) -> JsonObject:
        """Call a tool."""
        if self._client.is_closed:
            raise RuntimeError(CLOSED)
        try:
            params = {"name": tool, "arguments": arguments, "_meta": self._meta}
            body, more = stateless("tools/call", params)
            answer = self._client.post(self._url, json=body, headers=more)
        except self._failures as error:
            raise ContextGraphError(UNREACHED, f"{self._url} can't be reached: {error}") from error
        return structured(result_of(answer))

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


def structured(result: JsonObject) -> JsonObject:
    """Return the structured answer of a tool, or raise the error that it reports."""
    match result:
        case {"isError": True, "structuredContent": {"error": {"code": int(code), "message": str(message), **more}}}:
            raise ContextGraphError(code, message, more.get("data"))
        case {"structuredContent": {**answer}} if not result.get("isError"):
            return answer
        case _:
            raise ContextGraphError(-32603, f"the server answered {json.dumps(result)[:LONGEST_ECHO]}")


def headers(authorization: str) -> dict[str, str]:
    """Return the headers of every request over HTTP."""
    return {
        "authorization": authorization,
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": PROTOCOL,
    }


def stateless(method: str, params: JsonObject) -> tuple[JsonObject, dict[str, str]]:
    """Return a request that needs no session: its body, and the headers that repeat what it asks for."""
    name = "io.modelcontextprotocol"
    meta: JsonObject = {
        **params.get("_meta", {}),
        f"{name}/protocolVersion": PROTOCOL,
        f"{name}/clientInfo": {"name": "context_graph", "version": version("context-graph")},
        f"{name}/clientCapabilities": {},
    }
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params | {"_meta": meta}}
    named = params.get("name", params.get("uri"))
    return body, {"mcp-method": method} | ({} if named is None else {"mcp-name": str(named)})


def result_of(answer: httpx2.Response) -> JsonObject:
    """Return the result in an answer, which is JSON, or the last event of a stream if the call took long.

    Raises:
        ContextGraphError: it holds an error, or none of both, or refuses the key.
    """
    if answer.status_code == HTTPStatus.UNAUTHORIZED:
        raise ContextGraphError(FORBIDDEN, "the key is unknown, revoked or expired")
    text = answer.text
    if answer.headers.get("content-type", "").startswith("text/event-stream"):
        lines = text.split("\n")  # a text in the answer may have other ends of lines, such as U+2028
        events = [line.removeprefix("data:") for line in lines if line.startswith("data:")]
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
