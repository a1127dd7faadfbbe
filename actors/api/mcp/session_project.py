"""The project of an MCP session: the namespace of what it stores, and where its searches look."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server.session import ServerSession
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from actors.api.params.fields import DEFAULT_NAMESPACE
from actors.proxy.endpoint import PROJECT
from actors.proxy.project import ProjectError, find_root_project, other_owner, shared_by
from actors.runtime.actor import LOGGER
from actors.runtime.faults import StorageFault

ROOTS_TIMEOUT = 5.0
"""Seconds that a client has to name its roots."""


class SessionProject:
    """Finds the project once a session.

    Args:
        store: The store's folder.
        own: The project that this process found for its own client; requests from a proxy bring theirs.
        asks: Whether the client is asked for its roots; over HTTP these may be folders of another machine.
    """

    def __init__(self, store: Path, own: Mapping[str, str | None] | None = None, *, asks: bool = True) -> None:
        self._store = store
        self._own = own or {}
        self._asks = asks
        self._lock = anyio.Lock()
        self._asked = False
        self._root: str | None = None

    async def find(self, params: Mapping[str, Any] | None, session: ServerSession) -> str | None:
        """Return the project of a request; None outside of any, and for clients that are no agent's.

        `default` is the namespace of no project: with it, searches look everywhere.
        """
        meta = (params or {}).get("_meta")
        fields = {**self._own, **(meta if isinstance(meta, dict) else {})}
        if PROJECT not in fields:
            return None
        if isinstance(project := fields[PROJECT], str) and project:
            return None if project == DEFAULT_NAMESPACE else project
        if not self._asks:
            return None
        async with self._lock:
            if not self._asked:
                self._root = await self._ask_client(session)
                self._asked = True
        return self._root

    def forget(self) -> None:
        """Ask the client again: its roots changed."""
        self._asked = False

    async def _ask_client(self, session: ServerSession) -> str | None:
        capabilities = session.client_capabilities
        if capabilities is None or capabilities.roots is None:
            return None
        try:
            named = await session.send_request(types.ListRootsRequest(), types.ListRootsResult, ROOTS_TIMEOUT)
        except (MCPError, ValidationError) as error:
            LOGGER.warning("the client does not name its roots: %s", error)
            return None
        for root in named.roots:
            url = urlsplit(str(root.uri))
            if url.scheme == "file" and url.netloc in {"", "localhost"}:
                folder = Path(url2pathname(url.path))
                try:
                    return await anyio.to_thread.run_sync(self._find, folder)
                except ProjectError as error:
                    raise StorageFault(f"Storage failed: {error}") from error
        return None

    def _find(self, folder: Path) -> str | None:
        found = find_root_project(folder, self._store)
        if found is not None and (owner := other_owner(found, folder, self._store)):
            LOGGER.warning("%s", shared_by(found, owner))
        return found
