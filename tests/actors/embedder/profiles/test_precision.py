"""The precision of the model, by the environment variable CONTEXT_GRAPH_PRECISION."""

from pathlib import Path

import pytest

from actors.api.context import Context
from actors.embedder.actor import Embedder
from actors.embedder.messages import LoadModels
from actors.embedder.models.backbone import PRECISION_VARIABLE, Backbone
from actors.embedder.profiles.embedded import EmbeddedProfile
from actors.hub.composition import start_hub
from actors.runtime.faults import EmbeddingFault
from actors.runtime.metrics import Latencies
from events.storage.duckdb_log import DuckDBLog
from tests.actors.conftest import search, store


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_the_variable_selects_the_precision(monkeypatch: pytest.MonkeyPatch, precision: str) -> None:
    monkeypatch.setenv(PRECISION_VARIABLE, precision)
    assert str(Backbone.load()._bert.dtype) == f"torch.{precision}"


@pytest.mark.parametrize("value", ["auto", ""])
def test_auto_and_an_empty_value_select_a_supported_precision(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv(PRECISION_VARIABLE, value)
    assert str(Backbone.load()._bert.dtype) in {"torch.float32", "torch.bfloat16"}


def test_an_unknown_precision_is_an_error_that_names_the_variable_and_its_choices(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(PRECISION_VARIABLE, "float8")
    embedder = Embedder.start(lambda: EmbeddedProfile(Latencies()), Latencies())
    with pytest.raises(EmbeddingFault, match=r"CONTEXT_GRAPH_PRECISION is 'float8'.*auto, float32, bfloat16"):
        embedder.ask(LoadModels(), timeout=60)


@pytest.mark.anyio
@pytest.mark.parametrize(("first", "second"), [("bfloat16", "float32"), ("float32", "bfloat16")])
async def test_a_store_made_in_one_precision_opens_in_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: str, second: str
) -> None:
    memories = ["The physician examined her patient.", "Shares fell sharply on Monday."]
    found = []
    for precision in (first, second):
        monkeypatch.setenv(PRECISION_VARIABLE, precision)
        profile = EmbeddedProfile(Latencies())
        with start_hub(DuckDBLog(tmp_path), tmp_path, lambda _, loaded=profile: loaded) as hub:
            context = Context(hub)
            if precision == first:
                for memory in memories:
                    await store(context, memory)
            found.append([hit["content"] for hit in await search(context, "A doctor looked at the sick woman.")])
    assert found[0] == found[1]
    assert found[0][0] == memories[0]
