"""The log alone leads to all that is known: after sleep, undo and deletion, with models or without them."""

import json
import sys
from pathlib import Path

import anyio
import pytest

from actors.embedder.profiles.embedded import EmbeddedProfile
from actors.hub.composition import start_hub
from actors.runtime.ask import ask
from actors.store.messages import ReadDigests, TakeSnapshot
from actors.store.snapshot_files import Snapshots
from events.storage.duckdb_log import DuckDBLog
from projections.registry import digests, rebuild
from tests.actors.api.sleeper import PATIENCE, QUESTIONS, Planted, _again, answers, settled
from tests.actors.api.stream import Mind
from tests.actors.conftest import loaded

pytestmark = pytest.mark.anyio

ELSEWHERE = """
import json
import sys
from pathlib import Path
from events.storage.duckdb_log import DuckDBLog
from projections.registry import digests, rebuild
log = DuckDBLog(Path(sys.argv[1]))
found = digests(rebuild(log.read()))
assert not {"openvino", "torch", "tokenizers", "pykka", "actors"} & {name.partition(".")[0] for name in sys.modules}
print(json.dumps(found))
"""


async def cut(mind: Mind) -> dict[str, str]:
    await settled(mind)
    seq, told = await ask(mind.hub.store, ReadDigests())
    assert seq == mind.hub.log.head.seq
    return told


async def week(mind: Mind, planted: Planted) -> None:
    """Ask, sleep, undo, forget and erase, so that every projection has something to tell."""
    ids = planted.ids
    await answers(mind, planted.at)
    await mind("discover_goals")
    for mode in ("light", "deep", "rem"):
        slept = await mind("consolidate_memories", mode=mode)
        assert slept["merges"] or mode != "light"
    await answers(mind, planted.at, QUESTIONS[:3])
    await mind("undo_consolidation", run_id=slept["run_id"])
    await mind("memory_delete", id=ids[1], reason="outdated")
    await mind("memory_delete", id=ids[2], soft=False)
    told = await mind("store_memory", content="The bakery closes for good.", session="end")
    await mind("store_memory", content="So I need another one.", session="end", link_to=[told["fingerprintId"]])


async def test_live_rebuilt_and_thawed_digests_are_the_same_also_in_a_process_without_models(
    profile: EmbeddedProfile, tmp_path: Path, planted: Planted
) -> None:
    log = DuckDBLog(tmp_path)
    for envelope in planted.log.read():
        log.append([_again(envelope)])
    with start_hub(log, tmp_path, loaded(profile), snapshots=Snapshots(tmp_path, log.keys)) as hub:
        mind = Mind(hub)
        await week(mind, planted)
        live = await cut(mind)
        assert live == digests(rebuild(hub.log.read()))
        before = await answers(mind, planted.at)
        live = await cut(mind)
        assert hub.store.ask(TakeSnapshot(), timeout=PATIENCE)
    told = await anyio.run_process([sys.executable, "-c", ELSEWHERE, str(tmp_path)])
    assert json.loads(told.stdout) == live
    log = DuckDBLog(tmp_path)
    with start_hub(log, tmp_path, loaded(profile), snapshots=Snapshots(tmp_path, log.keys)) as hub:
        mind = Mind(hub)
        assert await cut(mind) == live
        assert await answers(mind, planted.at) == before
        assert await cut(mind) == digests(rebuild(hub.log.read()))
