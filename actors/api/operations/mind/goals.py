"""Operations on goals: discovery, the North Star, and drift away from it."""

from math import isnan
from typing import Annotated

from msgspec import Meta

from actors.api.answers import pick, rounded
from actors.api.context import Context, reporter
from actors.api.params.fields import DEFAULT_NAMESPACE, Namespace, Reading, Share
from actors.api.params.parsing import Params, invalid
from actors.comparator.messages import ReadGoals
from actors.consolidator.goals.drift import Drift
from actors.consolidator.messages import CorrectDrift, DriftReport, FindGoals, MeasureDrift
from actors.proxy.namespaces import EVERYWHERE
from actors.runtime.ask import LONG_TIMEOUT, ask
from actors.runtime.types import JsonObject
from events.spaces import SPACES
from events.vocabulary import GoalDiscovered

MAX_MEMBERS = 5
"""Most central members of a goal that are listed."""
SURE_ENOUGH = 0.5
"""Confidence from which on goals are shown. Of 44 topics of a dozen short sentences each 17 are, from .6 on 12."""

NO_STAR = (
    "Nothing serves a goal yet: discover_goals finds the North Star, among some ten memories of one thing at least"
)
NO_GOALS = (
    "No goal was found: a goal is a group of similar memories, of which at least three share words other than names. "
    "Store more, or lower min_confidence"
)
NO_LEADER = "No North Star yet: of each goal, fewer than half of the memories contain a word of its description"


class DiscoverGoals(Params, frozen=True, kw_only=True):
    """Find the goals that memories serve.

    The first call also chooses the North Star.
    """

    namespace: Namespace = DEFAULT_NAMESPACE
    min_confidence: Annotated[Share, Meta(description="Leave out less certain")] = SURE_ENOUGH
    max_goals: Annotated[int, Meta(ge=1, le=20, description="At most")] = 5


class GetAlignmentDrift(Reading, frozen=True, kw_only=True):
    """Measure how far the latest memories have moved from the North Star, in which spaces, and the trend."""

    namespace: Namespace = DEFAULT_NAMESPACE
    memories: Annotated[int, Meta(ge=1, le=2_000, description="How many of the latest")] = 100
    include_history: Annotated[bool, Meta(description="Add earlier windows and levels")] = False


class GoalList(Reading, frozen=True, kw_only=True):
    """List the goals of a namespace and measure its drift, without writing to the log."""

    namespace: Namespace = DEFAULT_NAMESPACE


class TriggerDriftCorrection(Params, frozen=True, kw_only=True):
    """If there is drift, measure all memories again or choose a better North Star."""

    namespace: Namespace = DEFAULT_NAMESPACE


async def discover_goals(context: Context, params: DiscoverGoals) -> JsonObject:
    """Find goals; where there is no North Star yet, choose one and measure all memories against it."""
    _refuse_everywhere(params.namespace)
    message = FindGoals(
        namespace=params.namespace,
        min_confidence=params.min_confidence,
        max_goals=params.max_goals,
        on_progress=reporter(context.progress, "memories measured"),
    )
    found = await ask(context.hub.consolidator, message, LONG_TIMEOUT)
    hint = NO_GOALS if not found.goals else NO_LEADER if found.star is None else None
    return {
        "namespace": params.namespace,
        "discovered_goals": [_goal(one) for one in found.goals],
        "hierarchy": [
            {"parent_goal_id": str(one.parent), "child_goal_id": str(one.goal)} for one in found.goals if one.parent
        ],
        "north_star": None if found.star is None else _goal(found.star),
        "north_star_chosen": found.chosen,
        "memories_realigned": found.realigned,
        "cluster_analysis": {"memories": found.memories, "sampled": found.memories, "clusters": found.clusters},
        **({"hint": hint} if hint else {}),
    }


async def get_alignment_drift(context: Context, params: GetAlignmentDrift) -> JsonObject:
    _refuse_everywhere(params.namespace)
    message = MeasureDrift(namespace=params.namespace, memories=params.memories, record=context.as_of is None)
    report = await ask(context.hub.consolidator, message, LONG_TIMEOUT)
    return _drift(params.namespace, report, history=params.include_history)


async def goal_list(context: Context, params: GoalList) -> JsonObject:
    state = await ask(context.hub.comparator, ReadGoals(namespace=params.namespace))
    measured = MeasureDrift(namespace=params.namespace, memories=100, record=False)
    report = None if state.star is None else await ask(context.hub.consolidator, measured, LONG_TIMEOUT)
    return {
        "namespace": params.namespace,
        "goals": [_goal(one) for one in state.goals],
        "north_star": None if state.star is None else _goal(state.star),
        "drift": _drift(params.namespace, report, history=True),
    }


async def trigger_drift_correction(context: Context, params: TriggerDriftCorrection) -> JsonObject:
    _refuse_everywhere(params.namespace)
    message = CorrectDrift(namespace=params.namespace, on_progress=reporter(context.progress, "memories measured"))
    done = await ask(context.hub.consolidator, message, LONG_TIMEOUT)
    about: JsonObject = {"namespace": params.namespace}
    if done is None:
        return about | {"status": "not_configured", "strategy_applied": None, "applied": False, "hint": NO_STAR}
    before, after = done.before.current, done.after.current
    return about | {
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


def _goal(found: GoalDiscovered) -> JsonObject:
    return {
        "goal_id": str(found.goal),
        **pick(found, "description", "level", "confidence", "coherence"),
        "member_count": len(found.members),
        "members": [str(member) for member in found.members[:MAX_MEMBERS]],
        "dominant_embedders": list(found.spaces),
        "parent_goal_id": str(found.parent) if found.parent else None,
    }


def _drift(namespace: str, report: DriftReport | None, *, history: bool) -> JsonObject:
    """Return drift as an answer; without a North Star there is none."""
    if report is None:
        nothing = dict.fromkeys(("level", "north_star_id", "north_star"))
        return {"namespace": namespace, "status": "not_configured", **nothing, "hint": NO_STAR}
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


def _by_space(measured: Drift) -> dict[str, float | None]:
    return {
        space.key: None if isnan(similarity) else rounded(similarity)
        for space, similarity in zip(SPACES, measured.spaces, strict=True)
    }


def _refuse_everywhere(namespace: str) -> None:
    if namespace == EVERYWHERE:
        raise invalid("namespace", f"each namespace has goals of its own; '{EVERYWHERE}' stands for all in a search")
