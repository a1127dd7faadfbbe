"""Answers about the store: what it holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from actors.runtime import metrics

if TYPE_CHECKING:
    from actors.hub.hub import Hub
    from actors.store.messages import Status


def status(state: Status, indexes: dict[str, int], hub: Hub) -> dict[str, Any]:
    """Return what the store holds. Latencies are those of this process, or of the last that measured such work."""
    latencies = metrics.load(hub.latency_file) | hub.latencies.summary()
    declared = state.declared
    return {
        "folder": str(hub.folder),
        "memories": {
            "live": state.live,
            "forgotten": state.forgotten,
            "pruned": state.pruned,
            "merged": state.merged,
            "erased": state.erased,
        },
        "namespaces": state.namespaces,
        "indexes": indexes,
        "log": {"position": state.head.seq, "hash": state.head.hash.hex()},
        "profile": declared.profile if declared else None,
        "spaces": msgspec.to_builtins(declared.spaces) if declared else [],
        "latencies_ms": msgspec.to_builtins(dict(sorted(latencies.items()))),
    }
