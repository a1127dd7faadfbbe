"""The latest messages of one MCP session, for a client that reconnects and names the last one that it received."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from mcp.server.streamable_http import EventCallback, EventMessage, EventStore

if TYPE_CHECKING:
    from mcp_types import JSONRPCMessage

MAX_MESSAGES = 256
"""Number of messages in a buffer."""
MAX_BYTES = 4 << 20
"""Bytes of all messages in a buffer; the latest message is kept whatever its size."""


class ReplayBuffer(EventStore):
    """The numbered messages of all streams of one session; stream names are unique within a session only."""

    def __init__(self) -> None:
        self._kept: deque[tuple[int, str, JSONRPCMessage | None, int]] = deque()
        self._last = 0
        self._bytes = 0

    async def store_event(self, stream_id: str, message: JSONRPCMessage | None) -> str:
        """Keep a message, or None where a stream begins; return its number."""
        size = len(message.model_dump_json()) if message is not None else 0
        self._last += 1
        self._bytes += size
        self._kept.append((self._last, stream_id, message, size))
        while len(self._kept) > 1 and (len(self._kept) > MAX_MESSAGES or self._bytes > MAX_BYTES):
            self._bytes -= self._kept.popleft()[-1]
        return str(self._last)

    async def replay_events_after(self, last_event_id: str, send_callback: EventCallback) -> str | None:
        """Send the later messages of the same stream; return the stream, or None if the message isn't kept."""
        kept = list(self._kept)
        place = next((place for place, one in enumerate(kept) if str(one[0]) == last_event_id), None)
        if place is None:
            return None
        stream = kept[place][1]
        for number, other, message, _ in kept[place + 1 :]:
            if other == stream and message is not None:
                await send_callback(EventMessage(message, str(number)))
        return stream
