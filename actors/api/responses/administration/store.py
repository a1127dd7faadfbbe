"""Answers about the store: its content, and whether it is intact."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from actors.api.responses.common import pick
from actors.embedder.messages import READS_IMAGES
from actors.runtime import metrics
from actors.runtime.types import JsonObject
from events.verify.anchors import ANCHOR, parse_anchors

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from actors.comparator.messages import Indexes
    from actors.hub.composition import Hub
    from actors.store.messages import Status
    from events.storage.log import Lag
    from events.verify.examination import Problem, Report
    from events.vocabulary.values import SpaceModel

NOTES = {
    "e4_temporal_positional": "null outside sessions",
    "e8_graph": "null without turns beside it, a link, a cause or a shared rare name; without the memory's own text",
    "e10_multimodal": "reads text alone: what it says, and the modality that the memory was given; no image, no sound",
}
"""What a space can't say."""

COUNTED = ("live", "forgotten", "pruned", "merged", "erased", "lost")
"""Counts of memories, in the order of the answer."""


def lag(behind: Lag) -> JsonObject:
    """Return how far a hub is behind the log that it shares."""
    return {"events": behind.events, "seconds": round(behind.seconds, 1), "reason": behind.reason}


def status(state: Status, indexes: Indexes, hub: Hub) -> JsonObject:
    """Return the content of the store. Latencies are of this process, or of the last one that measured them."""
    latencies = metrics.load(hub.latency_file) | hub.latencies.summary()
    declared = state.declared
    return {
        "folder": str(hub.folder),
        "read_only": state.read_only,
        "memories": {name: getattr(state, name) for name in COUNTED},
        "namespaces": state.namespaces,
        "serves": None if hub.namespaces is None else sorted(hub.namespaces),
        "indexes": indexes.counts,
        "graphs": msgspec.to_builtins(indexes.states),
        "memory_mb": indexes.megabytes,
        "backups": hub.backups.state(),
        "log": {"position": state.head.seq, "hash": state.head.hash.hex()}
        | ({"server": hub.shared.name, "lag": lag(hub.shared.lag)} if hub.shared else {}),
        "profile": declared.profile if declared else None,
        "spaces": [_space(space) for space in declared.spaces] if declared else [],
        "calibration": {key: "own texts" if own else "shipped" for key, own in indexes.calibrated.items()},
        "runtime": hub.runtime,
        "latencies_ms": msgspec.to_builtins(dict(sorted(latencies.items()))),
    }


def status_of(state: Status, namespaces: Collection[str], hub: Hub) -> JsonObject:
    """Return what a caller of these namespaces may know of the store: nothing that depends on others."""
    counts = {name: count for name, count in state.namespaces.items() if name in namespaces}
    return {
        "read_only": state.read_only,
        "memories": {"live": sum(counts.values())},
        "namespaces": counts,
        "profile": state.declared.profile if state.declared else None,
        "spaces": [_space(space) for space in state.declared.spaces] if state.declared else [],
        "runtime": hub.runtime,
    }


def _space(space: SpaceModel) -> JsonObject:
    silent = space.key in NOTES and READS_IMAGES not in space.model
    note = {"note": NOTES[space.key]} if silent else {}
    return pick(space, "key", "model", "sha256", "dimension") | note


def verified(report: Report, others: Sequence[Problem], anchors: str | None = None) -> JsonObject:
    """Return the result of verifying a log.

    Args:
        report: On the log.
        others: Problems of the snapshot, which only speeds up the start, and of anchors.
        anchors: A text with the anchors that were compared; None if there were none.
    """
    problems = (*report.problems, *others)
    wrong = {problem.seq for problem in others if problem.file == ANCHOR}
    compared = [] if anchors is None else [one.head.seq for one in parse_anchors(anchors)]
    confirmed = [{"event": seq, "confirmed": not report.problems and seq not in wrong} for seq in compared]
    return {
        **({"anchors": confirmed} if compared else {}),
        "sound": not problems,
        "events": report.events,
        "sealed": report.sealed,
        "erased": report.shredded,
        "head": {"seq": report.head.seq, "hash": report.head.hash.hex()},
        "acknowledged": report.acknowledged.seq if report.acknowledged else None,
        "first_bad": report.first_bad,
        "problems": [msgspec.structs.asdict(problem) for problem in problems],
    }
