"""What a run decides, mode by mode (seed 003): nothing is written before everything is decided.

A dry run is the same work without the writing, so its counts are those of the real run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import compress
from typing import Final
from uuid import UUID

import msgspec
import numpy as np
import pykka

from actors.comparator.messages import (
    Alike,
    EndSearch,
    FindDuplicates,
    ListMemories,
    ReadPurposes,
    ReadVectors,
    ReadWalks,
    Walks,
)
from actors.consolidator.clients import ActorClients
from actors.consolidator.goals.discovery import sample
from actors.consolidator.goals.purposes import LATEST, Purposes
from actors.consolidator.judgement import merge_sets as duplicates
from actors.consolidator.judgement.assessment import Judged, judged
from actors.consolidator.judgement.clusters import grouped
from actors.consolidator.messages import Candidates, Consolidate, DriftReport, Phase, PruningCandidate
from actors.consolidator.runs import dream
from actors.consolidator.runs.decision import Decision, Scope
from actors.consolidator.slices import Work
from actors.text.code import looks_like_code
from actors.workspace.messages import Attention, ReadAttention
from events.vocabulary import (
    ClustersFormed,
    Event,
    GoalAdjusted,
    GoalDiscovered,
    LinksStrengthened,
    MemoriesMerged,
    NorthStarChosen,
    PurposesRealigned,
    ShortcutsDrawn,
)
from events.vocabulary.values import DriftLevel, Group, Modality, Mode, Pruned
from projections.memories.entries import Entry
from projections.projection import MemoryState

ALIKE: Final = {Mode.LIGHT: 0.95, Mode.DEEP: 0.90, Mode.REM: 0.90}
"""How similar memories must be to be merged, exclusive (seed 003)."""

DESCRIBED: Final = 512
"""Memories that the store describes, or whose texts are read, in one slice."""

COMPARED: Final = 32
"""Memories that are compared with all others in one slice, which a search that comes meanwhile has to wait for."""

DREAMT_OF: Final = 10
"""Namespaces that REM looks for patterns in, those with the most memories: each takes seconds."""


class Sleeper:
    """One run's way through the memories.

    Args:
        others: Whom it asks.
        purposes: What knows of goals and drift.
        wanted: What was asked for.
        run: Its id.
        now: When it began.
        enters: Told which phase of a dream begins.
    """

    def __init__(
        self,
        others: ActorClients,
        purposes: Purposes,
        wanted: Consolidate,
        run: UUID,
        now: datetime,
        enters: Callable[[Phase], object] = lambda _phase: None,
    ) -> None:
        self._others = others
        self._purposes = purposes
        self._wanted = wanted
        # As of the full hour: a second that goes by between a dry run and the run must not bring one more below the
        # threshold.
        self._now = now.replace(minute=0, second=0, microsecond=0)
        self._enters = enters
        self._decision = Decision(run=run)
        self._slices = 0

    def decide(self) -> Work[Decision]:
        """Decide everything, in slices."""
        mode, phase = self._wanted.mode, self._wanted.phase
        scopes = yield from self._scopes()
        self._decision.looked_at = sum(len(scope.entries) for scope in scopes)
        for scope in scopes:
            if mode is not Mode.DREAM:
                yield from self._merge(scope)
                yield from self._prune(scope)
            if mode in {Mode.DEEP, Mode.REM}:
                yield from self._cluster(scope)
        if mode is Mode.REM or (mode is Mode.DREAM and phase is not Phase.REM):
            self._enters(Phase.NREM)
            yield from self._replay(scopes)
        if mode is Mode.REM or (mode is Mode.DREAM and phase is not Phase.NREM):
            self._enters(Phase.REM)
            yield from self._dream(scopes)
        return self._decision

    def candidates(self) -> Work[Candidates]:
        """Find what a run would prune, after merging, and what protects the rest of what matters as little."""
        found: list[PruningCandidate] = []
        scopes = yield from self._scopes()
        for scope in scopes:
            yield from self._merge(scope)
            for some in self._judged(scope):
                yield
                found += [
                    PruningCandidate(
                        memory=one.memory, namespace=scope.namespace, salience=one.salience, protection=one.protection
                    )
                    for one in some
                    if one.salience.total < self._wanted.salience_threshold
                ]
        found.sort(key=lambda one: (one.protection is not None, one.salience.total))
        return Candidates(found=tuple(found), looked_at=sum(len(scope.entries) for scope in scopes))

    def _told(self, what: str, done: int, total: int) -> None:
        self._slices += 1
        self._wanted.on_progress(self._slices, None, f"{what}: {done} of {total}")

    def _scopes(self) -> Work[list[Scope]]:
        """Read what is looked at: the latest memories if there is a limit, those of each namespace by themselves."""
        wanted = self._wanted.namespace
        names = self._others.namespaces() if wanted is None else (wanted,)
        entries: list[Entry] = []
        for name in names:
            memories = self._others.compare(ListMemories(namespace=name))
            if self._wanted.max_memories:
                memories = memories[-self._wanted.max_memories :]
            for start in range(0, len(memories), DESCRIBED):
                yield
                described = self._others.describe(memories[start : start + DESCRIBED])
                entries += [entry for entry in described if entry.state is MemoryState.LIVE]
        entries.sort(key=lambda entry: entry.seq)
        if self._wanted.max_memories:
            entries = entries[-self._wanted.max_memories :]
        scopes: dict[str, Scope] = {}
        for entry in entries:
            if entry.body is not None:
                namespace = entry.body.namespace
                scopes.setdefault(namespace, Scope(namespace, [])).entries.append(entry)
        return sorted(scopes.values(), key=lambda scope: (-len(scope.entries), scope.namespace))

    def _merge(self, scope: Scope) -> Work[None]:
        """Decide which memories say the same, and which of each set survives."""
        ids = [entry.id for entry in scope.entries]
        some: list[duplicates.DuplicateCandidate] = []
        for place, entry in enumerate(scope.entries):
            if place % DESCRIBED == 0:
                yield
                self._told("texts read", place, len(ids))
            some += _candidates(entry)
        pairs: list[tuple[UUID, UUID, float]] = []
        if self._wanted.thorough:
            pairs = yield from self._pairs(scope.namespace, [one.memory for one in some])
        yield
        for merged in duplicates.merge_sets(some, pairs, strict=self._wanted.mode is Mode.LIGHT):
            self._decision.merged.append(
                MemoriesMerged(
                    run=self._decision.run,
                    survivor=merged.survivor,
                    absorbed=merged.absorbed,
                    similarities=merged.similarities,
                )
            )
            scope.gone.update(merged.absorbed)

    def _pairs(self, namespace: str, ids: Sequence[UUID]) -> Work[list[tuple[UUID, UUID, float]]]:
        """Find memories that say nearly the same."""
        pairs: list[tuple[UUID, UUID, float]] = []
        above = ALIKE[self._wanted.mode]
        try:
            for start in range(0, len(ids), COMPARED):
                yield
                self._told("memories compared", start, len(ids))
                slice_ = tuple(ids[start : start + COMPARED])
                found: tuple[Alike, ...] = self._others.compare(
                    FindDuplicates(sought=self._decision.run, namespace=namespace, memories=slice_, above=above)
                )
                pairs += [(one.one, one.other, one.similarity) for one in found]
        finally:
            with suppress(pykka.ActorDeadError):  # the process is about to end
                self._others.comparator.tell(EndSearch())
        return pairs

    def _prune(self, scope: Scope) -> Work[None]:
        """Decide which memories matter too little."""
        if not self._wanted.thorough:
            return
        for some in self._judged(scope):
            yield
            for one in some:
                if one.protection is None and one.salience.total < self._wanted.salience_threshold:
                    self._decision.pruned.append(Pruned(one.memory, one.salience))
                    scope.gone.add(one.memory)

    def _judged(self, scope: Scope) -> Iterator[tuple[Judged, ...]]:
        absorbed = {merge.survivor: merge.absorbed for merge in self._decision.merged}
        return judged(self._others, scope.namespace, scope.entries, absorbed, self._now)

    def _cluster(self, scope: Scope) -> Work[None]:
        """Decide which memories belong together."""
        ids = tuple(entry.id for entry in scope.left)
        vectors = []
        for start in range(0, len(ids), DESCRIBED):
            yield
            vectors.append(self._others.compare(ReadVectors(memories=ids[start : start + DESCRIBED])))
        if not vectors:
            return
        known = np.concatenate(vectors)
        there = ~np.isnan(known[:, 0])  # some may have been erased since
        ids = tuple(compress(ids, there))
        self._told("memories grouped", 0, len(ids))
        clusters = yield from grouped(known[there])
        groups = tuple(
            Group(tuple(ids[place] for place in cluster.members), cluster.centrality) for cluster in clusters
        )
        self._decision.clusters.append(
            ClustersFormed(run=self._decision.run, namespace=scope.namespace, clusters=groups)
        )

    def _replay(self, scopes: Sequence[Scope]) -> Work[None]:
        """Go again through what faded and what was recalled most, and strengthen what was walked together."""
        left = {entry.id: entry for scope in scopes for entry in scope.left}
        attention: Attention = self._others.attend(ReadAttention())
        yield
        faded = [one for one in attention.queued if one.memory in left]
        decision = self._decision
        replayed = dream.replayed(faded, {memory: entry.access_count for memory, entry in left.items()})
        waiting = {one.memory for one in faded}
        decision.replayed = tuple(memory for memory in replayed if memory in waiting)
        walks: Walks = self._others.compare(ReadWalks(replayed=tuple(replayed)))
        yield
        links = [link for link in walks.links if link.source in left and link.target in left]
        strengthened = dream.strengthened(links, replayed)
        decision.strengthened = LinksStrengthened(run=decision.run, links=strengthened)
        shortcuts = dream.shortcuts(walks.paths, links, strengthened)
        decision.shortcuts = ShortcutsDrawn(run=decision.run, shortcuts=shortcuts)

    def _dream(self, scopes: Sequence[Scope]) -> Work[None]:
        """Look for patterns, measure drift, and adjust the goals where it is significant."""
        decision = self._decision
        for scope in scopes[:DREAMT_OF]:
            ids = [entry.id for entry in scope.left]
            looked_at = [ids[place] for place in sample(len(ids))] if ids else []
            found = yield from self._purposes.survey(
                scope.namespace, looked_at, lambda done, total: self._told("memories dreamt of", done, total)
            )
            decision.patterns += dream.patterns(found, decision.run)
            yield from self._adjust(scope)
        decision.patterns = sorted(decision.patterns, key=lambda pattern: -pattern.confidence)[: dream.PATTERNS]

    def _adjust(self, scope: Scope) -> Work[None]:
        """Measure drift, and where it is significant decide what brings memories and North Star together again."""
        before = self._purposes.drift(scope.namespace, LATEST, scope.gone)
        if before is None:
            return
        self._decision.drifts[scope.namespace] = before.now
        if before.now.level in {DriftLevel.NONE, DriftLevel.LOW}:
            return
        events = yield from self._purposes.correction(scope.namespace, before, scope.gone)
        if not events:
            return
        for event in events:
            yield
            self._decision.adjusted.append(self._adjusted(scope.namespace, before, event))
        if not any(isinstance(event, NorthStarChosen) for event in events):
            self._decision.adjusted.append(self._chosen(scope.namespace, before, before.star))

    def _adjusted(self, namespace: str, before: DriftReport, event: Event) -> Event:
        """Return what a correction would write as a part of this run, which can be undone."""
        match event:
            case GoalDiscovered():
                return msgspec.structs.replace(event, run=self._decision.run)
            case NorthStarChosen(goal=goal):
                return self._chosen(namespace, before, goal)
            case PurposesRealigned(memories=memories):
                previous = self._others.compare(ReadPurposes(memories=memories)).astype("<f4").tobytes()
                return msgspec.structs.replace(event, run=self._decision.run, previous=previous)
            case _:
                raise TypeError(f"no correction writes {type(event).__name__}")

    def _chosen(self, namespace: str, before: DriftReport, goal: UUID) -> GoalAdjusted:
        return GoalAdjusted(
            run=self._decision.run, namespace=namespace, previous=before.star, goal=goal, level=before.now.level
        )


def _candidates(entry: Entry) -> Iterator[duplicates.DuplicateCandidate]:
    """Yield what decides how a memory is merged; one that somebody brought back isn't."""
    body = entry.body
    if body is not None and not entry.protected:
        yield duplicates.DuplicateCandidate(
            memory=entry.id,
            content=body.text,
            code=body.modality in {Modality.CODE, Modality.STRUCTURED} or looks_like_code(body.text),
            importance=body.importance,
            created_at=body.created_at,
            row=entry.seq,
            kind=(body.modality, body.memory_type, repr(body.metadata.get("speaker"))),
        )
