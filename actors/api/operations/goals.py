"""Operations on what the memories serve: goals, the North Star, and drift away from it."""

from __future__ import annotations

from typing import Any

from actors.api.context import Access, Progress, silent, told_from_thread
from actors.api.params.mind import DiscoverGoals, GetAlignmentDrift, TriggerDriftCorrection
from actors.api.responses import goals
from actors.consolidator import messages
from actors.consolidator.messages import DriftCorrection, DriftReport, GoalDiscovery

LONG = 600.0
"""Seconds that a discovery and the measuring of a large store may take."""


class Goals(Access):
    """Goals emerge from the memories; nothing sets one by hand (ARCH-03)."""

    async def discover_goals(self, params: DiscoverGoals, progress: Progress = silent) -> dict[str, Any]:
        """Find goals; where there is no North Star yet, choose one and measure all memories against it."""
        await self.replayed()
        found: GoalDiscovery = await self.ask(
            self.hub.consolidator,
            messages.FindGoals(
                namespace=params.namespace,
                min_confidence=params.min_confidence,
                max_goals=params.max_goals,
                on_progress=told_from_thread(progress, "memories measured"),
            ),
            LONG,
        )
        return goals.discovery(found)

    async def get_alignment_drift(self, params: GetAlignmentDrift, _progress: Progress = silent) -> dict[str, Any]:
        """Measure how far the latest memories are from the North Star."""
        await self.replayed()
        report: DriftReport | None = await self.ask(
            self.hub.consolidator,
            messages.MeasureDrift(namespace=params.namespace, memories=params.memories, record=self.at is None),
            LONG,
        )
        return goals.drift(params.namespace, report, history=params.include_history)

    async def trigger_drift_correction(
        self, params: TriggerDriftCorrection, progress: Progress = silent
    ) -> dict[str, Any]:
        """Bring North Star and memories together where drift asks for it, and measure what that changed."""
        await self.replayed()
        correction: DriftCorrection | None = await self.ask(
            self.hub.consolidator,
            messages.CorrectDrift(
                namespace=params.namespace, on_progress=told_from_thread(progress, "memories measured")
            ),
            LONG,
        )
        return goals.correction(params.namespace, correction)
