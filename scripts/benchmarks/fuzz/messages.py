"""Numbered lines of JSON-RPC from a seed: mostly almost right, some broken, some no JSON at all."""

import json
from random import Random
from typing import Any, NamedTuple

from benchmarks.fuzz.drafts import META, Drafter
from benchmarks.fuzz.values import Raw

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


def generate(seed: int, numbers: range, pool: list[dict[str, Any]]) -> list[Message]:
    """Return messages of one conversation, made from its pool of examples."""
    return [_message(Random(f"{seed}/{number}"), number, pool) for number in numbers]


def _message(rng: Random, number: int, pool: list[dict[str, Any]]) -> Message:
    drafter = Drafter(rng, pool, number)
    draft = drafter.draft()
    request = draft.request
    if is_modern(number) and isinstance(request, dict) and rng.random() < 0.97:
        params = request.get("params", {})
        if isinstance(params, dict) and isinstance(params.get(META, {}), dict):
            request = request | {"params": params | {META: ENVELOPE | params.get(META, {})}}
    line = request if isinstance(request, bytes) else encode(request, ascii_only=rng.random() < 0.5)
    if rng.random() < 0.08:
        return Message(number, _damage(rng, line).replace(b"\n", b" "), cancels=draft.cancels)
    line = line.replace(b"\n", b" ")
    if not draft.answered:
        return Message(number, line, cancels=draft.cancels)
    return Message(number, line, drafter.id, draft.tool, draft.arguments)


def encode(value: Any, *, ascii_only: bool) -> bytes:
    """Return a value as JSON; a lone surrogate that isn't escaped becomes invalid UTF-8."""
    raws: list[Raw] = []

    def hold(raw: Raw) -> str:
        raws.append(raw)
        return f"raw:{len(raws) - 1}:"

    text = json.dumps(value, ensure_ascii=ascii_only, default=hold)
    for place, raw in enumerate(raws):
        text = text.replace(f'"raw:{place}:"', raw.text)
    return text.encode(errors="surrogatepass")


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
