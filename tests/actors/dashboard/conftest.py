"""A store that is served by the real hub, and a real browser that is logged in."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import anyio
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from actors.api.context import Context
from actors.api.tools.agent_tools import BY_METHOD
from actors.api.tools.dispatch import call
from actors.embedder.profiles.embedded import EmbeddedProfile
from actors.hub.composition import open_hub
from tests.acceptance.conftest import listens
from tests.actors.conftest import loaded

COMMAND = str(Path(sys.executable).parent / "context-graph")
PATIENCE = 120.0
"""Seconds until the hub answers or a page shows what it must, on a slow machine."""

MARKUP = '<script>document.title = "taken"</script><img src=x onerror="document.title = 1"> & <b>bold</b>'

TEXTS = (
    (
        "2026-03-09T09:12",
        "shop",
        "team",
        "Sessions expire in the middle of the checkout; the login tests are flaky.",
    ),
    ("2026-03-09T09:14", "shop", "team", "Since 2 March tokens live only five minutes, and nobody refreshes them."),
    (
        "2026-03-09T09:20",
        "shop",
        "team",
        "Decision: access tokens live 15 minutes; the client refreshes them at 12.",
    ),
    ("2026-03-14T22:05", "shop", "team", "Payments were down from 21:10 to 21:52 because the connection pool ran dry."),
    ("2026-03-14T22:11", "shop", "team", "A retry loop in billing-worker v2.3.1 never gave its connection back."),
    ("2026-03-15T08:30", "shop", None, "billing-worker is pinned to v2.3.0, with a pool timeout of 5 s."),
    ("2026-03-20T16:02", "shop", None, "Ana is in Lisbon from 2 to 9 April; Ben has the pager."),
    ("2026-03-21T09:00", "home", None, "The boathouse key hangs behind the red canoe."),
    ("2026-03-22T10:00", "home", None, "The boathouse key  hangs behind the red canoe."),
    ("2026-03-23T12:00", "home", None, f"Note of a visitor: {MARKUP}"),
    ("2026-03-24T18:00", "home", None, "The boiler was serviced in March; the next service is due in two years."),
)
"""When, project, session and text; two differ in white space only."""


@dataclass
class Site:
    """The dashboard of a store."""

    folder: Path
    ids: list[str]
    address: str = ""
    problems: list[str] = field(default_factory=list)
    """Messages on the browser's console, and requests that left the machine."""

    def link(self) -> str:
        """Return a link that logs a browser in once."""
        command = [COMMAND, "ui", "--no-open", "--json", "--data", str(self.folder)]
        printed = subprocess.run(command, capture_output=True, text=True, check=True, timeout=PATIENCE).stdout
        return json.loads(printed)["url"]

    def watch(self, context: BrowserContext) -> BrowserContext:
        """Note what a browser must not do."""
        context.on("console", lambda message: self.problems.append(message.text))
        context.on("weberror", lambda error: self.problems.append(str(error.error)))
        context.on(
            "request",
            lambda sent: self.problems.append(sent.url) if urlsplit(sent.url).hostname != "127.0.0.1" else None,
        )
        context.set_default_timeout(PATIENCE * 1e3)
        return context


def _fill(folder: Path, profile: EmbeddedProfile) -> list[str]:
    async def fill(context: Context) -> list[str]:
        stored = []
        for created_at, namespace, session, content in TEXTS:
            arguments = {"content": content, "namespace": namespace, "session": session, "created_at": created_at}
            given = {name: value for name, value in arguments.items() if value is not None}
            stored.append((await call(context, BY_METHOD["memory/store"], given))["fingerprintId"])
        return stored

    with open_hub(folder, load=loaded(profile)) as hub:
        return anyio.run(fill, Context(hub))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, profile: EmbeddedProfile) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("store")
    made = Site(folder, _fill(folder, profile))
    hub = subprocess.Popen([COMMAND, "hub", "--data", str(folder), "--no-sleep", "--linger", str(PATIENCE)])
    listens(folder)  # or the command of the link would start a hub of its own, which sleeps and stays for an hour
    try:
        made.address = "http://" + urlsplit(made.link()).netloc
        yield made
    finally:
        hub.terminate()
        hub.wait(PATIENCE)


def _chromium() -> str:
    """Return the path of the browser; without one, skip the tests, or fail them in continuous integration."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        problem = "Chromium is not installed: the dashboard is not tested (Debian: apt-get install chromium)"
        if os.environ.get("CI"):
            pytest.fail(problem)
        pytest.skip(problem)
    return found


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = _chromium()
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def logged_in(site: Site, browser: Browser) -> Iterator[BrowserContext]:
    context = site.watch(browser.new_context())
    context.new_page().goto(site.link())
    yield context
    context.close()


@pytest.fixture
def page(site: Site, logged_in: BrowserContext) -> Iterator[Page]:
    """A page of the logged-in browser; the test fails if it logs an error or asks another machine."""
    opened = logged_in.new_page()
    yield opened
    opened.close()
    noted, site.problems = site.problems, []
    assert noted == []


Go = Callable[[str], Page]


@pytest.fixture
def go(site: Site, page: Page) -> Go:
    """Open an address of the dashboard."""

    def to(path: str) -> Page:
        answer = page.goto(site.address + path)
        assert answer is not None
        return page

    return to
