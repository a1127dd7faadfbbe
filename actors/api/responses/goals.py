"""Answers about goals, alignment and drift."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from actors.api.responses.memories import iso, rounded
from events.spaces import SPACES

if TYPE_CHECKING:
    from actors.consolidator.messages import Drift, DriftCorrection, DriftReport, GoalDiscovery
    from events.vocabulary import GoalDiscovered

SHOWN = 5
"""Members of a goal that are listed, the most central ones; memory_retrieve reads them."""


def goal(found: GoalDiscovered) -> dict[str, Any]:
    """Return one goal."""
    return {
        "goal_id": str(found.goal),
        "description": found.description,
        "level": found.level.value,
        "confidence": rounded(found.confidence),
        "coherence": rounded(found.coherence),
        "member_count": len(found.members),
        "members": [str(member) for member in found.members[:SHOWN]],
        "dominant_embedders": list(found.spaces),
        "parent_goal_id": str(found.parent) if found.parent else None,
    }


def discovery(found: GoalDiscovery) -> dict[str, Any]:
    """Return what `discover_goals` answers."""
    return {
        "discovered_goals": [goal(one) for one in found.goals],
        "hierarchy": [
            {"parent_goal_id": str(one.parent), "child_goal_id": str(one.goal)} for one in found.goals if one.parent
        ],
        "north_star": None if found.star is None else goal(found.star),
        "north_star_chosen": found.chosen,
        "memories_realigned": found.realigned,
        "cluster_analysis": {"memories": found.memories, "sampled": found.sampled, "clusters": found.clusters},
    }


def drift(namespace: str, report: DriftReport | None, *, history: bool) -> dict[str, Any]:
    """Return what `get_alignment_drift` answers; without a North Star there is nothing to drift from."""
    if report is None:
        return {
            "namespace": namespace,
            "status": "not_configured",
            "level": None,
            "north_star_id": None,
            "north_star": None,
        }
    now = report.current
    answer = {
        "namespace": namespace,
        "status": "measured",
        "north_star_id": str(report.star),
        "north_star": report.description,
        "level": now.level.value,
        "similarity": rounded(now.similarity),
        "drift_score": rounded(1 - now.similarity),
        "memories": now.memories,
        "per_embedder_similarity": _by_space(now),
        "most_drifted_embedders": [
            {
                "space": moved.space,
                "similarity": rounded(moved.similarity),
                "drift_score": rounded(1 - moved.similarity),
                "level": moved.level.value,
            }
            for moved in now.drifted
        ],
        "trend": report.trend.value if report.trend else None,
        "recommendations": list(report.recommendations),
    }
    if report.windows_until_critical is not None:
        answer["windows_until_critical"] = report.windows_until_critical
    if history:
        answer["history"] = [
            {"similarity": rounded(sample.similarity), "level": sample.level.value, "memories": sample.memories}
            | {"per_embedder_similarity": _by_space(sample)}
            for sample in report.history
        ]
        answer["noted"] = [
            {
                "at": iso(finding.at),
                "level": finding.drift.level.value,
                "similarity": rounded(finding.drift.similarity),
                "north_star_id": str(finding.drift.goal),
            }
            for finding in report.recorded
        ]
    return answer


def correction(namespace: str, done: DriftCorrection | None) -> dict[str, Any]:
    """Return what `trigger_drift_correction` answers; both alignments are measured."""
    if done is None:
        return {"namespace": namespace, "status": "not_configured", "strategy_applied": None, "applied": False}
    before, after = done.before.current, done.after.current
    return {
        "namespace": namespace,
        "status": "measured",
        "strategy_applied": done.strategy.value,
        "applied": done.applied,
        "alignment_before": rounded(before.similarity),
        "alignment_after": rounded(after.similarity),
        "improvement": rounded(after.similarity - before.similarity),
        "level_before": before.level.value,
        "level_after": after.level.value,
        "north_star_id": str(done.after.star),
        "memories_realigned": done.realigned,
    }


def _by_space(measured: Drift) -> dict[str, float]:
    return {space.key: rounded(near) for space, near in zip(SPACES, measured.spaces, strict=True)}
