"""Making the store: once, through the same operations as a user's memories, and copied for every experiment."""

import hashlib
import json
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import anyio
import msgspec
from typer import BadParameter

from actors.api.operations.facade import Operations
from actors.api.params.fields import DEFAULT_NAMESPACE
from actors.api.params.memories import StoreMemory
from actors.api.params.parsing import parse
from actors.hub.composition import open_hub
from benchmarks.sleep.corpora import Corpus
from benchmarks.sleep.planting import Item, Kind, Plan, arguments, plan

AT_ONCE = 32
"""Sessions that are stored side by side; the turns of one follow each other, as they do in life."""

Ids = dict[int, str]
"""The memory of each place of the plan."""


class Planted(msgspec.Struct, frozen=True):
    """What a kept folder says of its store."""

    today: datetime
    """What the dates of the plan were counted from."""
    memories: int
    digest: str
    ids: Ids


class Soil(msgspec.Struct, frozen=True):
    """A store that is copied for every experiment."""

    folder: Path
    planned: Plan
    ids: Ids
    today: datetime
    """What the dates of the plan were counted from."""


async def prepare(
    keep: Path, scratch: Path, corpora: Sequence[Corpus], memories: int, advance: Callable[[int], object]
) -> Soil:
    """Take the store that was kept, or make it; then store what has to be young in a copy of it.

    Args:
        keep: Where the store is kept, or was.
        scratch: A folder for the copy.
        corpora: What the memories are taken from.
        memories: How many there are in all.
        advance: Told of every memory that is there, by how many.

    Raises:
        BadParameter: another store is kept there.
    """
    record = keep / "planted.json"
    if record.exists():
        planted = msgspec.json.decode(record.read_bytes(), type=Planted)
        planned = plan(corpora, memories, planted.today)
        if (planted.memories, planted.digest) != (memories, _digest(planned)):
            raise BadParameter(f"{keep} holds another store, of {planted.memories} memories: keep this one elsewhere")
        advance(len(planted.ids))
    else:
        today = datetime.now(UTC)
        planned = plan(corpora, memories, today)
        unfinished = keep / "unfinished"
        shutil.rmtree(unfinished, ignore_errors=True)
        lasting = [place for place, item in enumerate(planned.items) if item.kind is not Kind.YOUNG]
        ids = await store(unfinished, planned.items, lasting, {}, advance)
        unfinished.rename(keep / "store")
        planted = Planted(today, memories, _digest(planned), ids)
        record.write_bytes(msgspec.json.encode(planted))
    folder = shutil.copytree(keep / "store", scratch / "soil")
    young = await store(folder, planned.items, planned.places(Kind.YOUNG), planted.ids, advance)
    return Soil(folder, planned, planted.ids | young, planted.today)


async def store(
    folder: Path, items: Sequence[Item], places: Iterable[int], known: Ids, advance: Callable[[int], object]
) -> Ids:
    """Store items in a folder, what others link to first, and return their memories."""
    ids: Ids = {}
    wanted = list(places)
    linked = {place for item in items for place in item.linked}
    with open_hub(folder, priming=False) as hub:
        operations = Operations(hub)
        await operations.ready()
        slot = anyio.CapacityLimiter(AT_ONCE)

        async def tell(turns: list[int]) -> None:
            async with slot:
                for place in turns:
                    given = arguments(items[place], known | ids, DEFAULT_NAMESPACE)
                    ids[place] = (await operations.store_memory(parse(given, StoreMemory)))["fingerprintId"]
                    advance(1)

        for together in (
            [place for place in wanted if place in linked],
            [place for place in wanted if place not in linked],
        ):
            async with anyio.create_task_group() as group:
                for turns in _sessions(items, together):
                    group.start_soon(tell, turns)
    return ids


def _sessions(items: Sequence[Item], places: Iterable[int]) -> list[list[int]]:
    """Return which places are told one after the other; what has no session stands alone."""
    groups: dict[str | int, list[int]] = defaultdict(list)
    for place in places:
        groups[items[place].session or place].append(place)
    return list(groups.values())


def _digest(planned: Plan) -> str:
    """Return a digest of all that the plan stores."""
    told = json.dumps([[item.kind, item.text, item.created_at, item.importance] for item in planned.items])
    return hashlib.sha256(told.encode()).hexdigest()
