"""Consolidation on one hub of a shared log: who may begin a run, and which runs may still change something.

The hub that consolidates holds a lock of the server, which its session loses when it ends or is stopped. The next hub
that gets the lock appends `ConsolidatorChanged` before its first run. That event fences: the store of every hub, which
folds all events before it appends, then refuses the decisions of a run that began before.
"""

import os
import platform
from collections.abc import Sequence

from actors.runtime.faults import StorageFault
from actors.store.log.following import Follower
from events.vocabulary import ConsolidationFinished, ConsolidationStarted, ConsolidatorChanged, Event
from projections.mind.runs import ConsolidatorLease


def check_runs(
    events: Sequence[Event], lease: ConsolidatorLease, follower: Follower | None
) -> ConsolidatorChanged | StorageFault | None:
    """Decide about an append to a log. The turn is taken, so the lease is up to date.

    Without a follower the log isn't shared, and every run is allowed.

    Returns:
        What must be appended before them, why they can't be appended, or None where nothing speaks against them.
    """
    if follower is None:
        return None
    started = {event.run for event in events if isinstance(event, ConsolidationStarted)}
    finished = {event.run for event in events if isinstance(event, ConsolidationFinished)}
    if not all(lease.may_finish(run) for run in finished - started):
        return StorageFault("Storage failed: another hub has taken over the consolidation; this run changes nothing")
    if started <= finished:  # decided at once: nothing can come between
        return None
    if not follower.lead():
        leader = f" ({lease.latest.host})" if lease.latest is not None else ""
        return StorageFault(f"Storage failed: another hub{leader} consolidates this log; ask it for the run")
    if lease.latest is not None and lease.latest.hub == follower.hub:
        return None
    epoch = 1 + (lease.latest.epoch if lease.latest is not None else 0)
    return ConsolidatorChanged(epoch=epoch, hub=follower.hub, host=f"{platform.node()}, process {os.getpid()}")
