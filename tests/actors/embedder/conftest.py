"""The packaged model, and models for tests of the full profile, saved once; nothing is fetched."""

from pathlib import Path

import pytest

from actors.embedder.models.backbone import Backbone


@pytest.fixture(scope="session")
def backbone() -> Backbone:
    """The packaged model."""
    return Backbone.load()


@pytest.fixture(scope="session")
def sources(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A folder for each space, with a tiny model of random weights in it."""
    from tests.actors.embedder.tiny_models import save_models

    return save_models(tmp_path_factory.mktemp("models"))


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nothing be asked of the hub."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)


@pytest.fixture(scope="session")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny model of texts and images, which tells colours apart."""
    from tests.actors.embedder.tiny_clip import save_clip

    return save_clip(tmp_path_factory.mktemp("clip") / "clip")
