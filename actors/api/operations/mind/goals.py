"""Operations on goals: discovery, the North Star, and drift away from it."""

from __future__ import annotations

from actors.api.context import Context, wait_until_replayed
from actors.api.params.fields import EVERYWHERE
from actors.api.params.mind import DiscoverGoals, GetAlignmentDrift, TriggerDriftCorrection
from actors.api.params.parsing import invalid
from actors.api.progress import reporter
from actors.api.responses.mind import goals
from actors.consolidator.messages import CorrectDrift, FindGoals, MeasureDrift
from actors.runtime.ask import LONG_TIMEOUT, ask
from actors.runtime.types import JsonObject


async def discover_goals(context: Context, params: DiscoverGoals) -> JsonObject:
    """Find goals; where there is no North Star yet, choose one and measure all memories against it."""
    _check_one(params.namespace)
    await wait_until_replayed(context)
    message = FindGoals(
        namespace=params.namespace,
        min_confidence=params.min_confidence,
        max_goals=params.max_goals,
        on_progress=reporter(context.progress, "memories measured"),
    )
    return goals.discovery(params.namespace, await ask(context.hub.consolidator, message, LONG_TIMEOUT))


async def get_alignment_drift(context: Context, params: GetAlignmentDrift) -> JsonObject:
    """Measure how far the latest memories are from the North Star."""
    _check_one(params.namespace)
    await wait_until_replayed(context)
    message = MeasureDrift(namespace=params.namespace, memories=params.memories, record=context.as_of is None)
    report = await ask(context.hub.consolidator, message, LONG_TIMEOUT)
    return goals.drift(params.namespace, report, history=params.include_history)


async def trigger_drift_correction(context: Context, params: TriggerDriftCorrection) -> JsonObject:
    """Bring North Star and memories together where drift asks for it, and measure what that changed."""
    _check_one(params.namespace)
    await wait_until_replayed(context)
    message = CorrectDrift(namespace=params.namespace, on_progress=reporter(context.progress, "memories measured"))
    return goals.correction(params.namespace, await ask(context.hub.consolidator, message, LONG_TIMEOUT))


def _check_one(namespace: str) -> None:
    if namespace == EVERYWHERE:
        raise invalid("namespace", f"each namespace has goals of its own; '{EVERYWHERE}' stands for all in a search")
