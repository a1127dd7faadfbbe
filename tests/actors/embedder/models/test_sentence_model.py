"""A model of sentence-transformers for E1, E8, E10 and E12: the packaged one by this path, and tiny ones on disk."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from actors.api.context import Context
from actors.cli.commands import program
from actors.embedder.loading import load_profile
from actors.embedder.models.backbone import Backbone, package_folder, pool
from actors.embedder.models.sentence_model import ModelUnavailableError, SentenceModel
from actors.embedder.profiles.embedded import EmbeddedProfile, space_models
from actors.embedder.profiles.sentence_spaces import SentenceSpaces, projection
from actors.hub.composition import open_hub, start_hub
from actors.runtime.faults import StorageFault
from actors.runtime.metrics import Latencies
from events.storage.duckdb_log import DuckDBLog
from events.vocabulary import MemoryStored, SpacesDeclared
from tests.acceptance.conftest import COMMAND, PATIENCE
from tests.actors.conftest import reembedded, search, store
from tests.actors.embedder.models.test_backbone import cosine

pytestmark = pytest.mark.usefixtures("offline")

TEXTS = (
    "Caroline went to the support group on 7 May 2023.",
    "Yes!",
    "Pour the batter into a buttered tin and bake it for forty minutes, until a knife comes out clean.",
    "Zoë's café 🙂 opened, and 東京 was full of people.",
)
CHOSEN = {"e1_semantic", "e8_graph", "e10_multimodal", "e12_late_interaction"}


@pytest.fixture(scope="module")
def packaged() -> SentenceModel:
    return SentenceModel(str(package_folder()), device="cpu")


@pytest.fixture(scope="module")
def fast() -> Backbone:
    return Backbone.load(precision="float32")


@pytest.fixture
def tiny(sources: dict[str, Path]) -> Path:
    return sources["e1_semantic"]


def test_the_packaged_model_gives_the_same_vectors_and_token_states_as_the_fast_path(
    packaged: SentenceModel, fast: Backbone
) -> None:
    rows = [fast.tokenize(text).ids for text in TEXTS]
    for window, row, states in zip(packaged.encode(TEXTS, is_query=False), rows, fast.forward(rows), strict=True):
        assert cosine(window.vector, pool([states])[0]) > 0.9999
        assert window.pieces.tolist() == row.tolist()
        assert cosine(window.states, states[1:-1]).min() > 0.999


def test_the_packaged_model_on_a_device_gives_the_same_states_as_the_graph(fast: Backbone) -> None:
    rows = [fast.tokenize(text).ids for text in (*TEXTS, "The harbour was full of small boats. " * 20)]
    on_device = Backbone.load(device="cpu")
    for one, other in zip(fast.forward(rows), on_device.forward(rows), strict=True):
        assert cosine(one, other).min() > 0.9999
    np.testing.assert_allclose(fast.input_embeddings(rows[0]), on_device.input_embeddings(rows[0]))


def test_a_long_text_is_read_to_its_end(packaged: SentenceModel) -> None:
    text = "The harbour was full of small boats that evening. " * 60
    ranges, spans = packaged.windows(text, is_query=False)
    assert len(ranges) == len(spans) > 2
    assert spans[0][0] == 0
    assert spans[-1][1] == len(text.rstrip())


def test_a_fixed_projection_keeps_inner_products_and_narrow_states_as_they_are() -> None:
    rng = np.random.default_rng(3)
    states = rng.standard_normal((200, 768)).astype(np.float32)
    states[1] = states[0] + 0.1 * states[1]
    small = states @ projection(768)
    assert small.shape == (200, 128)
    assert cosine(small[0], small[1]) > 0.97
    assert abs(cosine(small[2:100], small[100:198]).mean()) < 0.05
    assert (projection(768) == projection(768)).all()
    assert (states[:, :30] @ projection(30) == states[:, :30]).all()
    assert projection(33).shape == (33, 34), "E12 packs pairs of entries"


@pytest.mark.anyio
async def test_a_chosen_model_fills_four_spaces_of_a_store_and_the_others_stay(tiny: Path, tmp_path: Path) -> None:
    with open_hub(tmp_path, str(tiny)) as hub:
        context = Context(hub)
        long = await store(context, "memory and time " * 60)
        first = await store(context, TEXTS[0], session="s")
        second = await store(context, TEXTS[2], session="s", link_to=[first])
        found = await search(context, TEXTS[0], session="s")
        assert found[0]["fingerprintId"] == first
        assert {hit["fingerprintId"] for hit in found} <= {long, first, second}
    log = DuckDBLog(tmp_path)
    events = [envelope.event for envelope in log.read()]
    log.close()
    declared = events[0]
    assert isinstance(declared, SpacesDeclared)
    assert declared.profile == tiny.name, "and no path of this machine"
    own = {model.key: model for model in space_models()}
    assert {model.key for model in declared.spaces if model != own[model.key]} == CHOSEN
    dimensions = {model.key: model.dimension for model in declared.spaces}
    assert [dimensions[key] for key in sorted(CHOSEN)] == [64, 32, 32, 32]
    stored = [event for event in events if isinstance(event, MemoryStored)]
    assert len(stored[0].passages) > 1
    assert all(len(event.passages) == 0 for event in stored[1:])


@pytest.mark.anyio
async def test_a_store_of_a_chosen_model_opens_with_no_other_and_is_re_embedded(tiny: Path, tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    with open_hub(old, str(tiny)) as hub:
        await store(Context(hub), TEXTS[0])
    with open_hub(old) as hub:
        with pytest.raises(StorageFault, match=f"profile '{tiny.name}'.*reembed") as refusal:
            await search(Context(hub), TEXTS[0])
        assert "Choose the former by --embedder" in refusal.value.message
        assert set(refusal.value.data["spaces"]) == CHOSEN
    with open_hub(new) as hub:
        assert (await reembedded(old, hub)).memories == 1
    with open_hub(new) as hub:
        assert len(await search(Context(hub), TEXTS[0])) == 1


@pytest.fixture
def profile_with_prompts(tiny: Path, tmp_path: Path) -> SentenceModel:
    shutil.copytree(tiny, tmp_path / "prompted")
    SentenceModel(str(tiny))._encoder.save(str(tmp_path / "prompted"))
    settings = tmp_path / "prompted" / "config_sentence_transformers.json"
    text = settings.read_text()
    assert '"prompts"' in text
    model = SentenceModel(str(tmp_path / "prompted"))
    model._encoder.prompts = {"query": "query: ", "document": "passage: "}
    return model


def test_prompts_of_a_model_are_used_and_are_no_part_of_its_tokens(profile_with_prompts: SentenceModel) -> None:
    (asked,) = profile_with_prompts.encode([TEXTS[0]], is_query=True)
    (told,) = profile_with_prompts.encode([TEXTS[0]], is_query=False)
    assert asked.pieces.tolist() == told.pieces.tolist()
    assert not np.allclose(asked.vector, told.vector, atol=1e-4)


@pytest.mark.parametrize("workers", ["1", pytest.param("2", marks=pytest.mark.slow)])  # each process loads torch
def test_the_command_re_embeds_with_a_chosen_model_on_a_device(tiny: Path, tmp_path: Path, workers: str) -> None:
    def run_here(*arguments: str) -> Any:
        done = CliRunner().invoke(program, [*arguments, "--json"])
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout)

    old, new = str(tmp_path / "old"), str(tmp_path / "new")
    lines = tmp_path / "texts.jsonl"
    lines.write_text("".join(json.dumps({"content": text}) + "\n" for text in TEXTS), encoding="utf-8")
    run_here("import", str(lines), "--data", old)
    options = ("--embedder", str(tiny), "--device", "cpu", "--workers", workers, "--json")
    command = [COMMAND, "reembed", new, "--data", old, *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["memories"] == len(TEXTS)
    found = run_here("search", TEXTS[0], "--data", new, "--embedder", str(tiny))
    assert found["results"][0]["content"] == TEXTS[0]
    status = run_here("status", "--data", new)
    assert status["profile"] == tiny.name


def test_other_weights_are_other_spaces(tiny: Path, tmp_path: Path) -> None:
    shutil.copytree(tiny, tmp_path / tiny.name)
    settings = tmp_path / tiny.name / "config.json"
    settings.write_text(settings.read_text() + "\n")
    one, other = (SentenceSpaces(SentenceModel(str(folder))).models for folder in (tiny, tmp_path / tiny.name))
    assert {key for key in one if one[key].sha256 != other[key].sha256} == CHOSEN
    assert [model.model for model in one.values()] == [model.model for model in other.values()]


@pytest.mark.anyio
async def test_a_store_whose_model_has_other_files_under_its_name_says_so(tiny: Path, tmp_path: Path) -> None:
    model = Path(shutil.copytree(tiny, tmp_path / "model"))
    with open_hub(tmp_path / "store", str(model)) as hub:
        await store(Context(hub), TEXTS[0])
    rewrite(model / "config.json", layer_norm_eps=0.5)
    changed = pytest.raises(StorageFault, match=r"'model' of this store has other model files.*--embedder MODEL$")
    with open_hub(tmp_path / "store", str(model)) as hub, changed:
        await search(Context(hub), TEXTS[0])


def test_a_model_in_the_working_directory_has_the_name_of_its_folder(
    tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tiny)
    assert SentenceModel(".").name == tiny.name


def rewrite(file: Path, **changes: Any) -> None:
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))


def change_weights(folder: Path, change: Callable[[str, Any], Any]) -> None:
    """Replace the weights of a model; None removes one."""
    from safetensors.torch import load_file, save_file

    file = folder / "model.safetensors"
    changed = {name: change(name, weights) for name, weights in load_file(file).items()}
    save_file({name: weights for name, weights in changed.items() if weights is not None}, file, {"format": "pt"})


def saved_as_sparse(folder: Path) -> None:
    (folder / "config_sentence_transformers.json").write_text(json.dumps({"model_type": "SparseEncoder"}))


def with_code_of_its_own(folder: Path) -> None:
    rewrite(
        folder / "config.json", model_type="mine", auto_map={"AutoConfig": "mine.Config", "AutoModel": "mine.Model"}
    )
    (folder / "mine.py").write_text("raise SystemExit('it was run')\n")


def without_some_weights(folder: Path) -> None:
    change_weights(folder, lambda name, weights: None if "attention" in name else weights)


def with_weights_of_nothing(folder: Path) -> None:
    change_weights(folder, lambda _, weights: weights * 0)


def with_no_room_for_a_text(folder: Path) -> None:
    rewrite(folder / "tokenizer_config.json", model_max_length=4)


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (saved_as_sparse, "is a SparseEncoder, which gives no sentence vectors"),
        (with_code_of_its_own, "contains code of its own, which is never run"),
        (without_some_weights, "lacks weights that its config.json asks for"),
        (with_weights_of_nothing, "its weights are damaged"),
        (with_no_room_for_a_text, "reads 4 tokens, of which its prompt leaves none"),
    ],
)
def test_a_model_that_can_not_be_used_is_refused_when_it_is_loaded(
    tiny: Path, tmp_path: Path, spoil: Callable[[Path], None], words: str
) -> None:
    model = Path(shutil.copytree(tiny, tmp_path / "model"))
    spoil(model)
    with pytest.raises(ModelUnavailableError, match=words):
        load_profile(Latencies(), str(model))


def test_weights_in_float16_are_computed_in_float32_on_a_processor(tiny: Path, tmp_path: Path) -> None:
    model = Path(shutil.copytree(tiny, tmp_path / "model"))
    change_weights(model, lambda _, weights: weights.half())
    rewrite(model / "config.json", dtype="float16")
    half = SentenceModel(str(model), device="cpu")
    assert str(half._encoder.dtype) == "torch.float32"
    (one,), (other,) = (each.encode(["words"], is_query=False) for each in (half, SentenceModel(str(tiny))))
    assert cosine(one.vector, other.vector) > 0.999


def test_weights_that_are_missing_and_not_used_do_not_matter(tiny: Path, tmp_path: Path) -> None:
    model = Path(shutil.copytree(tiny, tmp_path / "model"))
    change_weights(model, lambda name, weights: None if "pooler" in name else weights)
    one, other = (SentenceModel(str(folder)).encode(["words"], is_query=False)[0] for folder in (tiny, model))
    assert np.allclose(one.vector, other.vector, atol=1e-3)
    load = f"from {SentenceModel.__module__} import SentenceModel; SentenceModel({str(model)!r})"
    loaded = subprocess.run([sys.executable, "-c", load], capture_output=True, text=True, check=True)
    assert loaded.stderr == "", "a user is told nothing that only a programmer could do"


def test_a_model_that_can_not_be_had_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailableError, match="nobody/nothing is neither a local folder nor available"):
        load_profile(Latencies(), "nobody/nothing")
    with pytest.raises(ModelUnavailableError, match=f"{tmp_path} can't be loaded"):
        load_profile(Latencies(), str(tmp_path))


def test_a_model_without_states_of_its_tokens_is_refused(tmp_path: Path) -> None:
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(package_folder() / "tokenizer.json"))
    SentenceTransformer(modules=[StaticEmbedding(tokenizer, embedding_dim=16)]).save(str(tmp_path / "static"))
    with pytest.raises(ModelUnavailableError, match=r"static has no states of its tokens, which E12 needs"):
        SentenceModel(str(tmp_path / "static"))


def test_a_device_that_does_not_exist_is_named() -> None:
    with pytest.raises(ModelUnavailableError, match="device 'nonsense'"):
        Backbone.load(device="nonsense")


@pytest.mark.anyio
async def test_the_packaged_model_by_this_path_finds_what_it_finds_by_the_fast_one(
    packaged: SentenceModel, tmp_path: Path
) -> None:
    memories = ["The physician examined her patient.", "Shares fell sharply on Monday.", "Mara's dog is called Bo."]
    chosen = EmbeddedProfile(Latencies(), chosen=SentenceSpaces(packaged))
    with start_hub(DuckDBLog(tmp_path), tmp_path, lambda _: chosen, "minilm") as hub:
        context = Context(hub)
        for memory in memories:
            await store(context, memory)
        hits = await search(context, "A doctor looked at the sick woman.")
    assert hits[0]["content"] == memories[0]
