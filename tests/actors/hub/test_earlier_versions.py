"""Stores that earlier versions wrote: `tests/fixtures/stores/make_stores.py` made them with their code."""

import json
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from actors.api.context import Context
from actors.embedder.profiles.embedded import EmbeddedProfile
from actors.hub.composition import open_hub
from actors.hub.hub import Hub
from actors.hub.reembed import reembed
from events.storage.format import FORMAT, format_of
from events.verify.verification import verify
from tests.actors.conftest import Agent, Connect

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("STORE-001/persistent")]

FOLDER = Path(__file__).parents[2] / "fixtures" / "stores"
SAME_MODELS = ("locked", "schema", "plain", "keyed", "keyed-locked")
OTHER_MODELS = ("first", "goals", "eight-bits", "pickled")
"""Their E5 or E7 had other weights, so no query can be compared with them."""

LATER = "The rowing club meets at the boathouse on Sundays."


class Kept:
    """A store as an earlier version left it.

    Attributes:
        folder: Of the store.
        expected: What it contains.
    """

    def __init__(self, packed: Path, folder: Path) -> None:
        with tarfile.open(packed) as archive:
            archive.extractall(folder, filter="data")
        self.folder = folder
        self.expected: dict[str, Any] = json.loads((folder / "expected.json").read_text(encoding="utf-8"))

    def check(self) -> None:
        report = verify(self.folder, self.expected["passphrase"])
        assert report.problems == ()
        assert report.shredded >= 1


@pytest.fixture
def kept(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kept:
    found = Kept(FOLDER / f"{request.param}.tar.xz", tmp_path / "store")
    if found.expected["passphrase"] is not None:
        monkeypatch.setenv("CONTEXT_GRAPH_PASSPHRASE", found.expected["passphrase"])
    return found


@contextmanager
def opened(folder: Path, profile: EmbeddedProfile) -> Iterator[Hub]:
    with open_hub(folder, load=lambda _latencies: profile) as hub:
        yield hub


async def check_states(agent: Agent, expected: dict[str, Any]) -> None:
    for memory, text in expected["live"].items():
        found = await agent.call("memory_retrieve", id=memory)
        assert (found["content"], found["state"]) == (text, "live")
    assert (await agent.call("memory_retrieve", id=expected["forgotten"]))["state"] == "forgotten"


async def check_goes_on(folder: Path, expected: dict[str, Any], profile: EmbeddedProfile, connect: Connect) -> None:
    """Find every memory, store and restore one, replay, and open the store once more."""
    with opened(folder, profile) as hub:
        async with connect(Context(hub)) as agent:
            await check_states(agent, expected)
            for memory, text in expected["live"].items():
                assert (await agent.call("search_graph", query=text))["results"][0]["fingerprintId"] == memory
            assert (await agent.refused("memory_retrieve", id=expected["erased"]))["code"] == -32010
            added = (await agent.call("store_memory", content=LATER))["fingerprintId"]
            await agent.call("memory_restore", id=expected["forgotten"])
            assert (await agent.request("store/replay"))["matches"]
    with opened(folder, profile) as hub:
        async with connect(Context(hub)) as agent:
            assert (await agent.call("search_graph", query=LATER))["results"][0]["fingerprintId"] == added
            assert (await agent.call("memory_retrieve", id=expected["forgotten"]))["state"] == "live"
    assert verify(folder, expected["passphrase"]).problems == ()


def test_there_is_a_store_of_each_earlier_format() -> None:
    assert {path.name.partition(".")[0] for path in FOLDER.glob("*.tar.xz")} == {*SAME_MODELS, *OTHER_MODELS}


@pytest.mark.parametrize("kept", SAME_MODELS, indirect=True)
async def test_a_store_of_an_earlier_version_is_whole_and_goes_on(
    kept: Kept, profile: EmbeddedProfile, connect: Connect
) -> None:
    kept.check()
    await check_goes_on(kept.folder, kept.expected, profile, connect)
    assert format_of(kept.folder) == FORMAT
    kept.check()


@pytest.mark.parametrize("kept", OTHER_MODELS, indirect=True)
async def test_a_store_of_earlier_models_shows_its_memories_and_is_whole_once_it_is_re_embedded(
    kept: Kept, profile: EmbeddedProfile, connect: Connect, tmp_path: Path
) -> None:
    kept.check()
    with opened(kept.folder, profile) as hub:
        async with connect(Context(hub)) as agent:
            await check_states(agent, kept.expected)
            refusal = await agent.refused("search_graph", query=LATER)
            assert "context-graph reembed" in refusal["message"]
            assert (await agent.request("store/replay"))["matches"]
    kept.check()
    with opened(tmp_path / "new", profile) as hub:
        await reembed(kept.folder, hub)
    await check_goes_on(tmp_path / "new", kept.expected, profile, connect)
