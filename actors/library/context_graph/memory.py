"""`Memory` and `AsyncMemory`: the operations that a program needs, and `call` for all others."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime
from functools import partial, wraps
from os import PathLike
from pathlib import Path
from typing import Any, Concatenate, NamedTuple, ParamSpec, Self, TypeVar

from actors.runtime.types import JsonObject
from context_graph.transports import CLOSED, ContextGraphError, HttpTransport, SocketTransport

P = ParamSpec("P")
R = TypeVar("R")

TIMEOUT = 300.0
"""Seconds for one call: the first one may wait until the models are loaded."""
MENDABLE = (-32602, -32010)
"""Codes of an invalid argument and of an unknown memory: the agent that chose them can choose others."""


class Found(NamedTuple):
    """A memory that a search found."""

    id: str
    content: str
    similarity: float
    """To the question, from 0 to 1."""
    details: Mapping[str, Any]
    """All fields of the result."""


class Memory:
    """A store, from any thread, and from processes that fork: each opens a connection of its own.

    Args:
        data: Its folder on this machine; None for that of `CONTEXT_GRAPH_DATA`, or the platform's default.
        url: Of a server instead, with `/mcp` at its end or without.
        key: For the server.
        namespace: Of calls that name none.
        timeout: Seconds for one call; a deep consolidation of a large store, for instance, takes more.

    Raises:
        ContextGraphError: The hub can't be started.
        ValueError: A key without a URL, or the reverse; an empty `data`; a key with characters that are in none.
    """

    def __init__(
        self,
        data: str | PathLike[str] | None = None,
        *,
        url: str | None = None,
        key: str | None = None,
        namespace: str | None = None,
        timeout: float = TIMEOUT,
    ) -> None:
        if (url is None) != (key is None):
            raise ValueError("a server needs both url and key")
        self._open: Callable[[], SocketTransport | HttpTransport]
        if url is not None and key is not None:
            if data is not None:
                raise ValueError("give either the folder of a store or the url of a server")
            self._open = partial(HttpTransport, url, key, namespace, timeout)
        else:
            from actors.proxy.serve_command import data_folder

            if data is not None and not os.fspath(data):  # as a path, it would be the current folder
                raise ValueError("data is empty: name a folder, or leave it out")
            self._open = partial(SocketTransport, data_folder(Path(data) if data else None), namespace, timeout)
        self._transport = self._open()
        self._process = os.getpid()
        self._closed = False

    def store(
        self,
        content: str,
        *,
        rationale: str | None = None,
        tags: str | Sequence[str] = (),
        supersedes: str | Sequence[str] = (),
        link_to: str | Sequence[str] = (),
        session: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        created_at: date | str | None = None,
        **more: Any,
    ) -> str:
        """Store a text and return its id; further arguments are those of `store_memory`.

        Args:
            content: The text.
            rationale: Why it is worth remembering.
            tags: One, or several.
            supersedes: The id of a memory that it corrects, or several ids.
            link_to: The id of a related memory, or several ids.
            session: The conversation that it is a turn of.
            metadata: Further fields.
            created_at: When it was said; now by default. A `datetime` without a zone is local, an ISO 8601 text without
                one is of the hub's machine.
            **more: Further arguments of `store_memory`.

        Raises:
            ContextGraphError: It can't be stored.
            RuntimeError: The store is closed.
        """
        answer = self.call(
            "store_memory",
            content=content,
            **_given(
                rationale=rationale,
                tags=_several(tags),
                supersedes=_several(supersedes),
                link_to=_several(link_to),
                session=session,
                metadata=None if metadata is None else dict(metadata),
                created_at=created_at,
                **more,
            ),
        )
        return answer["fingerprintId"]

    def search(
        self, query: str, *, limit: int = 10, tags: str | Sequence[str] = (), session: str | None = None, **more: Any
    ) -> list[Found]:
        """Return the memories that answer a question, the best first; further arguments are those of `search_graph`.

        Args:
            query: A question or keywords.
            limit: How many to return at most, 1 to 100; `top_k` of `search_graph`.
            tags: One that they have, or several, all of which they have.
            session: The conversation that they are turns of.
            **more: Further arguments of `search_graph`.

        Raises:
            ContextGraphError: It can't be answered.
            RuntimeError: The store is closed.
        """
        given = _given(tags=_several(tags), session=session, **{"top_k": limit} | more)
        answer = self.call("search_graph", query=query, **given)
        return [Found(one["fingerprintId"], one["content"], one["similarity"], one) for one in answer["results"]]

    def get(self, memory: str) -> JsonObject:
        """Return everything that is stored of a memory."""
        return self.call("memory_retrieve", id=memory)

    def forget(self, memory: str, *, reason: str | None = None, erase: bool = False) -> None:
        """Take a memory out of every search, which `restore` undoes; with `erase`, destroy it."""
        self.call("memory_delete", id=memory, soft=not erase, **_given(reason=reason))

    def restore(self, memory: str) -> None:
        """Undo `forget`."""
        self.call("memory_restore", id=memory)

    def call(self, tool: str, /, **arguments: Any) -> JsonObject:
        """Call any tool by its name, with arguments of JSON, dates and times, and return its answer."""
        if self._closed:
            raise RuntimeError(CLOSED)
        if os.getpid() != self._process:  # after a fork this would read answers to the parent
            self._transport, self._process = self._open(), os.getpid()
        return self._transport.call(tool, json.loads(json.dumps(arguments, default=_iso_time)))

    def tools(self) -> list[Callable[..., Any]]:
        """Return functions for an agent, with types and docstrings: `remember`, `recall` and `forget_memory`.

        Frameworks that make tools of functions take them as they are, LangGraph as `tools=memory.tools()`, the OpenAI
        Agents SDK as `tools=[function_tool(one) for one in memory.tools()]`. Wrong arguments are told to the model.
        """

        @_telling
        def remember(content: str, reason: str) -> str:
            """Store a fact, a decision or a preference for later conversations, and return its id.

            Args:
                content: What to remember, as a sentence that can be understood alone.
                reason: Why it is worth remembering.
            """
            return self.store(content, rationale=reason)

        @_telling
        def recall(question: str, limit: int = 5) -> list[str]:
            """Find what was remembered, before answering about anything said, decided or learned earlier.

            Args:
                question: A question or keywords.
                limit: How many memories to return at most, 1 to 100.
            """
            return [f"{found.id}: {found.content}" for found in self.search(question, limit=limit)]

        @_telling
        def forget_memory(memory_id: str, reason: str) -> str:
            """Take a memory out of every search, when it is wrong or the user asks to forget it.

            Args:
                memory_id: The id that recall returned.
                reason: Why.
            """
            self.forget(memory_id, reason=reason)
            return f"{memory_id} is forgotten"

        return [remember, recall, forget_memory]

    def close(self) -> None:
        """Close the connection, after which a call is a `RuntimeError`; the store stays."""
        self._closed = True
        if os.getpid() == self._process:  # else it is the parent's, and the fork may have copied a lock that is held
            self._transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


def _in_thread(
    method: Callable[Concatenate[Memory, P], R],
) -> Callable[Concatenate[AsyncMemory, P], Coroutine[object, object, R]]:
    """Return a method of `AsyncMemory` that does the call of `Memory` in a thread."""

    @wraps(method)
    async def call(own: AsyncMemory, /, *arguments: P.args, **more: P.kwargs) -> R:  # `get` has an argument `memory`
        return await asyncio.to_thread(method, own.opened, *arguments, **more)

    return call


def _telling(tool: Callable[P, R]) -> Callable[P, R | str]:
    """Return a tool that answers with what is wrong where the model chose its arguments badly."""

    @wraps(tool)
    def call(*arguments: P.args, **more: P.kwargs) -> R | str:
        try:
            return tool(*arguments, **more)
        except ContextGraphError as error:
            if error.code not in MENDABLE:
                raise
            return f"Error: {error.message}"

    return call


class AsyncMemory:
    """A store, from an event loop; arguments and methods as of `Memory`, which does the calls in threads."""

    def __init__(
        self,
        data: str | PathLike[str] | None = None,
        *,
        url: str | None = None,
        key: str | None = None,
        namespace: str | None = None,
        timeout: float = TIMEOUT,
    ) -> None:
        self._open = partial(Memory, data, url=url, key=key, namespace=namespace, timeout=timeout)
        self._memory: Memory | None = None

    store = _in_thread(Memory.store)
    search = _in_thread(Memory.search)
    get = _in_thread(Memory.get)
    forget = _in_thread(Memory.forget)
    restore = _in_thread(Memory.restore)
    call = _in_thread(Memory.call)

    @property
    def opened(self) -> Memory:
        """The store, between `async with` and its end; a `RuntimeError` otherwise."""
        if self._memory is None:
            raise RuntimeError("use it as `async with AsyncMemory(…) as memory`")
        return self._memory

    async def __aenter__(self) -> Self:
        self._memory = await asyncio.to_thread(self._open)
        return self

    async def __aexit__(self, *_error: object) -> None:
        self.opened.close()


def _several(texts: str | Sequence[str]) -> list[str] | None:
    """Return texts as a list, also one that stands alone; None without any."""
    return ([texts] if isinstance(texts, str) else [*texts]) or None


def _iso_time(value: object) -> str:
    """Return a date or a time as ISO 8601, for `json`; a time without a zone is local, as everywhere in Python."""
    if isinstance(value, datetime) and value.tzinfo is None:
        with suppress(ValueError, OverflowError):  # at the ends of the calendar
            value = value.astimezone()
    if isinstance(value, date):
        return value.isoformat()
    raise TypeError(f"an argument of JSON can't be a {type(value).__name__}: {value!r:.100}")


def _given(**arguments: Any) -> JsonObject:
    return {name: value for name, value in arguments.items() if value is not None}
