"""Pages of a past moment that isn't replayed yet: progress at once, then the page by itself."""

import anyio
import pytest

from actors.api.context import Context
from tests.actors.conftest import store
from tests.actors.http.conftest import Serve

pytestmark = pytest.mark.anyio


async def test_a_page_of_the_past_shows_its_replay_and_then_itself(
    context: Context, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    await store(context, "The ferry to Amrum leaves at seven.")
    moment = context.hub.log.head.seq
    await store(context, "The ferry to Sylt leaves at nine.")
    async with serve(context) as served, served.browser() as browser:
        monkeypatch.setattr("actors.dashboard.jobs.PATIENCE", 0.0)  # no page is ready in no time
        address = f"/?as_of={moment}"
        first = await browser.get(address)
        assert first.status_code == 202
        assert f'hx-get="{address}"' in first.text
        assert "as it was" in first.text
        part = await browser.get(f"/search?q=ferry&as_of={moment}", headers={"hx-request": "true"})
        assert part.headers["hx-refresh"] == "true"  # a part of the page can't show the progress
        monkeypatch.setattr("actors.dashboard.jobs.PATIENCE", 0.3)
        with anyio.fail_after(60):
            poll = {"hx-request": "true", "hx-trigger": "replaying"}
            while (answer := await browser.get(address, headers=poll)).status_code == 202:
                assert "event" in answer.text or "waiting" in answer.text
        assert (answer.status_code, answer.headers["hx-refresh"]) == (204, "true")
        page = await browser.get(address)
        assert page.status_code == 200
        assert "Amrum" in page.text
        assert "Sylt" not in page.text
        wrong = await browser.get("/?as_of=999999")
        assert wrong.status_code == 400
