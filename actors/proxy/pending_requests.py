"""The unanswered requests of one client, which the proxy sends again when another hub replaces the first."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from uuid import uuid4

import msgspec

from actors.proxy.endpoint import PROJECT, REQUEST_KEY, RESENT, TOOL_SET
from actors.runtime.settings import ToolSet

MAX_RETRIES = 3
"""Times that a request is sent again, so that one that crashes every hub ends with an error."""

STORAGE_ERROR = -32004
"""The code of `StorageFault`."""

INVALID_REQUEST = -32600
"""JSON-RPC's own."""

MCP_PREFIXES = frozenset(
    {"initialize", "ping", "tools", "resources", "prompts", "completion", "logging", "server", "subscriptions"}
    | {"notifications", "sampling", "roots", "elicitation", "tasks"}
)
"""First parts of the methods that MCP defines; of those only `tools/call` has side effects."""

HANDSHAKE_ID = f"context-graph/{uuid4()}"
"""Id of handshakes that the proxy repeats, whose answers the client must not see."""

Id = int | str


class _Message(msgspec.Struct):
    id: Id | None = None
    method: str | None = None
    params: msgspec.Raw = msgspec.Raw(b"{}")


class _Cancelled(msgspec.Struct):
    request: Id = msgspec.field(name="requestId")


class _Request(msgspec.Struct):
    line: bytes
    keyed: bool = False
    """Whether it has an idempotency key."""
    retries: int = 0


_decode = msgspec.json.Decoder(_Message).decode
_decode_fields = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_decode_cancelled = msgspec.json.Decoder(_Cancelled).decode


class PendingRequests:
    """Tracks the requests without an answer, and the handshake that another hub needs first."""

    project: str | None = None

    def __init__(self, tools: ToolSet = ToolSet.ALL) -> None:
        self._tools = tools
        self._requests: dict[Id, _Request] = {}
        self._handshake: bytes | None = None
        self._handshake_done = False
        self._initialized: bytes | None = None

    def __len__(self) -> int:
        return len(self._requests)

    def add(self, line: bytes) -> bytes:
        """Record a message of the client; return it as the hub receives it, with what belongs into its `_meta`.

        A message that can't be decoded is returned unchanged: the hub reports the error.
        """
        try:
            message = _decode(line)
            if message.method is not None and message.id is not None:
                return self._add_request(line, message.id, message.method, message.params)
            if message.method == "notifications/cancelled":
                self._requests.pop(_decode_cancelled(message.params).request, None)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return line
        if message.method == "notifications/initialized":
            self._initialized = line
        return line

    def settle(self, line: bytes) -> bool:
        """Record a message of the hub; return whether the client receives it."""
        message = _decode(line)
        if message.method is not None or message.id is None:
            return True
        if message.id == HANDSHAKE_ID:
            return False
        request = self._requests.pop(message.id, None)
        if request is not None and request.line is self._handshake:
            self._handshake_done = True
        return True

    def resend(self) -> Iterator[bytes]:
        """Yield the messages for a new hub: the handshake, if it was completed, and all unanswered requests.

        Requests with a key are marked, so that the hub looks for it before it does the work.
        """
        if self._handshake_done and self._handshake is not None:
            yield _with_field(self._handshake, "id", msgspec.json.encode(HANDSHAKE_ID))
            if self._initialized is not None:
                yield self._initialized
        for request in self._requests.values():
            if request.keyed and not request.retries:
                params = _decode_fields(request.line).get("params", msgspec.Raw(b"{}"))
                request.line = _with_meta(request.line, params, {RESENT: True})
            request.retries += 1
            yield request.line

    def fail_exhausted(self) -> Iterator[bytes]:
        """Remove the requests without retries left; yield their error answers."""
        for request_id in [request_id for request_id, one in self._requests.items() if one.retries >= MAX_RETRIES]:
            yield self._fail(
                request_id,
                f"Storage failed: the process that has the store ended {MAX_RETRIES + 1} times before it answered "
                "this; it may or may not have been done",
            )

    def fail_all(self, reason: str) -> Iterator[bytes]:
        """Remove all requests; yield their error answers."""
        for request_id in list(self._requests):
            yield self._fail(request_id, reason)

    def _fail(self, request_id: Id, reason: str) -> bytes:
        del self._requests[request_id]
        return _error(request_id, STORAGE_ERROR, reason)

    def _add_request(self, line: bytes, request_id: Id, method: str, params: msgspec.Raw) -> bytes:
        keyed = method == "tools/call" or method.partition("/")[0] not in MCP_PREFIXES
        if keyed:
            line = _with_meta(line, params, {REQUEST_KEY: str(uuid4()), PROJECT: self.project})
        elif method == "tools/list":
            line = _with_meta(line, params, {TOOL_SET: self._tools.value})
        elif method == "initialize":
            self._handshake = line
        self._requests[request_id] = _Request(line, keyed)
        return line


def invalid_request(reason: str) -> bytes:
    """Return the error answer to a line without a readable id."""
    return _error(None, INVALID_REQUEST, f"Invalid request: {reason}")


def _error(request_id: Id | None, code: int, reason: str) -> bytes:
    return msgspec.json.encode({"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": reason}})


def _with_meta(line: bytes, params: msgspec.Raw, added: Mapping[str, str | bool | None]) -> bytes:
    """Return a request with fields in its `_meta` that it lacks; unchanged if its parameters are no object."""
    with suppress(msgspec.DecodeError):
        fields = _decode_fields(params)
        meta = _decode_fields(fields.get("_meta", b"{}"))
        for field, value in added.items():
            meta.setdefault(field, msgspec.Raw(msgspec.json.encode(value)))
        fields["_meta"] = msgspec.Raw(msgspec.json.encode(meta))
        return _with_field(line, "params", msgspec.json.encode(fields))
    return line


def _with_field(line: bytes, field: str, value: bytes) -> bytes:
    return msgspec.json.encode(_decode_fields(line) | {field: msgspec.Raw(value)})
