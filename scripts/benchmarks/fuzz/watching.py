"""What must hold for every line that a server answers, whatever it was sent."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.fuzz.hostile import Known
from benchmarks.fuzz.messages import Id, Message

CODES = frozenset(
    {-32700, -32600, -32601, -32602}  # JSON-RPC's own
    | {-32001, -32004, -32005, -32006, -32010}  # the seeds'
    | {-32022}  # MCP 2026-07-28: a version of the protocol that isn't served
)
"""What may go wrong. -32603 isn't among them: it says that a mistake of ours went wrong."""

LONGEST_ERROR = 8_192
"""Characters of an error: whoever sends a megabyte gets no megabyte back."""

SECRETS = re.compile(
    r"Traceback|\.py\b|site-packages|\b[A-Z][A-Za-z]+(?:Error|Exception|Fault)\b|"
    r"\b(?:SELECT|INSERT|UPDATE|CREATE|ATTACH)\b|duckdb|msgspec|pydantic|pykka"
)
"""What no agent needs to know, unless it said so itself."""

KEPT = frozenset({"store_memory", "inject_context", "memory_inject", "memory_inject_batch"})
SHOWS = frozenset({"content", "node_name"})


class Failure(msgspec.Struct, frozen=True):
    """Something that should not have happened, and the message that it came with."""

    what: str
    number: int
    line: str
    answer: str = ""


class Watch:
    """One conversation: what was sent and is still to be answered, and what was wrong with the answers."""

    def __init__(self, known: Known, folder: Path) -> None:
        self.known = known
        self.failures: list[Failure] = []
        self.codes: Counter[int | str] = Counter()
        self.acknowledged: dict[str, tuple[str, str]] = {}
        """Namespace and text of each memory whose storing was acknowledged, by its id."""
        self.sentinel = ""
        """Id of the memory that is asked for again and again."""
        self._folder = str(folder)
        self._open: dict[str, Message] = {}
        self._unsure = 0
        """Lines that may be answered or not, and under whatever id."""

    @property
    def waiting(self) -> bool:
        """Whether an answer is still due."""
        return bool(self._open)

    def sent(self, message: Message) -> None:
        """Note a line that was sent."""
        if message.id is None:
            self._unsure += 1
        else:
            self._open[_key(message.id)] = message
        if message.cancels is not None:
            # As the SDK does, "7" cancels 7 too; either may have been answered before.
            for key in (json.dumps(message.cancels), str(message.cancels)):
                self._unsure += self._open.pop(key, None) is not None

    def unanswered(self) -> None:
        """Note what was waited for in vain, and wait no longer."""
        for message in self._open.values():
            self._fail("no answer", message, "")
        self._open = {}

    def received(self, line: str) -> dict[str, Any] | None:
        """Check an answer, and return it if it is one."""
        blank = Message(-1, b"", None)
        try:
            answer = json.loads(line, parse_constant=_no_constant)
            line.encode()
        except (ValueError, UnicodeEncodeError) as error:
            self._fail(f"no JSON: {error}", blank, line)
            return None
        if not isinstance(answer, dict) or answer.get("jsonrpc") != "2.0":
            self._fail("no JSON-RPC 2.0", blank, line)
            return None
        if "method" in answer:
            if "id" in answer or not str(answer["method"]).startswith("notifications/"):
                self._fail("the server asks", blank, line)
            return None
        if "id" not in answer or ("result" in answer) == ("error" in answer):
            self._fail("neither result nor error, or both, or without an id", blank, line)
            return None
        message = self._open.pop(_key(answer["id"]), None)
        if message is None:
            self._unsure -= 1
            if self._unsure < 0:
                self._fail("more answers than questions", blank, line)
        error = answer.get("error") or _tool_error(answer["result"])
        self.codes["ok" if error is None else error.get("code", "no code")] += 1
        if error is not None:
            self._check_error(error, message or blank, line)
        elif message is not None and message.tool is not None:
            self._check_result(message, answer["result"], line)
        return answer

    # ── what is looked at ───────────────────────────────────────────────────────────────────────────

    def _check_error(self, error: dict[str, Any], message: Message, line: str) -> None:
        if error.get("code") not in CODES:
            self._fail("an undocumented code", message, line)
        if not isinstance(error.get("message"), str):
            self._fail("an error without a message", message, line)
        if len(json.dumps(error)) > LONGEST_ERROR:
            self._fail("an error as long as what caused it", message, line)
        if message.number < 0:
            return  # what it would echo isn't known
        said = message.line.decode(errors="replace")
        said += repr(message.arguments)
        # Why a memory was erased is what somebody said before.
        data = error.get("data") or {}
        data = {name: value for name, value in data.items() if name != "reason"} if isinstance(data, dict) else data
        told = json.dumps([error.get("message"), data], ensure_ascii=False)
        leaks = [found for found in SECRETS.findall(told) if found not in said]
        if leaks or (self._folder in told and self._folder not in said):
            self._fail(f"tells {leaks or self._folder}", message, line)

    def _check_result(self, message: Message, result: dict[str, Any], line: str) -> None:
        structured = result.get("structuredContent")
        if structured is not None:
            if json.loads(result["content"][0]["text"]) != structured:
                self._fail("the text says something else than the structure", message, line)
            if "_cognitive_pulse" not in structured:
                self._fail("no pulse", message, line)
        answer = result if structured is None else structured
        self._learn(answer)
        if message.tool in KEPT:
            self._keep(message, answer)
        namespace = message.arguments.get("namespace")
        if isinstance(namespace, str):
            for one, memory in _shown(answer):
                if self.known.memories.get(memory, namespace) != namespace:
                    self._fail(f"shows {memory} of {self.known.memories[memory]!r}: {one}", message, line)

    def _keep(self, message: Message, answer: dict[str, Any]) -> None:
        given = message.arguments
        batch = given.get("items", given.get("contents"))
        pairs = (
            [(batch[report["index"]], report) for report in answer["results"] if report["success"]]
            if isinstance(batch, list)
            else [(given, answer)]
        )
        for item, report in pairs:
            memory: str = report["fingerprintId"] if "fingerprintId" in report else report["memory_id"]
            content = item if isinstance(item, str) else item["content"]
            namespace = "default" if isinstance(item, str) else item.get("namespace", "default")
            self.acknowledged.setdefault(memory, (namespace, content))
            self.known.memories.setdefault(memory, namespace)

    def _learn(self, answer: dict[str, Any]) -> None:
        if isinstance(cursor := answer.get("next_cursor"), str):
            self.known.cursors = [*self.known.cursors[-20:], cursor]
        if isinstance(run := answer.get("run_id"), str):
            self.known.runs = [*self.known.runs[-20:], run]

    def _fail(self, what: str, message: Message, answer: str) -> None:
        line = message.line.decode(errors="backslashreplace")
        self.failures.append(Failure(what, message.number, line[:4_000], answer[:4_000]))

    def under_way(self) -> Iterator[str]:
        """Yield the lines that aren't answered yet."""
        for message in self._open.values():
            yield f"{message.number}: {message.line.decode(errors='backslashreplace')[:4_000]}"

    def fail(self, what: str, answer: str = "") -> None:
        """Note what is wrong with no single message."""
        self._fail(what, Message(-1, b"", None), answer)


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _tool_error(result: Any) -> dict[str, Any] | None:
    if isinstance(result, dict) and result.get("isError"):
        return (result.get("structuredContent") or {}).get("error", {})
    return None


def _key(found: Id | None) -> str:
    return json.dumps(found)


def _shown(answer: Any) -> Iterator[tuple[str, str]]:
    """Yield text and id of every memory whose text an answer shows, however deep."""
    match answer:
        case dict():
            text = next((answer[name] for name in SHOWS if name in answer), None)
            memory = next((answer[name] for name in _IDS if isinstance(answer.get(name), str)), None)
            if isinstance(text, str) and memory is not None:
                yield text, memory
            for part in answer.values():
                yield from _shown(part)
        case list():
            for part in answer:
                yield from _shown(part)


_IDS = ("fingerprintId", "memory_id", "memoryId", "id", "node_id", "survivor")
