"""The script that makes pictures of the dashboard."""

from pathlib import Path

import pytest
import screenshots

from actors.api.context import Context
from actors.proxy.endpoint import read_hub_info


def test_the_link_is_asked_for_once_the_hub_listens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def leave_empty(_context: Context) -> None:
        pass

    monkeypatch.setattr(screenshots, "fill", leave_empty)
    monkeypatch.setattr(screenshots, "login_link", lambda folder: f"listening: {read_hub_info(folder) is not None}")
    with screenshots.served(tmp_path / "store") as link:
        assert link == "listening: True"
