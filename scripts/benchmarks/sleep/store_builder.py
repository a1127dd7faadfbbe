"""Builds the planned store once, through the operations that agents call; experiments use copies of it."""

import hashlib
import json
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from typer import BadParameter

from benchmarks.datasets import Dataset
from benchmarks.sleep.plan import Item, Kind, Plan, make_plan
from benchmarks.store import in_sessions, open_store

Ids = dict[int, str]
"""The memory of each place of the plan."""


class Record(msgspec.Struct, frozen=True):
    """What a kept folder records about its store."""

    today: datetime
    memories: int
    digest: str
    ids: Ids


class Built(msgspec.Struct, frozen=True):
    """A store to be copied for each experiment."""

    folder: Path
    plan: Plan
    ids: Ids
    today: datetime
    """The day from which the plan counts its dates."""


async def prepare(
    keep: Path, scratch: Path, datasets: Sequence[Dataset], memories: int, advance: Callable[[int], object]
) -> Built:
    """Use the store kept in a folder, or build it; then store the young memories in a copy of it.

    Raises:
        BadParameter: the folder holds another store.
    """
    record_file = keep / "planted.json"
    if record_file.exists():
        record = msgspec.json.decode(record_file.read_bytes(), type=Record)
        plan = make_plan(datasets, memories, record.today)
        if (record.memories, record.digest) != (memories, _digest(plan)):
            raise BadParameter(f"{keep} holds another store, of {record.memories} memories: keep this one elsewhere")
        advance(len(record.ids))
    else:
        today = datetime.now(UTC)
        plan = make_plan(datasets, memories, today)
        unfinished = keep / "unfinished"
        shutil.rmtree(unfinished, ignore_errors=True)
        lasting = [place for place, item in enumerate(plan.items) if item.kind is not Kind.YOUNG]
        ids = await _store(unfinished, plan.items, lasting, {}, advance)
        unfinished.rename(keep / "store")
        record = Record(today, memories, _digest(plan), ids)
        record_file.write_bytes(msgspec.json.encode(record))
    folder = shutil.copytree(keep / "store", scratch / "built")
    young = await _store(folder, plan.items, plan.places(Kind.YOUNG), record.ids, advance)
    return Built(folder, plan, record.ids | young, record.today)


async def _store(
    folder: Path, items: Sequence[Item], places: Iterable[int], known: Ids, advance: Callable[[int], object]
) -> Ids:
    """Store the items of these places, link targets first, and return their memories."""
    ids: Ids = {}
    wanted = list(places)
    targets = {place for item in items for place in item.linked}
    async with open_store(folder) as store:

        async def store_item(place: int) -> None:
            ids[place] = await store.store(**items[place].arguments(known | ids))
            advance(1)

        for together in (
            [place for place in wanted if place in targets],
            [place for place in wanted if place not in targets],
        ):
            groups: dict[str | int, list[int]] = defaultdict(list)
            for place in together:
                groups[items[place].session or place].append(place)
            await in_sessions(groups.values(), store_item)
    return ids


def _digest(plan: Plan) -> str:
    rows = json.dumps([[item.kind, item.text, item.created_at, item.importance] for item in plan.items])
    return hashlib.sha256(rows.encode()).hexdigest()
