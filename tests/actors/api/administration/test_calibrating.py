"""The calibration of a chosen model on texts of the store; the model is the packaged one, cut to three layers."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from actors.api.context import Context
from actors.api.operations.administration.audit import AuditTrail, audit_trail
from actors.api.operations.administration.calibration import StoreCalibrate, store_calibrate
from actors.api.operations.administration.maintenance import store_status
from actors.api.operations.retrieval.search import search_graph
from actors.api.params.parsing import parse
from actors.api.params.search import SearchGraph
from actors.api.tools.agent_tools import BY_METHOD
from actors.api.tools.dispatch import call
from actors.embedder.models.backbone import package_folder
from actors.hub.composition import open_hub
from actors.runtime.faults import InvalidParamsFault, StorageFault
from events.spaces import SPACES
from tests.actors.conftest import store

pytestmark = pytest.mark.anyio

CHOSEN = {"e1_semantic", "e8_graph", "e10_multimodal", "e12_late_interaction"}
SUBJECTS = {
    "the ferry to Bornholm": ("leaves at seven", "was cancelled in the storm", "needs a booking for bicycles"),
    "the sourdough starter": ("rises within four hours", "wants rye flour", "dried out in the fridge"),
    "our old piano": ("was tuned on Friday", "has a broken pedal", "was bought by the school"),
    "the tax return": ("is due in July", "was sent back by the office", "needs the receipts of the car"),
    "Nadia's greenhouse": ("lost two panes to hail", "is full of tomatoes", "gets a new heater"),
    "the login service": ("times out behind the proxy", "rejects expired tokens", "moved to another cluster"),
}
WHEN = ("this week", "last year", "as Tomas said")
TEXTS = [f"{when}, {subject} {what}." for subject, whats in SUBJECTS.items() for what in whats for when in WHEN]


@pytest.fixture
def shallow(tmp_path: Path) -> Path:
    """A model that places texts differently than the packaged one, and whose similarities are all high."""
    folder = tmp_path / "shallow"
    shutil.copytree(package_folder(), folder)
    settings = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(settings | {"num_hidden_layers": 3}))
    return folder


async def similarities(context: Context, one: str, others: list[str]) -> dict[str, list[float]]:
    arguments = {"memory_a": one, "include_per_embedder": True}
    pairs = [await call(context, BY_METHOD["memory/compare"], arguments | {"memory_b": two}) for two in others]
    places = {space.key: at for at, space in enumerate(SPACES)}
    return {key: [pair["per_embedder"][places[key]] for pair in pairs] for key in CHOSEN}


async def relevance(context: Context, query: str) -> Any:
    return (await search_graph(context, parse({"query": query}, SearchGraph))).get("relevance")


async def test_a_chosen_model_is_calibrated_on_texts_of_the_store_and_stays_so(shallow: Path, tmp_path: Path) -> None:
    calibrate = parse({}, StoreCalibrate)
    with open_hub(tmp_path / "store", str(shallow)) as hub:
        context = Context(hub)
        ids = [await store(context, text) for text in TEXTS[:49]]
        with pytest.raises(StorageFault, match="49 memories; a calibration needs 50"):
            await store_calibrate(context, calibrate)
        ids += [await store(context, text) for text in TEXTS[49:]]
        assert not CHOSEN & (await store_status(context))["calibration"].keys()
        assert await relevance(context, "when does the boat go?") is None
        with pytest.raises(InvalidParamsFault, match="context-graph calibrate"):
            await search_graph(context, parse({"query": "the boat", "min_confidence": "uncertain"}, SearchGraph))
        raw = await similarities(context, ids[0], [ids[0], ids[1], *ids[9:]])

        fitted = await store_calibrate(context, calibrate)
        assert fitted["spaces"].keys() == CHOSEN
        assert fitted["texts"] == len(TEXTS)
        assert fitted["pairs"] == len(TEXTS) * (len(TEXTS) - 1) // 2
        after = await similarities(context, ids[0], [ids[0], ids[1], *ids[9:]])
        for key in CHOSEN - {"e8_graph"}:
            same, related, *unrelated = after[key]
            assert same == pytest.approx(1, abs=1e-3)
            assert related > 0.5
            assert np.median(unrelated) < 0.2 < np.median(raw[key][2:])
            assert np.argsort(raw[key][:2]).tolist() == np.argsort(after[key][:2]).tolist()
        told = await audit_trail(context, parse({"limit": 1}, AuditTrail))
        assert "4 spaces were calibrated on 54 texts of the store" in json.dumps(told)
    with open_hub(tmp_path / "store", str(shallow)) as hub:
        context = Context(hub)
        assert await similarities(context, ids[0], [ids[0], ids[1], *ids[9:]]) == after
        calibration = (await store_status(context))["calibration"]
        assert {key for key, how in calibration.items() if how == "own texts"} == CHOSEN
        near, far = (
            await relevance(context, "when does the ferry leave?"),
            await relevance(context, "who won the match?"),
        )
        assert near > far


async def test_texts_that_are_all_alike_calibrate_nothing(shallow: Path, tmp_path: Path) -> None:
    with open_hub(tmp_path / "store", str(shallow)) as hub:
        context = Context(hub)
        for number in range(50):
            await store(context, f"The ferry to Bornholm leaves at seven on day number {number}.")
        with pytest.raises(StorageFault, match="pairs of these texts alike; store texts on more subjects"):
            await store_calibrate(context, parse({}, StoreCalibrate))


async def test_the_packaged_models_need_no_calibration(tmp_path: Path) -> None:
    with open_hub(tmp_path / "store") as hub:
        context = Context(hub)
        await store(context, TEXTS[0])
        with pytest.raises(StorageFault, match="the packaged model fills E1 and is calibrated"):
            await store_calibrate(context, parse({}, StoreCalibrate))
