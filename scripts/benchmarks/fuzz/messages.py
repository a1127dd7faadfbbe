"""Numbered lines of JSON-RPC from a seed: mostly almost right, some broken, some no JSON at all.

They are made of examples that Hypothesis drew: calls, MCP methods, notifications, broken frames.
"""

import json
from random import Random
from typing import Any, NamedTuple
from uuid import UUID

import hypothesis
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

from actors.api.tools.agent_tools import TOOLS
from actors.proxy.endpoint import REQUEST_KEY
from benchmarks.fuzz.values import HOSTILE, HOSTILE_TEXT, LONG_TEXT, arguments, encode

Example = dict[str, Any]

IDLE = 0.8
"""Share of the calls with text for the model that carry an unknown parameter: they are refused before the model runs,
which makes a message a thousand times cheaper."""
SELDOM = 0.9
"""The same for slow tools and for questions about the past."""
TEXTS = frozenset({"content", "query", "items", "start_concept"})
SLOW = frozenset({"consolidate_memories", "trigger_dream", "discover_goals", "trigger_drift_correction"})
"""Tools that look at every memory."""
UNKNOWN_PARAMETER = {"nobody_takes_this": True}
PROTOCOL = """initialize ping tools/list prompts/list prompts/get resources/list resources/templates/list resources/read
resources/subscribe completion/complete logging/setLevel sampling/createMessage server/discover tasks/list
notifications/initialized rpc.discover __init__""".split()
META = "_meta"
NAMES = ("namespace", "id", "metadata", "tags", "__class__", "self", "as_of", "limit")
EXAMPLES, VALUES = 24, 15
"""Examples that one run of Hypothesis draws, and values of each kind in one of them."""

IDS = (
    lambda number: number + 1,
    lambda number: -number - 1,
    lambda number: f"../../etc/passwd#{number}",
    lambda number: f"'; DROP TABLE events; -- {number}",
    lambda number: f"\x00\u202e{number}\x1b[31m",
    lambda number: "i" * 1_000 + str(number),
    lambda number: str(number + 1),
)
"""Forms of an id; only cancellations use the last, which names the same request as the first."""

Id = str | int

CONVERSATION = 1_000
"""Messages of one client; every second client speaks the newer protocol."""
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "fuzz", "version": "0"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
"""Metadata of every request of the newer protocol."""


class Message(NamedTuple):
    """A line, and what is certain about its answer."""

    number: int
    line: bytes
    id: Id | None = None
    """The id of its one certain answer; None if no answer is certain."""
    tool: str | None = None
    arguments: dict[str, Any] = {}
    cancels: Id | None = None


def is_modern(number: int) -> bool:
    """Tell whether the client of a message speaks the newer protocol."""
    return number // CONVERSATION % 2 == 1


SETTINGS = settings(
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
)
KINDS = {"hostile": HOSTILE, "text": HOSTILE_TEXT, "long": LONG_TEXT}
POOL = st.fixed_dictionaries(
    {kind: st.lists(values, min_size=VALUES, max_size=VALUES) for kind, values in KINDS.items()}
    | {tool.name: arguments(tool.params) for tool in TOOLS}
)
"""Values by kind, and arguments that the schema of each tool allows."""


def draw_pool(seed: int) -> list[Example]:
    """Return the examples from which a conversation is made."""
    pool: list[Example] = []

    @hypothesis.seed(seed)
    @settings(SETTINGS, max_examples=EXAMPLES)
    @hypothesis.given(POOL)
    def collect(example: Example) -> None:
        pool.append(example)

    collect()
    return pool


def generate(seed: int, numbers: range, pool: list[Example]) -> list[Message]:
    """Return messages of one conversation, made from its pool of examples."""
    return [Maker(Random(f"{seed}/{number}"), pool, number).make() for number in numbers]


class Maker:
    """Makes one message from a pool of examples; the same number makes the same message again.

    Hypothesis draws only the values. Of whole messages it makes runs of near copies, since it mutates its last example,
    and it takes five times as long (11 s instead of 2.2 for a thousand).
    """

    def __init__(self, rng: Random, pool: list[Example], number: int) -> None:
        self._rng = rng
        self._pool = pool
        self._number = number
        self.id = IDS[rng.choice((0, 0, 0, 0, 1, 2, 3, 4, 5))](number)

    def make(self) -> Message:
        """Return a message of any kind."""
        kinds = (self._call, self._protocol, self._notification, self._broken_frame, self._garbage)
        return self._rng.choices(kinds, weights=(60, 10, 8, 12, 10))[0]()

    def _message(
        self,
        request: Any,
        *,
        answered: bool = False,
        tool: str | None = None,
        arguments: dict[str, Any] | None = None,
    ) -> Message:
        """Encode a JSON value, or bytes that are none; some lines are damaged, after which no answer is certain."""
        rng = self._rng
        if is_modern(self._number) and isinstance(request, dict) and rng.random() < 0.97:
            params = request.get("params", {})
            if isinstance(params, dict) and isinstance(params.get(META, {}), dict):
                request = request | {"params": params | {META: ENVELOPE | params.get(META, {})}}
        line = request if isinstance(request, bytes) else encode(request, ascii_only=rng.random() < 0.5)
        if damaged := rng.random() < 0.08:
            line = _damage(rng, line)
        line = line.replace(b"\n", b" ")
        # The SDK validates `_meta` before any handler runs, and unreadable JSON has no id.
        if damaged or not answered or not _readable(request):
            return Message(self._number, line)
        return Message(self._number, line, self.id, tool, arguments or {})

    def _value(self, kind: str = "hostile") -> Any:
        return self._rng.choice(self._rng.choice(self._pool)[kind])

    def _arguments(self, tool: str) -> dict[str, Any]:
        return dict(self._rng.choice(self._pool)[tool])

    def _request(self, method: str, params: Any) -> dict[str, Any]:
        return {"jsonrpc": "2.0", "id": self.id, "method": method, "params": params}

    def _call(self) -> Message:
        """Call a tool, or the method of the same operation, with arguments that are right or nearly so."""
        rng, tool = self._rng, self._rng.choice(TOOLS)
        given = self._arguments(tool.name)
        for _ in range(rng.choice((0, 0, 1, 1, 2, 4))):
            self._change(given)
        slow = tool.name in SLOW or not tool.listed or given.keys() & {"as_of", "asOf"}
        idle = SELDOM if slow else IDLE if given.keys() & TEXTS else 0
        if rng.random() < idle or tool.name == "backup":  # a backup writes to any folder of its user
            given |= UNKNOWN_PARAMETER
        if rng.random() < 0.5:
            request = self._request("tools/call", {"name": tool.name, "arguments": given})
        else:
            request = self._request(tool.method, dict(given))
        if rng.random() < 0.15:
            key = str(UUID(int=rng.randrange(500), version=4))  # few keys, so that some are used again
            token = rng.choice((1, "p", True, None, [], 1.5, "\x00"))
            metadata = ({REQUEST_KEY: key}, {REQUEST_KEY: self._value()}, {"progressToken": token}, self._value())
            request["params"][META] = rng.choice(metadata)
        return self._message(request, answered=True, tool=tool.name, arguments=given)

    def _change(self, given: dict[str, Any]) -> None:
        """Change the arguments of a call in one way, if they have what it applies to."""
        rng = self._rng
        change = rng.choice(("replace", "replace", "leave out", "add", "rename", "lengthen", "spell", "unknown id"))
        if change == "add":
            given[rng.choice((*NAMES, self._value("text")))] = self._value()
            return
        anything = change in {"replace", "leave out", "rename"}
        names = [name for name, value in given.items() if anything or isinstance(value, str)]
        if not names:
            return
        name = rng.choice(names)
        match change:
            case "replace":
                given[name] = self._value()
            case "leave out":
                del given[name]
            case "rename":
                head, *rest = name.split("_")
                camel = head + "".join(part.title() for part in rest)
                value = given[name] if rng.random() < 0.5 else given.pop(name)
                given[rng.choice((camel, f"_{name}", name.upper(), f"{name}\x00"))] = value
            case "lengthen":
                given[name] = self._value("long")
            case "spell":
                given[name] = self._value("text")
            case _:
                unknown = str(UUID(int=rng.getrandbits(128), version=4))
                given[name] = rng.choice((unknown, f"{{{given[name]}}}", given[name][:-1], given[name] + "0"))

    def _protocol(self) -> Message:
        """Call a method that MCP defines, or almost."""
        method = self._rng.choice(PROTOCOL)
        params: dict[str, Any] = {}
        if method == "initialize":
            client = {"name": self._value("text"), "version": "0"}
            params = {"protocolVersion": self._value("text"), "capabilities": {}, "clientInfo": client}
        elif method == "resources/read":
            end = self._rng.choice(("{{memory:7}}", self._value("text")))
            params = {"uri": self._rng.choice(("context-graph://status", f"context-graph://memory/{end}", end))}
        elif method == "prompts/get":
            params = {"name": "memory-inject", "arguments": self._value()}
        if self._rng.random() < 0.4:
            params[self._rng.choice(("name", "uri", "cursor", META, "arguments"))] = self._value()
        return self._message(self._request(method, params), answered=True)

    def _notification(self) -> Message:
        """Send a notification: mostly a cancellation, sometimes a call that expects no answer."""
        rng = self._rng
        if rng.random() < 0.2:
            tool = rng.choice(TOOLS)
            params = rng.choice((self._arguments(tool.name) | UNKNOWN_PARAMETER, self._value()))
            method = rng.choice((tool.method, "notifications/progress", "notifications/cancelled"))
            return self._message({"jsonrpc": "2.0", "method": method, "params": params})
        # A request that may still be under way, also by an id of another type.
        cancels = IDS[rng.choice((0, 1, 2, 6))](self._number - rng.randrange(1, 12))
        params = {"requestId": cancels, "reason": self._value("text")}
        request = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
        return self._message(request)._replace(cancels=cancels)

    def _broken_frame(self) -> Message:
        """Break the frame of a request that is right otherwise."""
        rng = self._rng
        request: Any = self._request("search/weight_profiles", {})
        match rng.randrange(4):
            case 0:
                del request[rng.choice(list(request))]
            case 1:
                request = [request] * rng.choice((0, 1, 2, 50))
            case _:
                for field in rng.sample((*request, "result", "error", "extra", "\x00"), rng.choice((1, 1, 2))):
                    request[field] = self._value()
        return self._message(request)

    def _garbage(self) -> Message:
        """Send what is no request at all."""
        rng = self._rng
        garbage = (
            rng.randbytes(rng.choice((1, 10, 300, 5_000))),
            self._value(),
            rng.choice((b" ", b'"x"', b"[{")) * rng.choice((1, 100, 30_000)),
            b'{"jsonrpc": "2.0", "id": 1, "id": 2, "method": "ping", "method": "tools/list", "params": {}}',
            '\ufeff{"jsonrpc": "2.0", "id": 1, "method": "ping"}'.encode("utf-16"),
        )
        return self._message(rng.choice(garbage))


def _damage(rng: Random, line: bytes) -> bytes:
    """Damage a line as a broken connection might."""
    at = rng.randrange(len(line) + 1)
    piece = rng.choice((b"\xff", b"\xc3\x28", b"\xed\xa0\x80", b"\x00", b'"', b"}", b"\\", rng.randbytes(1)))
    damaged = (
        line[:at],
        line[:at] + piece + line[at:],
        line[:at] + piece + line[at + 1 :],
        b"\xef\xbb\xbf" + line,
        line + line,
        line[at:] + line[:at],
    )
    return rng.choice(damaged)


def _readable(value: Any) -> bool:
    """Tell whether a value is certainly valid JSON and valid text."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except (TypeError, UnicodeEncodeError):  # for `Raw`, and for lone surrogates
        return False
    return True
