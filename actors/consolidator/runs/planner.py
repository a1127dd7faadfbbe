"""Planner of a run: which memories to merge, prune and cluster, and in deeper modes what a dream changes.

A dry run uses the same planner without writing its plan, so its counts are those of the real run.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Final
from uuid import UUID

import numpy as np

from actors.comparator.messages import ScorePairs
from actors.consolidator.clients import ActorClients
from actors.consolidator.clustering import MIN_COHERENCE, MIN_SIZE
from actors.consolidator.goals.manager import GoalManager
from actors.consolidator.goals.survey import cluster_memories
from actors.consolidator.jobs import Sliced
from actors.consolidator.judgement.assessment import assess
from actors.consolidator.judgement.merge_sets import DuplicateCandidate, equivalent_pairs, merge_sets
from actors.consolidator.messages import Assessment, Consolidate, DreamPhase, PruningCandidates
from actors.consolidator.runs.dream import plan_nrem, plan_rem
from actors.consolidator.runs.plan import NamespaceScope, RunPlan
from actors.linker.messages import ExamineCauses
from actors.text.text_equivalence import NormalizedText
from events.spaces import E1, E12, INDEX
from events.vocabulary import ClustersFormed, MemoriesMerged
from events.vocabulary.values import Group, Modality, Mode, Pruned
from projections.atlas.code_detection import looks_like_code
from projections.memories.catalog import Entry
from projections.projection import MemoryState

MIN_SIMILARITY: Final = {Mode.LIGHT: 0.95, Mode.DEEP: 0.90, Mode.REM: 0.90}
"""Similarity of duplicates, exclusive."""

DESCRIBED: Final = 512

READ: Final = 32

AGREEING: Final = [INDEX[key] for key in (E1, E12)]
"""Spaces in which duplicates must agree; their entities are the same, or their words would differ."""


class RunPlanner:
    """Makes the plan of one run."""

    def __init__(self, clients: ActorClients, goals: GoalManager, request: Consolidate, now: datetime) -> None:
        self._clients = clients
        self._goals = goals
        self._request = request
        # Rounded down to the hour: a second between a dry run and the run must not prune one more memory.
        self._now = now.replace(minute=0, second=0, microsecond=0)
        self._plan = RunPlan(run=request.run)
        self._reports = 0
        self.phase: DreamPhase | None = None
        """Phase of the dream, once it has begun."""

    def plan_run(self) -> Sliced[RunPlan]:
        """Decide everything, in slices."""
        mode, phase = self._request.mode, self._request.phase
        scopes = yield from self._scopes()
        self._plan.looked_at = sum(len(scope.entries) for scope in scopes)
        for scope in scopes:
            if mode is not Mode.DREAM:
                yield from self._merge(scope)
                yield from self._prune(scope)
            if mode in {Mode.DEEP, Mode.REM}:
                yield from self._cluster(scope)
                yield from self._examine_causes(scope)
        if mode is Mode.REM or (mode is Mode.DREAM and phase is not DreamPhase.REM):
            self.phase = DreamPhase.NREM
            yield from plan_nrem(self._clients, self._plan, scopes)
        if mode is Mode.REM or (mode is Mode.DREAM and phase is not DreamPhase.NREM):
            self.phase = DreamPhase.REM
            yield from plan_rem(self._clients, self._goals, self._plan, scopes, self._report)
        return self._plan

    def candidates(self) -> Sliced[PruningCandidates]:
        """Return the memories below the threshold after merging, the unprotected ones first."""
        found: list[Assessment] = []
        scopes = yield from self._scopes()
        for scope in scopes:
            yield from self._merge(scope)
            for assessments in self._assess(scope):
                yield
                found += [one for one in assessments if one.salience.total < self._request.salience_threshold]
        found.sort(key=lambda one: (one.protection is not None, one.salience.total))
        return PruningCandidates(found=tuple(found), looked_at=sum(len(scope.entries) for scope in scopes))

    def _report(self, done: int, total: int, what: str) -> None:
        self._reports += 1
        self._request.on_progress(self._reports, None, f"{what}: {done} of {total}")

    def _scopes(self) -> Sliced[list[NamespaceScope]]:
        """Read the memories in scope by namespace, the largest first; only the latest if there is a limit."""
        request = self._request
        names = self._clients.namespaces() if request.namespace is None else (request.namespace,)
        entries: list[Entry] = []
        for name in names:
            memories = self._clients.memories(name)
            if request.max_memories:
                memories = memories[-request.max_memories :]
            for start in range(0, len(memories), DESCRIBED):
                yield
                described = self._clients.describe(memories[start : start + DESCRIBED])
                entries += [entry for entry in described if entry.state is MemoryState.LIVE]
        entries.sort(key=lambda entry: entry.seq)
        if request.max_memories:
            entries = entries[-request.max_memories :]
        scopes: dict[str, NamespaceScope] = {}
        for entry in entries:
            if entry.body is not None:
                namespace = entry.body.namespace
                scopes.setdefault(namespace, NamespaceScope(namespace, [])).entries.append(entry)
        return sorted(scopes.values(), key=lambda scope: (-len(scope.entries), scope.namespace))

    def _merge(self, scope: NamespaceScope) -> Sliced[None]:
        """Decide which memories are duplicates, and which of each set survives."""
        strict = self._request.mode is Mode.LIGHT
        candidates: list[DuplicateCandidate] = []
        for place, entry in enumerate(scope.entries):
            if place % READ == 0:
                yield
                self._report(place, len(scope.entries), "texts read")
            candidates += _duplicate_candidates(entry, strict=strict)
        pairs: list[tuple[UUID, UUID, float]] = []
        for one, other in equivalent_pairs(candidates, strict=strict) if self._request.thorough else ():
            yield
            pairs.append((one, other, self._similarity(one, other)))
        yield
        for merged in merge_sets(candidates, pairs, MIN_SIMILARITY[self._request.mode]):
            self._plan.merged.append(MemoriesMerged(run=self._plan.run, **merged._asdict()))
            scope.hidden.update(merged.absorbed)

    def _similarity(self, one: UUID, other: UUID) -> float:
        """Return the mean similarity of two memories in `AGREEING`; 0 if one of them was erased meanwhile."""
        scores = self._clients.ask_comparator(ScorePairs(references=(one,), targets=(other,)))[0, 0, AGREEING]
        return float(np.nanmean(scores)) if np.isfinite(scores).any() else 0.0

    def _prune(self, scope: NamespaceScope) -> Sliced[None]:
        if not self._request.thorough:
            return
        for assessments in self._assess(scope):
            yield
            for one in assessments:
                if one.protection is None and one.salience.total < self._request.salience_threshold:
                    self._plan.pruned.append(Pruned(one.memory, one.salience))
                    scope.hidden.add(one.memory)

    def _assess(self, scope: NamespaceScope) -> Iterator[tuple[Assessment, ...]]:
        absorbed = {merge.survivor: merge.absorbed for merge in self._plan.merged}
        return assess(self._clients, scope.namespace, scope.entries, absorbed, self._now)

    def _cluster(self, scope: NamespaceScope) -> Sliced[None]:
        remaining = [entry.id for entry in scope.remaining]
        if not remaining:
            return
        self._report(0, len(remaining), "memories clustered")
        scope.clustered = yield from cluster_memories(self._clients, remaining)
        groups = tuple(
            Group(tuple(scope.clustered.memories[place] for place in cluster.members), cluster.centrality)
            for cluster in scope.clustered.clusters
            if len(cluster.members) >= MIN_SIZE and cluster.coherence >= MIN_COHERENCE
        )
        self._plan.clusters.append(ClustersFormed(run=self._plan.run, namespace=scope.namespace, clusters=groups))

    def _examine_causes(self, scope: NamespaceScope) -> Sliced[None]:
        """Examine the memories that were not examined for causes, such as those of an earlier version."""
        done: frozenset[UUID] = frozenset()
        while True:
            yield
            found = self._clients.ask_linker(ExamineCauses(run=self._plan.run, namespace=scope.namespace, skip=done))
            if found is None:
                return
            done |= {*found.linked.examined}
            self._report(len(done), len(scope.entries), "memories examined for causes")
            self._plan.causes.append(found.without(scope.hidden))


def _duplicate_candidates(entry: Entry, *, strict: bool) -> Iterator[DuplicateCandidate]:
    """Yield a memory as a candidate, with its text analysed, unless it was restored after an earlier merge."""
    body = entry.body
    if body is not None and not entry.protected:
        code = body.modality in {Modality.CODE, Modality.STRUCTURED} or looks_like_code(body.text)
        text = NormalizedText(body.text, code=code)
        _ = text.words if strict else text.key
        yield DuplicateCandidate(
            memory=entry.id,
            text=text,
            importance=body.importance,
            created_at=body.created_at,
            row=entry.seq,
            # A correction is no copy of what it corrects, nor is what states the corrected value again.
            kind=(body.modality, body.memory_type, repr(body.metadata.get("speaker")), entry.superseded_by, body.image),
        )
