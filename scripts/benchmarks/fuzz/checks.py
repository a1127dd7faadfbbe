"""Checks of every line that the server answers, whatever it was sent."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from actors.proxy.namespaces import EVERYWHERE
from benchmarks.fuzz.messages import Message
from benchmarks.fuzz.values import Known

CODES = frozenset(
    {-32700, -32600, -32601, -32602}  # JSON-RPC's own
    | {-32001, -32004, -32005, -32006, -32010}  # this server's
    | {-32022}  # MCP 2026-07-28: a version of the protocol that isn't served
)
"""Codes that an error may have. -32603 is not among them: it reports a defect of the server."""

UNKNOWN = Message(-1, b"")
"""Stands for the message of a failure that belongs to none."""
EXCERPT = 4_000
"""Characters of a line in a report."""
LONGEST_ERROR = 8_192
"""Most characters of an error: a megabyte sent is not echoed."""

SECRETS = re.compile(
    r"Traceback|\.py\b|site-packages|\b[A-Z][A-Za-z]+(?:Error|Exception|Fault)\b|"
    r"\b(?:SELECT|INSERT|UPDATE|CREATE|ATTACH)\b|duckdb|msgspec|pydantic|pykka"
)
"""Internals that no error may show, unless the request contained them."""

STORING = frozenset({"store_memory", "inject_context", "memory_inject", "memory_inject_batch"})
TEXT_FIELDS = ("content", "node_name")
ID_FIELDS = ("fingerprintId", "memory_id", "memoryId", "id", "node_id", "survivor")


class Failure(msgspec.Struct, frozen=True):
    """A failed check, with the message and the answer."""

    what: str
    number: int
    line: str
    answer: str = ""


class Checker:
    """The state of the conversations with one store: open requests, acknowledged memories, failed checks."""

    def __init__(self, known: Known, folder: Path) -> None:
        self.known = known
        self.failures: list[Failure] = []
        self.codes: Counter[int | str] = Counter()
        self.acknowledged: dict[str, tuple[str, str]] = {}
        """Namespace and text of each acknowledged memory, by id."""
        self.sentinel = ""
        """Id of the memory that is retrieved after every burst."""
        self._folder = str(folder)
        self._open: dict[str, Message] = {}
        self._uncertain = 0
        """Lines that may be answered or not, under any id."""

    @property
    def waiting(self) -> bool:
        """Whether a certain answer is missing."""
        return bool(self._open)

    def sent(self, message: Message) -> None:
        """Record a line that was sent."""
        if message.id is None:
            self._uncertain += 1
        else:
            self._open[json.dumps(message.id)] = message
        if message.cancels is not None:
            # In the SDK "7" cancels 7 too; either may have been answered before.
            for key in (json.dumps(message.cancels), str(message.cancels)):
                self._uncertain += self._open.pop(key, None) is not None

    def timed_out(self) -> None:
        """Fail every open request."""
        for message in self._open.values():
            self._fail("no answer", message)
        self._open = {}

    def received(self, line: str) -> dict[str, Any] | None:
        """Check a line, and return it if it is an answer."""
        try:
            answer = json.loads(line, parse_constant=_refuse_constant)
            line.encode()
        except (ValueError, UnicodeEncodeError) as error:
            return self.fail(f"no JSON: {error}", line)
        if not isinstance(answer, dict) or answer.get("jsonrpc") != "2.0":
            return self.fail("no JSON-RPC 2.0", line)
        if "method" in answer:
            if "id" in answer or not str(answer["method"]).startswith("notifications/"):
                self.fail("the server sends a request", line)
            return None
        if "id" not in answer or ("result" in answer) == ("error" in answer):
            return self.fail("neither result nor error, or both, or without an id", line)
        message = self._open.pop(json.dumps(answer["id"]), None)
        if message is None:
            self._uncertain -= 1
            if self._uncertain < 0:
                self.fail("more answers than requests", line)
        error = answer.get("error") or _tool_error(answer["result"])
        self.codes["ok" if error is None else error.get("code", "no code")] += 1
        if error is not None:
            self._check_error(error, message or UNKNOWN, line)
        elif message is not None and message.tool is not None:
            self._check_result(message, answer["result"], line)
        return answer

    def fail(self, what: str, answer: str = "") -> None:
        """Record a failure that belongs to no single message."""
        self._fail(what, UNKNOWN, answer)

    def open_lines(self) -> Iterator[str]:
        """Yield the lines without an answer."""
        for message in self._open.values():
            yield f"{message.number}: {message.line.decode(errors='backslashreplace')[:EXCERPT]}"

    def _check_error(self, error: dict[str, Any], message: Message, line: str) -> None:
        if error.get("code") not in CODES:
            self._fail("an undocumented code", message, line)
        if not isinstance(error.get("message"), str):
            self._fail("an error without a message", message, line)
        if len(json.dumps(error)) > LONGEST_ERROR:
            self._fail("an error as long as its request", message, line)
        if message is UNKNOWN:
            return  # an echo can't be told from a leak
        sent = message.line.decode(errors="replace") + repr(message.arguments)
        data = error.get("data") or {}
        if isinstance(data, dict):  # the reason of an erasure is what a client gave before
            data = {name: value for name, value in data.items() if name != "reason"}
        shown = json.dumps([error.get("message"), data], ensure_ascii=False)
        leaks = [found for found in SECRETS.findall(shown) if found not in sent]
        if leaks or (self._folder in shown and self._folder not in sent):
            self._fail(f"shows {leaks or self._folder}", message, line)

    def _check_result(self, message: Message, result: dict[str, Any], line: str) -> None:
        structured = result.get("structuredContent")
        if structured is not None:
            if json.loads(result["content"][0]["text"]) != structured:
                self._fail("the text differs from the structure", message, line)
            if "_cognitive_pulse" not in structured:
                self._fail("no pulse", message, line)
        answer = result if structured is None else structured
        for kind, field in (("cursor", "next_cursor"), ("run", "run_id")):
            if isinstance(answer.get(field), str):
                self.known.add(kind, answer[field])
        if message.tool in STORING:
            self._acknowledge(message.arguments, answer)
        namespace = message.arguments.get("namespace")
        if isinstance(namespace, str) and namespace != EVERYWHERE:
            for text, memory in _shown(answer):
                if self.known.namespaces.get(memory, namespace) != namespace:
                    where = self.known.namespaces[memory]
                    self._fail(f"shows {memory} of namespace {where!r}: {text}", message, line)

    def _acknowledge(self, given: dict[str, Any], answer: dict[str, Any]) -> None:
        batch = given.get("items", given.get("contents"))
        pairs = [(given, answer)]
        if isinstance(batch, list):
            pairs = [(batch[report["index"]], report) for report in answer["results"] if report["success"]]
        for item, report in pairs:
            memory: str = report["fingerprintId"] if "fingerprintId" in report else report["memory_id"]
            content = item if isinstance(item, str) else item["content"]
            namespace = "default" if isinstance(item, str) else item.get("namespace", "default")
            self.acknowledged.setdefault(memory, (namespace, content))
            if memory not in self.known.namespaces:
                self.known.add("memory", memory)
            self.known.namespaces.setdefault(memory, namespace)

    def _fail(self, what: str, message: Message, answer: str = "") -> None:
        line = message.line.decode(errors="backslashreplace")
        self.failures.append(Failure(what, message.number, line[:EXCERPT], answer[:EXCERPT]))


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _tool_error(result: Any) -> dict[str, Any] | None:
    if isinstance(result, dict) and result.get("isError"):
        return (result.get("structuredContent") or {}).get("error", {})
    return None


def _shown(answer: Any) -> Iterator[tuple[str, str]]:
    """Yield text and id of every memory whose text an answer shows, at any depth."""
    match answer:
        case dict():
            text = next((answer[name] for name in TEXT_FIELDS if name in answer), None)
            memory = next((answer[name] for name in ID_FIELDS if isinstance(answer.get(name), str)), None)
            if isinstance(text, str) and memory is not None:
                yield text, memory
            for part in answer.values():
                yield from _shown(part)
        case list():
            for part in answer:
                yield from _shown(part)
