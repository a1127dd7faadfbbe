"""What one client asked and wasn't told yet, so that another hub can be asked when the first one goes away."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from uuid import uuid4

import msgspec

from actors.proxy.endpoint import REQUEST_KEY, RESENT

MOST_TRIES = 3
"""Times that a request is sent again: one that ends every hub must not do so for ever."""

UNREACHED = -32004
"""The code of a storage failure (seed 001)."""

INVALID_REQUEST = -32600
"""JSON-RPC's own."""

MCP = frozenset(
    {"initialize", "ping", "tools", "resources", "prompts", "completion", "logging", "server", "subscriptions"}
    | {"notifications", "sampling", "roots", "elicitation", "tasks"}
)
"""How methods begin that MCP itself defines; of those only `tools/call` may do harm when done twice."""

AGAIN = f"context-graph/{uuid4()}"
"""The id of handshakes that the client doesn't know of."""

Id = int | str


class _Message(msgspec.Struct):
    id: Id | None = None
    method: str | None = None
    params: msgspec.Raw = msgspec.Raw(b"{}")


class _Cancelled(msgspec.Struct):
    request: Id = msgspec.field(name="requestId")


class _Due(msgspec.Struct):
    """A request without an answer."""

    line: bytes
    keyed: bool = False
    """Whether it has an idempotency key."""
    tries: int = 0


_read = msgspec.json.Decoder(_Message).decode
_fields = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_cancelled = msgspec.json.Decoder(_Cancelled).decode


class PendingRequests:
    """Both sides of a conversation, as far as it must be taken up again with another hub."""

    def __init__(self) -> None:
        self._due: dict[Id, _Due] = {}
        self._handshake: bytes | None = None
        self._shaken = False
        self._initialized: bytes | None = None

    def __len__(self) -> int:
        return len(self._due)

    def take(self, line: bytes) -> bytes:
        """Note what the client sends; return it as the hub is to get it: a request gets a key, to be repeated by.

        What can't be read goes on as it is, since the hub knows how to refuse it.
        """
        try:
            message = _read(line)
            if message.method is not None and message.id is not None:
                return self._asked(line, message.id, message.method)
            if message.method == "notifications/cancelled":
                self._due.pop(_cancelled(message.params).request, None)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return line
        if message.method == "notifications/initialized":
            self._initialized = line
        return line

    def settle(self, line: bytes) -> bool:
        """Note what the hub sends, and tell whether it is meant for the client."""
        message = _read(line)
        if message.method is not None or message.id is None:
            return True
        if message.id == AGAIN:
            return False
        due = self._due.pop(message.id, None)
        if due is not None and due.line is self._handshake:
            self._shaken = True
        return True

    def again(self) -> Iterator[bytes]:
        """Yield what another hub must be told: the handshake, if there was one, and all that is unanswered."""
        if self._shaken and self._handshake is not None:
            yield _with(self._handshake, "id", msgspec.json.encode(AGAIN))
            if self._initialized is not None:
                yield self._initialized
        for due in self._due.values():
            due.tries += 1
            if due.tries == 1 and due.keyed:
                due.line = _with_meta(due.line, RESENT, b"true")
            yield due.line

    def in_vain(self) -> Iterator[bytes]:
        """Yield the answers to requests that were sent again too often, and forget them."""
        for request in [request for request, due in self._due.items() if due.tries >= MOST_TRIES]:
            yield self._refused(
                request,
                f"Storage failed: the process that has the store ended {MOST_TRIES + 1} times before it answered this; "
                "it may or may not have been done",
            )

    def refused(self, why: str) -> Iterator[bytes]:
        """Yield errors as the answers to all that is unanswered, and forget it."""
        for request in list(self._due):
            yield self._refused(request, why)

    def _refused(self, request: Id, why: str) -> bytes:
        del self._due[request]
        return _error(request, UNREACHED, why)

    def _asked(self, line: bytes, request: Id, method: str) -> bytes:
        keyed = method == "tools/call" or method.partition("/")[0] not in MCP
        if keyed:
            line = _with_meta(line, REQUEST_KEY, msgspec.json.encode(str(uuid4())))
        elif method == "initialize":
            self._handshake = line
        self._due[request] = _Due(line, keyed)
        return line


def too_long(why: str) -> bytes:
    """Return the answer to a line that is too long to be read, whatever its id is."""
    return _error(None, INVALID_REQUEST, f"Invalid request: {why}")


def _error(request: Id | None, code: int, why: str) -> bytes:
    return msgspec.json.encode({"jsonrpc": "2.0", "id": request, "error": {"code": code, "message": why}})


def _with_meta(line: bytes, field: str, value: bytes) -> bytes:
    """Return a request with a field in its `_meta`, unless it has it; unchanged if its parameters are no object."""
    with suppress(msgspec.DecodeError):
        params = _fields(_read(line).params)
        meta = _fields(params.get("_meta", b"{}"))
        meta.setdefault(field, msgspec.Raw(value))
        params["_meta"] = msgspec.Raw(msgspec.json.encode(meta))
        return _with(line, "params", msgspec.json.encode(params))
    return line


def _with(line: bytes, field: str, value: bytes) -> bytes:
    """Return a message with another value of a field."""
    return msgspec.json.encode(_fields(line) | {field: msgspec.Raw(value)})
