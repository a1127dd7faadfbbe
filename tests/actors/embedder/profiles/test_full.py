"""The full profile as a store uses it, with tiny models of random weights: nothing here is about what it finds."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from actors.api.context import Context
from actors.api.operations.administration.maintenance import store_status
from actors.embedder.actor import plan_memory
from actors.embedder.loading import load_profile
from actors.embedder.messages import Content, EmbeddedMemory, EmbedMemory
from actors.embedder.models.full_models import MODELS, FullModels
from actors.embedder.profiles.embedded import EmbeddedProfile
from actors.embedder.profiles.full import FullProfile
from actors.hub.composition import start_hub
from actors.runtime.faults import EmbeddingFault, StorageFault
from actors.runtime.metrics import Latencies
from actors.runtime.settings import ModelProfile
from events.spaces import INDEX, SPACES
from events.storage.duckdb_log import DuckDBLog
from events.vocabulary import SpacesDeclared
from events.vocabulary.values import Modality
from projections.memories.sessions import Sessions
from tests.actors.conftest import search, store
from tests.actors.embedder.profiles.test_image_space import file_of
from tests.actors.slices import worked_off

pytestmark = pytest.mark.usefixtures("offline")

FOX = "The quick brown fox jumps over the lazy dog"
NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def full(sources: dict[str, Path]) -> FullProfile:
    return FullProfile(FullModels(sources, device="cpu"), Latencies())


def embed(full: FullProfile, content: str, sessions: Sessions, **more: Any) -> tuple[EmbeddedMemory, int]:
    """Embed a memory, and count the pauses of its plan."""
    text = {"modality": Modality.TEXT, "created_at": NOON} | {
        name: more.pop(name) for name in ("modality", "created_at", "image") if name in more
    }
    wanted: dict[str, Any] = {"namespace": "n", "content": Content(content, **text)} | more
    slices, memory = worked_off(plan_memory(full, EmbedMemory(**wanted), sessions))
    return memory, slices - 1  # the last pause waits for the turn before it, and there is none


@contextmanager
def on(folder: Path, name: ModelProfile, profile: FullProfile | EmbeddedProfile) -> Iterator[Context]:
    with start_hub(DuckDBLog(folder), folder, lambda _: profile, name) as hub:
        yield Context(hub)


@pytest.mark.anyio
@pytest.mark.requirement("STORE-001/profile-full")
async def test_the_models_that_the_seeds_name_fill_a_store_and_find_its_memories(
    sources: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetched = {published.name: sources[key] for key, published in MODELS.items()}
    monkeypatch.setattr("huggingface_hub.snapshot_download", lambda name, **_: str(fetched[name]))
    log = DuckDBLog(tmp_path)
    load = partial(load_profile, profile=ModelProfile.FULL)
    with start_hub(log, tmp_path, load, ModelProfile.FULL) as hub:
        context = Context(hub)
        memory = await store(context, FOX, session="s")
        second = await store(context, "Mara's dog is called Bo.", session="s", link_to=[memory])
        found = await search(context, FOX, session="s")
        assert {hit["fingerprintId"] for hit in found} == {memory, second}
        assert found[0]["fingerprintId"] == memory
        assert all(found[0]["embedderScores"][key] is not None for key in INDEX)
        declared = next(log.read()).event
    assert isinstance(declared, SpacesDeclared)
    assert declared.profile == "full"
    assert [model.key for model in declared.spaces] == [space.key for space in SPACES]
    named = {model.key: model.model.partition(",")[0] for model in declared.spaces}
    assert {key: named[key] for key in MODELS} == {key: published.name for key, published in MODELS.items()}
    assert {key: published.dimension for key, published in MODELS.items()} == {
        "e1_semantic": 1024,
        "e5_causal": 768,
        "e6_sparse": 30_522,
        "e7_code": 1536,
        "e8_graph": 384,
        "e10_multimodal": 768,
        "e11_entity": 384,
        "e12_late_interaction": 128,
        "e13_splade": 30_522,
    }


@pytest.mark.anyio
@pytest.mark.parametrize("first", ModelProfile)
async def test_a_store_refuses_the_other_profile_and_names_the_command_that_re_embeds(
    full: FullProfile, profile: EmbeddedProfile, tmp_path: Path, first: ModelProfile
) -> None:
    profiles = {ModelProfile.EMBEDDED: profile, ModelProfile.FULL: full}
    with on(tmp_path, first, profiles.pop(first)) as context:
        await store(context, FOX)
    with on(tmp_path, *profiles.popitem()) as context:
        with pytest.raises(StorageFault, match=f"profile '{first}'.*context-graph reembed") as refusal:
            await search(context, FOX)
        assert refusal.value.data["spaces"] == list(MODELS), "the four formulas are the same in both"
        assert (await store_status(context))["memories"]["live"] == 1


def test_a_plan_yields_before_each_window_of_each_model(full: FullProfile) -> None:
    short, pauses = embed(full, FOX, Sessions())
    assert pauses == len(MODELS)
    assert short.passages == ()
    long, more = embed(full, "memory and time " * 60, Sessions())
    assert more > 3 * pauses
    assert long.passages[0].start == 0
    assert long.passages[-1].end == len("memory and time " * 60) - 1
    assert all(one.end > other.start for one, other in pairwise(long.passages))


def test_interleaved_turns_get_consecutive_positions(full: FullProfile) -> None:
    sessions = Sessions()
    wanted = EmbedMemory(content=Content(FOX, Modality.TEXT, NOON), namespace="n", session="s")
    plans = [plan_memory(full, wanted, sessions) for _ in range(3)]
    places = []
    while plans:
        for plan in tuple(plans):
            try:
                next(plan)
            except StopIteration as done:
                places.append(done.value.position)
                plans.remove(plan)
    assert places == [0, 1, 2]
    assert sessions.next_position("n", "s") == 3


def test_what_a_memory_links_to_is_part_of_e8_and_of_nothing_else(full: FullProfile) -> None:
    other = embed(full, "Mara's dog is called Bo.", Sessions())[0].fingerprint
    alone = embed(full, FOX, Sessions())[0].fingerprint
    linked = embed(full, FOX, Sessions(), linked=(other,))[0].fingerprint
    assert [space.key for space in SPACES if alone[space.key] != linked[space.key]] == ["e8_graph"]
    theirs = other["e8_graph"].array.astype(np.float32)
    assert theirs @ linked["e8_graph"].array > theirs @ alone["e8_graph"].array


def test_an_image_is_refused_with_an_explanation(full: FullProfile) -> None:
    with pytest.raises(EmbeddingFault, match="no model of this store reads images"):
        embed(full, "holiday.png", Sessions(), modality=Modality.IMAGE)


def test_an_image_is_read_by_a_model_of_texts_and_images_in_e10_alone(sources: dict[str, Path], clip: Path) -> None:
    with_clip = FullProfile(FullModels({**sources, "e10_multimodal": clip}, "cpu"), Latencies())
    text = embed(with_clip, "the red one", Sessions())[0]
    image = embed(with_clip, "the red one", Sessions(), modality=Modality.IMAGE, image=file_of("red"))[0]
    keys = {space.key for space in SPACES if text.fingerprint[space.key] != image.fingerprint[space.key]}
    assert keys == {"e10_multimodal"}
    assert image.image is not None
    assert (image.image.media_type, image.image.width, image.image.height) == ("image/png", 48, 24)
    assert text.fingerprint["e10_multimodal"].array @ image.fingerprint["e10_multimodal"].array > 0.8
