"""Lines of JSON-RPC, each made from a seed, its number and what the server has told: mostly almost right."""

import json
from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple
from uuid import UUID

from actors.api.tools.agent_tools import TOOLS
from benchmarks.fuzz.hostile import (
    Known,
    Raw,
    arguments,
    deep,
    hostile,
    hostile_text,
    long_text,
    sentence,
    unknown_id,
)

Id = str | int
"""What JSON-RPC takes for the id of a request here."""

IDLE = 0.8
"""Share of the calls whose text would go through the model that carry a parameter which nothing takes: they are refused
before it, and a message takes a thousandth of the time."""
TEXTS = frozenset({"content", "query", "items", "start_concept"})
SLOW = frozenset({"consolidate_memories", "trigger_dream", "discover_goals", "trigger_drift_correction"})
"""Tools that look at every memory; so do those that no list shows, and whatever is asked of the past."""
SELDOM = 0.1
"""Share of the calls of those that aren't idle."""

PROTOCOL = (
    "initialize",
    "ping",
    "tools/list",
    "prompts/list",
    "prompts/get",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "resources/subscribe",
    "completion/complete",
    "logging/setLevel",
    "sampling/createMessage",
    "server/discover",
    "tasks/list",
    "notifications/initialized",
    "rpc.discover",
    "__init__",
)
META = "_meta"
REQUEST = "context-graph/request"
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "fuzz", "version": "0"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
"""What every request of the newer era carries."""


class Message(NamedTuple):
    """A line, and what may be expected of it."""

    number: int
    line: bytes
    id: Id | None
    """Under which it must be answered, once; None if no answer is certain."""
    tool: str | None = None
    arguments: dict[str, Any] = {}
    """What the line asks of the tool, where the line still says so."""
    cancels: Id | None = None


def message(seed: int, number: int, known: Known, *, modern: bool) -> Message:
    """Return message `number` of a seed."""
    rng = Random(f"{seed}/{number}")  # noqa: S311 -- to be repeated, not to be secret
    kinds = (_call, _protocol, _notification, _odd_request, _garbage)
    make: Callable[[Random, int, Known], tuple[Any, Message]] = rng.choices(kinds, weights=(60, 10, 8, 12, 10))[0]
    request, made = make(rng, number, known)
    if modern and isinstance(request, dict) and rng.random() < 0.97:
        request = _enveloped(request)
    line = request if isinstance(request, bytes) else encoded(request, ascii_only=rng.random() < 0.5)
    if rng.random() < 0.08:
        return Message(number, _mangled(rng, line), None, cancels=made.cancels)
    return made._replace(line=line.replace(b"\n", b" "))


def encoded(value: Any, *, ascii_only: bool = True) -> bytes:
    """Return a value as JSON; a lone surrogate that isn't escaped becomes what no UTF-8 is."""
    raws: list[Raw] = []

    def hold(raw: Raw) -> str:
        raws.append(raw)
        return f"raw:{len(raws) - 1}:"

    text = json.dumps(value, ensure_ascii=ascii_only, default=hold)
    for place, raw in enumerate(raws):
        text = text.replace(f'"raw:{place}:"', raw.text)
    return text.encode(errors="surrogatepass")


def _enveloped(request: dict[str, Any]) -> dict[str, Any]:
    params = request.get("params", {})
    if not isinstance(params, dict) or not isinstance(params.get(META, {}), dict):
        return request
    return request | {"params": params | {META: ENVELOPE | params.get(META, {})}}


# ── requests ────────────────────────────────────────────────────────────────────────────────────────


def _request(rng: Random, number: int, method: str, params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": _id(rng, number), "method": method, "params": params}


def _id(rng: Random, number: int) -> Id:
    """Return an id that no other message has."""
    match rng.randrange(8):
        case 0:
            return f"../../etc/passwd#{number}"
        case 1:
            return f"'; DROP TABLE events; -- {number}"
        case 2:
            return f"\x00\u202e{number}\x1b[31m"
        case 3:
            return -number - 1
        case 4:
            return "i" * 1_000 + str(number)
        case _:
            return number + 1


def _call(rng: Random, number: int, known: Known) -> tuple[Any, Message]:
    """Call a tool, or ask the method of the same operation, with arguments that are right or nearly so."""
    tool = rng.choice(TOOLS)
    given = arguments(tool.params, rng, known)
    if rng.random() < 0.65:
        for _ in range(rng.choice((1, 1, 1, 2, 4))):
            rng.choice(_CHANGES)(rng, given, known)
    slow = tool.name in SLOW or not tool.listed or given.keys() & {"as_of", "asOf"}
    dear = 1 - SELDOM if slow else IDLE if given.keys() & TEXTS else 0.0
    if rng.random() < dear or tool.name == "backup":  # which writes where it is told to
        given["nobody_takes_this"] = True
    if rng.random() < 0.5:
        params: dict[str, Any] = {"name": tool.name, "arguments": given}
        request = _request(rng, number, "tools/call", params)
    else:
        params = dict(given)
        request = _request(rng, number, tool.method, params)
    if rng.random() < 0.15:
        params[META] = _meta(rng, known)
    # The SDK reads `_meta` before anybody is asked, and JSON that can't be read has no id.
    sure = not _unreadable(request)
    return request, Message(number, b"", request["id"] if sure else None, tool.name if sure else None, given)


def _unreadable(value: Any) -> bool:
    """Tell whether a value holds what may not be JSON, or not be text."""
    match value:
        case Raw():
            return True
        case str():
            return any("\ud800" <= letter <= "\udfff" for letter in value)
        case dict():
            return any(_unreadable(part) for pair in value.items() for part in pair)
        case list():
            return any(_unreadable(part) for part in value)
        case _:
            return False


def _meta(rng: Random, known: Known) -> Any:
    match rng.randrange(6):
        case 0:
            return hostile(rng, known)
        case 1:
            return {REQUEST: hostile(rng, known)}
        case 2 if known.keys:
            return {REQUEST: rng.choice(known.keys)}
        case 3:
            return {"progressToken": rng.choice((1, "p", True, None, [], 1.5, "\x00"))}
        case _:
            key = str(UUID(int=rng.getrandbits(128), version=4))
            known.keys = [*known.keys[-20:], key]
            return {REQUEST: key}


def _protocol(rng: Random, number: int, known: Known) -> tuple[Any, Message]:
    """Ask what MCP itself defines, and what it doesn't."""
    method = rng.choice(PROTOCOL)
    params: dict[str, Any] = {}
    match method:
        case "prompts/get":
            params = {
                "name": rng.choice(("memory-inject", "semantic-search", hostile_text(rng, known))),
                "arguments": rng.choice(({"namespace": hostile_text(rng, known)}, {"question": sentence(rng)}, 7)),
            }
        case "resources/read":
            end = rng.choice((known.memory(rng), hostile_text(rng, known)))
            params = {"uri": rng.choice(("context-graph://status", f"context-graph://memory/{end}", end))}
        case "initialize":
            params = {
                "protocolVersion": rng.choice(("2025-06-18", "1.0", hostile_text(rng, known))),
                "capabilities": {},
                "clientInfo": {"name": hostile_text(rng, known), "version": "0"},
            }
    if rng.random() < 0.4:
        params[rng.choice(("name", "uri", "cursor", META, "arguments"))] = hostile(rng, known)
    request = _request(rng, number, method, params)
    return request, Message(number, b"", None if _unreadable(request) else request["id"])


def _notification(rng: Random, number: int, known: Known) -> tuple[Any, Message]:
    """Tell what nobody asked for: cancellations, progress of nothing, and calls that want no answer."""
    cancels: Any = None
    match rng.randrange(5):
        case 0 | 1 | 2:
            # Of a request that may still be under way, by its number or by another type of it.
            earlier = number - rng.randrange(1, 12)
            cancels = rng.choice((earlier + 1, -earlier - 1, str(earlier + 1), f"../../etc/passwd#{earlier}"))
            method, params = "notifications/cancelled", {"requestId": cancels, "reason": hostile_text(rng, known)}
        case 3:
            method, params = "notifications/progress", {"progressToken": 1, "progress": rng.choice((1, "x", None))}
        case _:
            tool = rng.choice(TOOLS)
            method, params = tool.method, arguments(tool.params, rng, known) | {"nobody_takes_this": True}
    if rng.random() < 0.2:
        params = hostile(rng, known)
        cancels = None
    return {"jsonrpc": "2.0", "method": method, "params": params}, Message(number, b"", None, cancels=cancels)


def _odd_request(rng: Random, number: int, known: Known) -> tuple[Any, Message]:
    """Break the frame of a request that is right otherwise."""
    request: Any = _request(rng, number, "search/weight_profiles", {})
    match rng.randrange(8):
        case 0:
            request["id"] = rng.choice((None, True, 1.5, [], {}, hostile(rng, known), Raw("1e400"), 2**80))
        case 1:
            request["jsonrpc"] = rng.choice(("1.0", "2", 2.0, None, hostile(rng, known)))
        case 2:
            request["method"] = rng.choice((hostile(rng, known), "SEARCH/graph", " tools/call", "tools/call\x00"))
        case 3:
            request["params"] = hostile(rng, known)
        case 4:
            request[rng.choice(("result", "error", "extra", "method ", "\x00"))] = hostile(rng, known)
        case 5:
            del request[rng.choice(("jsonrpc", "id", "method", "params"))]
        case 6:
            request = [request] * rng.choice((0, 1, 2, 50))
        case _:
            answer = rng.choice(({"result": hostile(rng, known)}, {"error": {"code": 1, "message": "x"}}))
            request = {"jsonrpc": "2.0", "id": rng.choice((1, "x", None)), **answer}
    return request, Message(number, b"", None)


def _garbage(rng: Random, number: int, known: Known) -> tuple[Any, Message]:
    """Send what is no request at all."""
    match rng.randrange(8):
        case 0:
            line = rng.randbytes(rng.choice((1, 10, 300, 5_000)))
        case 1:
            line = encoded(hostile(rng, known), ascii_only=False)
        case 2:
            line = deep(rng).text.encode()
        case 3:
            line = b" " * rng.choice((0, 1, 100_000)) + b"\r"
        case 4:
            line = b"POST / HTTP/1.1\rHost: localhost\rContent-Length: 5\r"
        case 5:
            line = b'{"jsonrpc": "2.0", "id": 1, "id": 2, "method": "ping", "method": "tools/list", "params": {}}'
        case 6:
            line = ("\ufeff" + json.dumps(_request(rng, number, "ping", {}))).encode("utf-16")
        case _:
            line = json.dumps(hostile_text(rng, known)).encode() * rng.choice((1, 2, 1_000))
    return line, Message(number, b"", None)


# ── what is changed ─────────────────────────────────────────────────────────────────────────────────


def _replace(rng: Random, given: dict[str, Any], known: Known) -> None:
    if given:
        given[rng.choice(list(given))] = hostile(rng, known)


def _leave_out(rng: Random, given: dict[str, Any], _known: Known) -> None:
    if given:
        del given[rng.choice(list(given))]


def _add(rng: Random, given: dict[str, Any], known: Known) -> None:
    names = ("namespace", "id", "metadata", "tags", "__class__", "self", "as_of", "limit", hostile_text(rng, known))
    given[rng.choice(names)] = hostile(rng, known)


def _rename(rng: Random, given: dict[str, Any], _known: Known) -> None:
    """Say a parameter in camelCase, with or without its other name beside it."""
    if given:
        name = rng.choice(list(given))
        head, *rest = name.split("_")
        other = rng.choice((head + "".join(part.title() for part in rest), f"_{name}", name.upper(), f"{name}\x00"))
        given[other] = given[name] if rng.random() < 0.5 else given.pop(name)


def _lengthen(rng: Random, given: dict[str, Any], _known: Known) -> None:
    if texts := [name for name, value in given.items() if isinstance(value, str)]:
        given[rng.choice(texts)] = long_text(rng)


def _spell(rng: Random, given: dict[str, Any], known: Known) -> None:
    if texts := [name for name, value in given.items() if isinstance(value, str)]:
        given[rng.choice(texts)] = hostile_text(rng, known)


def _point_nowhere(rng: Random, given: dict[str, Any], known: Known) -> None:
    for name, value in given.items():
        if isinstance(value, str) and value in known.memories:
            given[name] = rng.choice(
                (unknown_id(rng), value.upper(), f"{{{value}}}", value.replace("-", ""), value[:-1])
            )


_CHANGES = (_replace, _replace, _leave_out, _add, _rename, _lengthen, _spell, _spell, _point_nowhere)


def _mangled(rng: Random, line: bytes) -> bytes:
    """Return a line whose bytes were damaged on the way."""
    at = rng.randrange(len(line) + 1)
    match rng.randrange(6):
        case 0:
            line = line[:at]
        case 1:
            line = (
                line[:at] + rng.choice((b"\xff", b"\xc3\x28", b"\xed\xa0\x80", b"\x00", b'"', b"}", b"\\")) + line[at:]
            )
        case 2:
            line = b"\xef\xbb\xbf" + line
        case 3:
            line += line
        case 4:
            line = line[at:] + line[:at]
        case _:
            line = line[:at] + bytes([rng.randrange(256)]) + line[at + 1 :]
    return line.replace(b"\n", b" ")
