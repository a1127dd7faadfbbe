"""The two phases of a dream: NREM replays memories, REM looks for patterns and corrects drift."""

from collections.abc import Callable, Sequence
from typing import Final
from uuid import UUID, uuid4

import msgspec

from actors.comparator.messages import ReadPurposes, ReadWalks
from actors.consolidator.clients import ActorClients
from actors.consolidator.clustering import MIN_SIZE
from actors.consolidator.goals.manager import LATEST, GoalManager
from actors.consolidator.goals.survey import Survey, survey
from actors.consolidator.jobs import Sliced
from actors.consolidator.messages import DriftReport
from actors.consolidator.runs.plan import NamespaceScope, RunPlan
from actors.consolidator.runs.replay import derive_shortcuts, select_replays, strengthen_links
from actors.workspace.messages import ReadAttention
from events import vocabulary as ev
from events.vocabulary.values import DriftLevel

MAX_NAMESPACES: Final = 10
"""Namespaces, those with the most memories, in which REM looks for patterns: each takes seconds."""

MAX_PATTERNS: Final = 10

Report = Callable[[int, int, str], None]
"""Receives (done, total, what)."""


def plan_nrem(clients: ActorClients, plan: RunPlan, scopes: Sequence[NamespaceScope]) -> Sliced[None]:
    """Replay faded and often recalled memories: strengthen links between them, and add shortcuts."""
    remaining = {entry.id: entry for scope in scopes for entry in scope.remaining}
    attention = clients.ask_workspace(ReadAttention())
    yield
    faded = [one for one in attention.queued if one.memory in remaining]
    activity = select_replays(faded, {memory: entry.access_count for memory, entry in remaining.items()})
    queued = {one.memory for one in faded}
    plan.replayed = tuple(memory for memory in activity if memory in queued)
    walks = clients.ask_comparator(ReadWalks(replayed=tuple(activity)))
    yield
    links = [link for link in walks.links if link.source in remaining and link.target in remaining]
    plan.strengthened = strengthen_links(links, activity)
    plan.shortcuts = derive_shortcuts(walks.paths, links, plan.strengthened)


def plan_rem(
    clients: ActorClients, goals: GoalManager, plan: RunPlan, scopes: Sequence[NamespaceScope], report: Report
) -> Sliced[None]:
    """Look for patterns, measure drift, and correct it where it is significant."""
    for scope in scopes[:MAX_NAMESPACES]:
        ids = [entry.id for entry in scope.remaining]
        found = yield from survey(
            clients,
            scope.namespace,
            ids,
            lambda done, total: report(done, total, "memories surveyed"),
            scope.clustered,
        )
        plan.patterns += patterns_of(found, plan.run)
        yield from _correct_drift(clients, goals, plan, scope)
    plan.patterns = sorted(plan.patterns, key=lambda pattern: -pattern.confidence)[:MAX_PATTERNS]


def patterns_of(survey: Survey, run: UUID) -> tuple[ev.PatternDiscovered, ...]:
    """Return the goals of a survey as patterns, without a North Star that is too small for one."""
    return tuple(
        ev.PatternDiscovered(
            run=run,
            pattern=uuid4(),
            namespace=goal.namespace,
            description=goal.description,
            terms=goal.terms,
            members=goal.members,
            coherence=goal.coherence,
            confidence=goal.confidence,
        )
        for goal in survey.goals
        if len(goal.members) >= MIN_SIZE
    )


def _correct_drift(clients: ActorClients, goals: GoalManager, plan: RunPlan, scope: NamespaceScope) -> Sliced[None]:
    """Measure drift, and plan a correction from level Medium on."""
    before = goals.measure_drift(scope.namespace, LATEST, scope.hidden)
    if before is None:
        return
    plan.drifts[scope.namespace] = before.current
    if before.current.level in {DriftLevel.NONE, DriftLevel.LOW}:
        return
    events = yield from goals.plan_correction(scope.namespace, before, scope.hidden)
    if not events:
        return
    for event in events:
        yield
        plan.adjusted.append(_undoable(clients, plan.run, scope.namespace, before, event))
    if not any(isinstance(event, ev.NorthStarChosen) for event in events):
        plan.adjusted.append(_adjustment(plan.run, scope.namespace, before, before.star))


def _undoable(clients: ActorClients, run: UUID, namespace: str, before: DriftReport, event: ev.Event) -> ev.Event:
    """Return an event of a correction with its run, and with what an undo needs to restore."""
    match event:
        case ev.GoalDiscovered():
            return msgspec.structs.replace(event, run=run)
        case ev.NorthStarChosen(goal=goal):
            return _adjustment(run, namespace, before, goal)
        case ev.PurposesRealigned(memories=memories):
            previous = clients.ask_comparator(ReadPurposes(memories=memories)).astype("<f4").tobytes()
            return msgspec.structs.replace(event, run=run, previous=previous)
        case _:
            raise TypeError(f"no correction writes {type(event).__name__}")


def _adjustment(run: UUID, namespace: str, before: DriftReport, goal: UUID) -> ev.GoalAdjusted:
    return ev.GoalAdjusted(run=run, namespace=namespace, previous=before.star, goal=goal, level=before.current.level)
