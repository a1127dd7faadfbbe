"""Answers about the store: its content, and whether it is intact."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from actors.runtime import metrics
from actors.runtime.types import JsonObject

if TYPE_CHECKING:
    from collections.abc import Sequence

    from actors.comparator.messages import Indexes
    from actors.hub.composition import Hub
    from actors.store.messages import Status
    from events.verify.examination import Problem, Report


def status(state: Status, indexes: Indexes, hub: Hub) -> JsonObject:
    """Return the content of the store. Latencies are of this process, or of the last one that measured them."""
    latencies = metrics.load(hub.latency_file) | hub.latencies.summary()
    declared = state.declared
    return {
        "folder": str(hub.folder),
        "read_only": state.read_only,
        "memories": {name: getattr(state, name) for name in ("live", "forgotten", "pruned", "merged", "erased")},
        "namespaces": state.namespaces,
        "indexes": indexes.counts,
        "graphs": msgspec.to_builtins(indexes.states),
        "memory_mb": indexes.megabytes,
        "log": {"position": state.head.seq, "hash": state.head.hash.hex()},
        "profile": declared.profile if declared else None,
        "spaces": msgspec.to_builtins(declared.spaces) if declared else [],
        "runtime": hub.runtime,
        "latencies_ms": msgspec.to_builtins(dict(sorted(latencies.items()))),
    }


def verified(report: Report, snapshots: Sequence[Problem]) -> JsonObject:
    """Return the result of verifying the log, and the snapshot, which only speeds up the start."""
    problems = (*report.problems, *snapshots)
    return {
        "sound": not problems,
        "events": report.events,
        "sealed": report.sealed,
        "erased": report.shredded,
        "head": {"seq": report.head.seq, "hash": report.head.hash.hex()},
        "acknowledged": report.acknowledged.seq if report.acknowledged else None,
        "first_bad": report.first_bad,
        "problems": [msgspec.structs.asdict(problem) for problem in problems],
    }
