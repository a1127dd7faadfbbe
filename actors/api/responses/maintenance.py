"""Answers about whether a store is sound."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from events.verify.examination import Problem, Report


def verified(report: Report, snapshots: Sequence[Problem]) -> dict[str, Any]:
    """Return what a check of a store found, and one of its snapshot, on which nothing depends but a fast start."""
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
