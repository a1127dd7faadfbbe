"""Stores that earlier versions wrote: `tests/fixtures/stores/make_stores.py` made them with their code."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from actors.api.context import Context
from actors.embedder.profiles.embedded import EmbeddedProfile
from actors.hub.composition import open_hub
from actors.hub.hub import Hub
from events.crypto.keys import KeyRing
from events.crypto.wrapping import is_locked
from events.storage.duckdb_log import DuckDBLog
from events.storage.format import FORMAT, format_of
from events.storage.log import Envelope
from events.verify.verification import verify
from tests.actors.conftest import Agent, Connect, loaded, reembedded
from tests.fixtures.stores.make_stores import VERSIONS
from tests.fixtures.stores.unpacking import Expected, names, unpack
from tests.sampling import sampled

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("STORE-001/persistent")]

SAME_MODELS = ("locked", "schema", "plain", "keyed", "keyed-locked")
OTHER_MODELS = ("first", "goals", "eight-bits", "pickled")
"""Their E5 or E7 had other weights, so no query can be compared with them."""

LATER = "The rowing club meets at the boathouse on Sundays."


class Layout(NamedTuple):
    """What tells the files of one format from those of another."""

    locked: bool
    keyed: bool
    """Whether its chain has a key."""
    snapshot: bool
    format: bool
    """Whether a file names the format."""


LAYOUTS = {
    "first": Layout(locked=False, keyed=False, snapshot=False, format=False),
    "goals": Layout(locked=False, keyed=False, snapshot=False, format=False),
    "eight-bits": Layout(locked=False, keyed=False, snapshot=False, format=False),
    "pickled": Layout(locked=False, keyed=False, snapshot=True, format=False),
    "locked": Layout(locked=True, keyed=False, snapshot=True, format=False),
    "schema": Layout(locked=False, keyed=False, snapshot=True, format=False),
    "plain": Layout(locked=False, keyed=False, snapshot=True, format=False),
    "keyed": Layout(locked=False, keyed=True, snapshot=True, format=True),
    "keyed-locked": Layout(locked=True, keyed=True, snapshot=True, format=True),
}


class Kept:
    """A store as an earlier version left it.

    Attributes:
        folder: Of the store.
        expected: What it contains.
        events: All of its log.
    """

    def __init__(self, name: str, folder: Path) -> None:
        self.folder = folder
        self.expected = unpack(name, folder)
        self.events = self.read()

    def read(self) -> list[Envelope]:
        with closing(DuckDBLog(self.folder, self.expected.passphrase, read_only="to look")) as log:
            return list(log.read())

    def check(self) -> None:
        """Verify the store, and compare its log with what it was."""
        report = verify(self.folder, self.expected.passphrase)
        assert report.problems == ()
        assert report.shredded >= 1
        assert self.read()[: len(self.events)] == self.events


@pytest.fixture
def kept(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kept:
    found = Kept(request.param, tmp_path / "store")
    if found.expected.passphrase is not None:
        monkeypatch.setenv("CONTEXT_GRAPH_PASSPHRASE", found.expected.passphrase)
    return found


@contextmanager
def opened(folder: Path, profile: EmbeddedProfile) -> Iterator[Hub]:
    with open_hub(folder, load=loaded(profile)) as hub:
        yield hub


async def check_states(agent: Agent, expected: Expected) -> None:
    """Compare the texts and states of all memories, and all digests with those of a replay."""
    for memory, text in expected.live.items():
        found = await agent.call("memory_retrieve", id=memory)
        assert (found["content"], found["state"]) == (text, "live")
    assert (await agent.call("memory_retrieve", id=expected.forgotten))["state"] == "forgotten"
    counts = (await agent.request("store/status"))["memories"]
    assert (counts["live"], counts["forgotten"]) == (len(expected.live), 1)
    assert (await agent.request("store/replay"))["matches"]


async def check_goes_on(folder: Path, expected: Expected, profile: EmbeddedProfile, connect: Connect) -> None:
    """Find every memory, store and restore one, replay, and open the store once more."""
    with opened(folder, profile) as hub:
        async with connect(Context(hub)) as agent:
            await check_states(agent, expected)
            for memory, text in expected.live.items():
                assert (await agent.call("search_graph", query=text))["results"][0]["fingerprintId"] == memory
            assert (await agent.refused("memory_retrieve", id=expected.erased))["code"] == -32010
            added = (await agent.call("store_memory", content=LATER))["fingerprintId"]
            await agent.call("memory_restore", id=expected.forgotten)
            assert (await agent.request("store/replay"))["matches"]
    with opened(folder, profile) as hub:
        async with connect(Context(hub)) as agent:
            assert (await agent.call("search_graph", query=LATER))["results"][0]["fingerprintId"] == added
            assert (await agent.call("memory_retrieve", id=expected.forgotten))["state"] == "live"
            assert (await agent.request("store/status"))["memories"]["live"] == len(expected.live) + 2
    assert verify(folder, expected.passphrase).problems == ()


def test_each_store_is_the_one_of_its_version_in_its_format(tmp_path: Path) -> None:
    layouts = {}
    for name in names():
        folder = tmp_path / name
        expected = unpack(name, folder)
        assert expected.commit == VERSIONS[name].commit
        keys = (folder / "keys").read_bytes()
        keyed = KeyRing.of(keys, expected.passphrase).chain is not None
        layouts[name] = Layout(is_locked(keys), keyed, (folder / "snapshot").exists(), (folder / "format").exists())
    assert layouts == LAYOUTS
    assert {*SAME_MODELS, *OTHER_MODELS} == names()


@sampled("kept", SAME_MODELS, every=2, indirect=True)
async def test_a_store_of_an_earlier_version_is_whole_and_goes_on(
    kept: Kept, profile: EmbeddedProfile, connect: Connect
) -> None:
    kept.check()
    await check_goes_on(kept.folder, kept.expected, profile, connect)
    assert format_of(kept.folder) == FORMAT
    kept.check()


@sampled("kept", OTHER_MODELS, every=2, indirect=True)
async def test_a_store_of_earlier_models_shows_its_memories_and_is_whole_once_it_is_re_embedded(
    kept: Kept, profile: EmbeddedProfile, connect: Connect, tmp_path: Path
) -> None:
    kept.check()
    with opened(kept.folder, profile) as hub:
        async with connect(Context(hub)) as agent:
            await check_states(agent, kept.expected)
            refusal = await agent.refused("search_graph", query=LATER)
            assert "context-graph reembed" in refusal["message"]
    kept.check()
    with opened(tmp_path / "new", profile) as hub:
        await reembedded(kept.folder, hub)
    await check_goes_on(tmp_path / "new", kept.expected, profile, connect)
