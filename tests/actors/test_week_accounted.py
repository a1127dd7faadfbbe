"""A week of sleeps, with an undo and erasures on top, is all accounted for by its log, here and without the models."""

import json
import subprocess
import sys
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from actors.consolidator.messages import UndoRun
from actors.embedder.profiles.embedded import EmbeddedProfile
from actors.store.messages import Append, ReadDigests
from events.storage.duckdb_log import DuckDBLog
from events.storage.log import Envelope, Log
from events.storage.log_prefix import LogPrefix
from events.vocabulary import ConsolidationFinished, ConsolidationUndone, MemoriesMerged, MemoriesPruned, MemoryErased
from events.vocabulary.values import Mode
from projections.projection import MemoryState
from projections.registry import digests, rebuild
from tests.actors.api.administration.test_replaying import ELSEWHERE
from tests.actors.consolidator.asleep import BOUND
from tests.actors.consolidator.planted_memories import LIFE
from tests.actors.test_week import Week, lived


class Written(DuckDBLog):
    """A log on disk that remembers what it answered, as a week expects of its log."""

    def __init__(self, folder: Path) -> None:
        self.told: list[Envelope] = []  # before the log is opened, which appends that its chain is keyed
        super().__init__(folder)

    def append(self, drafts: Any) -> tuple[Envelope, ...]:
        envelopes = super().append(drafts)
        self.told += envelopes
        return envelopes


class AccountedWeek(Week):
    """A week after which a night is taken back, and memories are erased: told, merged, absorbed and pruned ones."""

    log: Any

    def live(self) -> None:
        super().live()
        night = next(run for run in self.listed if run.mode is Mode.DEEP and run.active_merges)
        self.hub.consolidator.ask(UndoRun(run=night.run), timeout=BOUND)
        for name in (LIFE[1], "copy 2", "trivial 3"):
            memory = self.entry(name, own=True).id
            erasure = MemoryErased(memory=memory, reason="asked for")
            append = Append(id=night.run, event=erasure, actor="front", correlation_id=memory)
            self.hub.store.ask(append, timeout=BOUND)
        self.settle()
        self.digests: dict[str, str]
        seq, self.digests = self.hub.store.ask(ReadDigests(), timeout=BOUND)
        assert seq == self.log.head.seq


def states(log: Log, memories: Iterable[UUID]) -> dict[UUID, MemoryState]:
    """Return where memories are in their lives, as far as they had begun when the log ended."""
    catalog: Any = rebuild(log.read())["catalog"]
    return {memory: catalog.get(memory).state for memory in memories if memory in catalog}


@pytest.fixture(scope="session")
def week(profile: EmbeddedProfile, tmp_path_factory: pytest.TempPathFactory) -> AccountedWeek:
    folder = tmp_path_factory.mktemp("accounted")
    week = AccountedWeek(Written(folder), permitted=True)  # pyright: ignore[reportArgumentType] -- see `Written`
    return lived(week, profile, folder)


@pytest.mark.slow
def test_two_replays_one_of_them_elsewhere_without_models_give_the_digests_of_the_living(week: AccountedWeek) -> None:
    folder = week.log.folder
    done = subprocess.run(
        [sys.executable, "-c", ELSEWHERE, str(folder)], capture_output=True, text=True, timeout=BOUND, check=True
    )
    with closing(DuckDBLog(folder)) as log:
        here = digests(rebuild(log.read()))
    assert json.loads(done.stdout) == here == week.digests


def test_before_a_merge_both_are_there_and_what_was_erased_since_is_erased_even_then(week: AccountedWeek) -> None:
    told = week.log.told
    erased = {one.event.memory for one in told if isinstance(one.event, MemoryErased)}
    merge = next(one for one in told if isinstance(one.event, MemoriesMerged) and one.event.survivor not in erased)
    absorbed = set(merge.event.absorbed)
    with closing(DuckDBLog(week.log.folder)) as log:
        before = states(LogPrefix(log, merge.seq - 1), absorbed | erased | {merge.event.survivor})
        after = states(LogPrefix(log, merge.seq), absorbed | erased)
        now = states(log, erased)
    assert {before[memory] for memory in absorbed - erased} | {before[merge.event.survivor]} == {MemoryState.LIVE}
    assert {after[memory] for memory in absorbed - erased} == {MemoryState.MERGED}
    assert set(now.values()) == {MemoryState.ERASED}
    assert len(now) == 4
    assert {before[memory] for memory in erased & before.keys()} == {MemoryState.ERASED}


def test_the_week_had_all_that_is_accounted_for(week: AccountedWeek) -> None:
    kinds = {type(one.event) for one in week.log.told}
    assert {MemoriesMerged, MemoriesPruned, ConsolidationFinished, ConsolidationUndone, MemoryErased} <= kinds
