"""The precision of the model: measured on the machine, remembered, or chosen by CONTEXT_GRAPH_PRECISION."""

import hashlib
import shutil
from itertools import permutations
from pathlib import Path
from typing import Any

import msgspec
import pytest

from actors.api.context import Context
from actors.api.operations.administration.maintenance import store_status
from actors.embedder.actor import Embedder
from actors.embedder.messages import LoadModels
from actors.embedder.models import bert, graph_cache, precision
from actors.embedder.models.backbone import Backbone, pool
from actors.embedder.profiles.embedded import EmbeddedProfile
from actors.hub.composition import start_hub
from actors.runtime.faults import EmbeddingFault
from actors.runtime.metrics import Latencies
from events.storage.duckdb_log import DuckDBLog
from tests.actors.conftest import search, store
from tests.sampling import sampled

PRECISIONS = bert.supported_precisions()


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv(precision.VARIABLE, raising=False)
    assert graph_cache.cache_folder().is_relative_to(tmp_path)
    return graph_cache.cache_folder()


@pytest.fixture(scope="module")
def graphs() -> list[Path]:
    """The compiled graphs in the cache of this machine, in all precisions."""
    for one in PRECISIONS:
        Backbone.load(precision=one)
    return [*graph_cache.cache_folder().glob("*.blob")]


@pytest.fixture
def compiled(graphs: list[Path], cache: Path) -> Path:
    """A cache folder with compiled graphs, in which nothing was measured yet."""
    cache.mkdir(parents=True)
    for graph in graphs:
        shutil.copy(graph, cache)
    return cache


@pytest.mark.parametrize("chosen", PRECISIONS)
def test_the_variable_selects_the_precision(monkeypatch: pytest.MonkeyPatch, chosen: str) -> None:
    monkeypatch.setenv(precision.VARIABLE, chosen)
    assert Backbone.load().precision == chosen
    assert precision.describe()["precision"] == chosen
    assert precision.describe()["chosen_by"] == precision.VARIABLE


@sampled("value", ["auto", ""])
def test_auto_and_an_empty_value_select_the_precision_that_was_measured_to_be_faster(
    monkeypatch: pytest.MonkeyPatch, cache: Path, value: str
) -> None:
    monkeypatch.setenv(precision.VARIABLE, value)
    assert precision.describe()["precision"] is None, "nothing was measured yet"
    assert not cache.exists()
    loaded = Backbone.load()
    described = precision.describe()
    times = described["measured_ms"]
    assert loaded.precision == described["precision"] == min(times, key=times.__getitem__)
    assert all(time > 0 for time in times.values())
    assert described["chosen_by"] == "measurement"


def test_a_remembered_precision_is_taken_without_measuring_again(
    compiled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Backbone.load()
    (machine,) = msgspec.json.decode((compiled / "precision.json").read_bytes())
    measured = {machine: {"precision": "float32", "milliseconds": {"float32": 1.0, "bfloat16": 2.0}}}
    (compiled / "precision.json").write_bytes(msgspec.json.encode(measured))
    monkeypatch.setattr(precision, "ROUNDS", None, raising=True)
    assert Backbone.load().precision == "float32"
    assert precision.describe()["measured_ms"] == {"float32": 1.0, "bfloat16": 2.0}


@pytest.mark.usefixtures("compiled")
def test_a_measurement_on_another_processor_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    Backbone.load()
    assert precision.recall(1) is not None
    assert precision.recall(2) is None
    monkeypatch.setattr(precision, "machine", lambda: "Another Processor, openvino 2020.1")
    assert precision.recall(1) is None


@pytest.mark.parametrize("damage", [b"", b"{", b'{"x": 1}'])
def test_a_damaged_record_is_measured_and_written_again(compiled: Path, damage: bytes) -> None:
    (compiled / "precision.json").write_bytes(damage)
    Backbone.load()
    assert precision.recall(1) is not None


def test_a_compiled_graph_is_kept_and_a_damaged_one_replaced(cache: Path) -> None:
    rows = [[2003, 2019, 7099], [2178]]
    first = pool(Backbone.load(precision="float32").forward(rows))
    (blob,) = cache.glob("*.blob")
    kept = blob.read_bytes()
    assert (pool(Backbone.load(precision="float32").forward(rows)) == first).all()
    assert blob.read_bytes() == kept
    for damaged in (b"", kept[:1000], kept[:5_000_000] + b"\x55" + kept[5_000_001:]):
        blob.write_bytes(damaged)
        assert (pool(Backbone.load(precision="float32").forward(rows)) == first).all()
        assert blob.stat().st_size > 1_000_000
        assert blob.read_bytes() != damaged


def test_a_graph_that_was_compiled_for_other_instructions_is_compiled_again(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    identities: list[str] = []

    def noting(name: str, identity: str, *functions: Any) -> Any:
        identities.append(identity)
        return graph_cache.load_or_build(name, identity, *functions)

    monkeypatch.setattr(bert, "load_or_build", noting)
    rows = [[2003, 2019, 7099], [2178]]
    first = pool(Backbone.load(precision="float32").forward(rows))
    (blob,) = cache.glob("*.blob")
    own = blob.read_bytes()[: -graph_cache.DIGEST]
    assert own.count(b";isa=") == 1, "OpenVINO writes the instructions of the processor into its graphs"
    foreign = own.replace(b";isa=", b";isa=Another ", 1)
    blob.write_bytes(foreign + hashlib.sha256(identities[0].encode() + foreign).digest())
    assert (pool(Backbone.load(precision="float32").forward(rows)) == first).all()
    assert b";isa=Another " not in blob.read_bytes()


def test_a_cache_that_cannot_be_written_costs_time_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.delenv(precision.VARIABLE, raising=False)
    assert Backbone.load().precision in {"float32", "bfloat16"}
    assert precision.describe()["precision"] is None


@pytest.mark.usefixtures("cache")
def test_a_precision_that_the_processor_lacks_is_neither_measured_nor_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bert, "supported_precisions", lambda: ["float32"])
    assert Backbone.load().precision == "float32"
    assert list(precision.describe()["measured_ms"]) == ["float32"]
    with pytest.raises(ValueError, match="no bfloat16; use float32 or auto"):
        Backbone.load(precision="bfloat16")


def test_an_unknown_precision_is_an_error_that_names_the_variable_and_its_choices(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(precision.VARIABLE, "float8")
    embedder = Embedder.start(lambda: EmbeddedProfile(Latencies()), Latencies())
    with pytest.raises(EmbeddingFault, match=r"CONTEXT_GRAPH_PRECISION is 'float8'.*auto, float32, bfloat16"):
        embedder.ask(LoadModels(), timeout=60)


@pytest.mark.anyio
@pytest.mark.parametrize(("first", "second"), list(permutations(PRECISIONS, 2)))
async def test_a_store_made_in_one_precision_opens_in_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: str, second: str
) -> None:
    memories = ["The physician examined her patient.", "Shares fell sharply on Monday."]
    found = []
    for chosen in (first, second):
        monkeypatch.setenv(precision.VARIABLE, chosen)
        profile = EmbeddedProfile(Latencies())
        with start_hub(DuckDBLog(tmp_path), tmp_path, lambda _, loaded=profile: loaded) as hub:
            context = Context(hub)
            if chosen == first:
                for memory in memories:
                    await store(context, memory)
            found.append([hit["content"] for hit in await search(context, "A doctor looked at the sick woman.")])
            runtime = (await store_status(context))["runtime"]
            assert (runtime["name"], runtime["precision"]) == ("openvino", chosen)
    assert found[0] == found[1]
    assert found[0][0] == memories[0]
