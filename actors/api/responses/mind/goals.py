"""Answers about goals, alignment and drift."""

from math import isnan

from actors.api.responses.common import pick, rounded
from actors.consolidator.goals.drift import Drift
from actors.consolidator.messages import DriftCorrection, DriftReport, GoalDiscovery
from actors.runtime.types import JsonObject
from events.spaces import SPACES
from events.vocabulary import GoalDiscovered

MAX_MEMBERS = 5
"""Most central members of a goal that are listed."""


def goal(found: GoalDiscovered) -> JsonObject:
    """Return one goal."""
    return {
        "goal_id": str(found.goal),
        **pick(found, "description", "level", "confidence", "coherence"),
        "member_count": len(found.members),
        "members": [str(member) for member in found.members[:MAX_MEMBERS]],
        "dominant_embedders": list(found.spaces),
        "parent_goal_id": str(found.parent) if found.parent else None,
    }


def discovery(namespace: str, found: GoalDiscovery) -> JsonObject:
    """Return the answer of `discover_goals`."""
    return {
        "namespace": namespace,
        "discovered_goals": [goal(one) for one in found.goals],
        "hierarchy": [
            {"parent_goal_id": str(one.parent), "child_goal_id": str(one.goal)} for one in found.goals if one.parent
        ],
        "north_star": None if found.star is None else goal(found.star),
        "north_star_chosen": found.chosen,
        "memories_realigned": found.realigned,
        "cluster_analysis": {"memories": found.memories, "sampled": found.memories, "clusters": found.clusters},
    }


def drift(namespace: str, report: DriftReport | None, *, history: bool) -> JsonObject:
    """Return the answer of `get_alignment_drift`; without a North Star there is no drift."""
    if report is None:
        nothing = dict.fromkeys(("level", "north_star_id", "north_star"))
        return {"namespace": namespace, "status": "not_configured", **nothing}
    now = report.current
    answer = {
        "namespace": namespace,
        "status": "measured",
        "north_star_id": str(report.star),
        "north_star": report.description,
        **pick(now, "level", "similarity", "memories"),
        "drift_score": rounded(1 - now.similarity),
        "per_embedder_similarity": _by_space(now),
        "most_drifted_embedders": [
            pick(one, "space", "similarity", "level") | {"drift_score": rounded(1 - one.similarity)}
            for one in now.drifted
        ],
        "trend": report.trend.value if report.trend else None,
        "recommendations": list(report.recommendations),
    }
    if report.windows_until_critical is not None:
        answer["windows_until_critical"] = report.windows_until_critical
    if history:
        answer["history"] = [
            pick(sample, "similarity", "level", "memories") | {"per_embedder_similarity": _by_space(sample)}
            for sample in report.history
        ]
        answer["noted"] = [
            pick(record, "at") | pick(record.drift, "level", "similarity") | {"north_star_id": str(record.drift.goal)}
            for record in report.recorded
        ]
    return answer


def correction(namespace: str, done: DriftCorrection | None) -> JsonObject:
    """Return the answer of `trigger_drift_correction`, with the measured alignment before and after."""
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


def _by_space(measured: Drift) -> dict[str, float | None]:
    return {
        space.key: None if isnan(similarity) else rounded(similarity)
        for space, similarity in zip(SPACES, measured.spaces, strict=True)
    }
