"""The script that makes pictures of the dashboard."""

import sys
from pathlib import Path

import pytest

from actors.api.context import Context
from actors.proxy.endpoint import read_hub_info

sys.path.append(str(Path(__file__).parents[2] / "scripts"))  # scripts are not a package

import screenshots


def test_the_link_is_asked_for_once_the_hub_listens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def leave_empty(_context: Context) -> None:
        pass

    monkeypatch.setattr(screenshots, "fill", leave_empty)
    monkeypatch.setattr(screenshots, "login_link", lambda folder: f"listening: {read_hub_info(folder) is not None}")
    with screenshots.served(tmp_path / "store") as link:
        assert link == "listening: True"
