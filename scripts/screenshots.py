"""Pictures of the dashboard, of a store that is filled with the memories of `screenshots.txt`."""

import argparse
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import anyio
from benchmarks.processes import COMMAND, PATIENCE, login_link, wait_until
from playwright.sync_api import Browser, Page, sync_playwright

from actors.api.context import Context
from actors.api.tools.agent_tools import BY_METHOD
from actors.api.tools.dispatch import call
from actors.hub.composition import open_hub
from actors.proxy.endpoint import read_hub_info

ROOT = Path(__file__).parents[1]
CHROMIUM = "/usr/bin/chromium"

PROJECT = "orchard-api"
QUESTION = "/search?q=Why+were+irrigation+plans+empty%3F"
PAGES = {
    "home": "/",
    "search": QUESTION,
    "map": f"/map?namespace={PROJECT}&colour=goal",
    "timeline": "/timeline",
    "goals": f"/goals?namespace={PROJECT}",
    "sleep": "/sleep",
    "past": "/past?at=60",
    "audit": "/audit",
}
LINKED = {
    "memory": (QUESTION, ".result h2 a"),
    "graph": ("", "text=See it as a graph"),
    "run": ("/sleep", ".run a.text"),
}
"""Pages whose address nobody knows before: where a link leads to them, and which one; empty for the page before."""
SIZES = {"wide": (1180, 820), "phone": (390, 844)}
SCHEMES = ("light", "dark")
IN_README = ("search", "map", "run")
LONG = {"search", "timeline", "audit"}
"""Pages of which the first screen is enough."""


async def fill(context: Context) -> None:
    """Store all memories, find goals, search, and sleep."""

    async def do(method: str, **arguments: Any) -> dict[str, Any]:
        return await call(context, BY_METHOD[method], arguments)

    for line in (ROOT / "scripts" / "screenshots.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        at, project, session, tag, text = (part.strip() for part in line.split("|", 4))
        optional = {"session": session, "tags": [tag] if tag else None, "modality": "code" if tag == "code" else None}
        await do(
            "memory/store",
            content=text.replace("\\n", "\n"),
            namespace=project,
            created_at=at,
            rationale="a turn of a conversation" if session else "worth keeping",
            importance=0.8 if tag in {"decision", "health"} else 0.5,
            **{name: value for name, value in optional.items() if value},
        )
    await do("goal/discover", namespace=PROJECT, min_confidence=0.3)
    await do("memory/consolidate", mode="deep", rationale="the first night")
    for question in ("Why were irrigation plans empty?", "What is Bo afraid of?", "When are frost warnings sent?"):
        await do("search/graph", query=question)


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Fill a store, serve it, and yield a link that logs a browser in."""
    with open_hub(folder) as hub:
        anyio.run(fill, Context(hub))
    hub_process = subprocess.Popen([COMMAND, "hub", "--data", str(folder), "--no-sleep", "--linger", str(PATIENCE)])
    try:
        # The command that makes the link would start a second hub where none listens, which sleeps and stays.
        wait_until(partial(read_hub_info, folder), "no hub listens")
        yield login_link(folder)
    finally:
        hub_process.terminate()
        hub_process.wait(PATIENCE)


def visit(page: Page, address: str, name: str) -> None:
    """Open a page by its address, or by the link that leads to it."""
    if name in PAGES:
        page.goto(address + PAGES[name])
    else:
        start, link = LINKED[name]
        if start:
            page.goto(address + start)
        found = page.locator(link)
        with page.expect_navigation():
            (found.last if name == "run" else found.first).click()  # the oldest run is the one that merged
    page.wait_for_load_state("networkidle")


def shoot(browser: Browser, link: str, folder: Path, *, everything: bool) -> None:
    """Write the pictures: those of README, or of every page in both schemes and sizes."""
    parts = urlsplit(link)
    address = f"{parts.scheme}://{parts.netloc}"
    state: Any = None
    for scheme in SCHEMES if everything else SCHEMES[:1]:
        for size, (width, height) in SIZES.items():
            if not everything and size != "wide":
                continue
            viewport: Any = {"width": width, "height": height}
            context = browser.new_context(color_scheme=scheme, viewport=viewport, storage_state=state)
            page = context.new_page()
            if state is None:
                page.goto(link)  # works once: the other contexts take its cookie
                state = context.storage_state()
            for name in (*PAGES, *LINKED) if everything else IN_README:
                visit(page, address, name)
                path = folder / (f"{name}-{size}-{scheme}.png" if everything else f"{name}.png")
                page.screenshot(path=path, full_page=name == "map" or (everything and name not in LONG))
                print(path)
            context.close()


def main() -> None:
    """Parse the arguments and make the pictures."""
    parser = argparse.ArgumentParser(description="Make pictures of the dashboard.")
    parser.add_argument("folder", type=Path, nargs="?", default=ROOT / "docs", help="docs by default")
    parser.add_argument("--all", action="store_true", help="every page, light and dark, wide and on a phone")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, served(Path(scratch)) as link, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        shoot(browser, link, arguments.folder, everything=arguments.all)
        browser.close()


if __name__ == "__main__":
    main()
