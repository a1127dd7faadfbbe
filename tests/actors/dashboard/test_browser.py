"""Each page of the dashboard in a real browser, on a store that the real hub serves."""

import json
import re
import subprocess
from collections.abc import Callable

import httpx2
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, Route, expect

from actors.api.caller import Scope
from actors.http.access.keys import Keys
from events.spaces import SPACES
from tests.actors.dashboard.conftest import COMMAND, MARKUP, TEXTS, Go, Site

PAGES = ("/", "/search?q=tokens", "/map", "/timeline", "/goals", "/sleep", "/past", "/audit")
CAUSES = (
    "Because a swan nested on the lock gate, the canal stayed closed in May.",
    "The canal was closed in May, so the barges carried no gravel.",
)
BROKEN_WORDS = """cells => cells.filter(cell => cell.checkVisibility()).flatMap(cell => {
  const text = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT).nextNode();
  return [...text.data.matchAll(/\\S+/g)].filter(word => {
    const range = document.createRange();
    range.setStart(text, word.index); range.setEnd(text, word.index + word[0].length);
    return range.getClientRects().length > 1;
  }).map(word => word[0]);
})"""
"""The words of cells that are broken over two lines."""
A_MINUTE_LATER = "() => { const now = Date.now; Date.now = () => now() + 61_000; }"
PAYMENTS = "/search?q=Why+were+payments+down%3F"


def results(page: Page) -> list[str]:
    return page.locator(".result h2").all_inner_texts()


def slide(page: Page, **positions: int) -> None:
    """Move sliders with the browser's own input events, and wait until the ranking for all of them is shown."""
    wanted = [f"w_{key}={value}&" for key, value in positions.items()]
    with page.expect_response(lambda answer: all(one in f"{answer.url}&" for one in wanted)):
        for key, value in positions.items():
            page.locator(f"input[name=w_{key}]").fill(str(value))
    # htmx takes this class away after it has put the answer into the page.
    expect(page.locator(".htmx-request")).to_have_count(0)


def test_a_search_shows_how_each_result_came_to_its_place(go: Go) -> None:
    page = go(PAYMENTS)
    first = page.locator(".result").first
    expect(first.locator("h2")).to_contain_text("Payments were down")
    rows = first.locator(".why tbody tr")
    assert [row.locator("th").inner_text() for row in rows.all()][:2] == ["Meaning", "Time"]
    assert first.locator(".spark rect.track").count() == 13
    expect(first.locator(".above")).to_contain_text("Why above number 2?")
    page.locator(".stages summary").click()
    assert page.locator(".stages tbody tr").count() >= 5


def test_a_misspelt_question_tells_how_it_was_read(go: Go) -> None:
    page = go("/search?q=conection+poool")
    expect(page.get_by_text("Read as “connection pool”.")).to_be_visible()
    assert "connection pool" in results(page)[0]


def test_moving_a_slider_ranks_the_results_again_at_once(go: Go) -> None:
    page = go("/search?q=connection+pool&namespace=shop")
    assert results(page)[1].startswith("A retry loop in billing-worker")
    page.locator(".weights summary").click()
    slide(page, **{space.key: 100 if space.key == "e1_semantic" else 0 for space in SPACES})
    expect(page.locator("#profile")).to_have_value("custom")
    after = results(page)
    assert after[1].startswith("billing-worker is pinned")
    assert "profile=custom" in page.url
    page.reload(wait_until="networkidle")
    assert results(page) == after
    slide(page, **{space.key: 0 for space in SPACES})
    expect(page.get_by_text("All weights are 0")).to_be_visible()


def test_the_project_of_a_search_takes_effect_at_once(go: Go) -> None:
    page = go("/search")
    page.get_by_label("Project").select_option("home")  # before there is a question, nothing is asked
    page.get_by_role("searchbox").fill("Where is the boathouse key?")
    page.get_by_role("button", name="Search").click()
    page.locator(".result").first.wait_for()
    page.get_by_label("Project").select_option("shop")
    page.wait_for_url("**namespace=shop**")
    expect(page.locator(".result .tag.project").first).to_have_text("shop")


def test_a_memory_is_forgotten_and_restored(site: Site, go: Go) -> None:
    page = go(f"/memory/{site.ids[10]}")
    page.get_by_text("Forget it…").click()
    page.get_by_label("Reason, for the record").first.fill("a test of forgetting")
    page.get_by_role("button", name="Forget").click()
    expect(page.get_by_text("This memory is forgotten")).to_be_visible()
    expect(page.locator(".life")).to_contain_text("a test of forgetting")
    go("/search?q=boiler+service")
    assert not any("boiler" in one for one in results(page))
    go(f"/memory/{site.ids[10]}")
    page.get_by_role("button", name="Bring it back").click()
    expect(page.get_by_text("Forget it…")).to_be_visible()
    go("/search?q=boiler+service")
    assert "boiler" in results(page)[0]


def test_erasing_needs_a_confirmation_and_leaves_only_its_history(site: Site, go: Go) -> None:
    page = go(f"/memory/{site.ids[6]}")
    page.get_by_text("Erase for good").click()
    page.get_by_role("button", name="Erase").click()  # the browser asks for the tick
    expect(page.locator(".content")).to_contain_text("Lisbon")
    page.get_by_label("I understand").check()
    page.get_by_role("button", name="Erase").click()
    expect(page.get_by_role("heading", name="This memory is erased")).to_be_visible()
    expect(page.locator("main")).not_to_contain_text("Lisbon")
    site.problems = [one for one in site.problems if "410" not in one]  # the browser's console names the status


def test_the_past_shows_the_store_as_it_was(go: Go) -> None:
    page = go("/past?at=3")
    page.locator("#at").fill("8")
    expect(page.locator("#then input[name=at]")).to_have_value("8")
    page.get_by_role("button", name="Show what they changed").click()
    expect(page.locator("#job")).to_contain_text("memories stored")
    expect(page.locator("#job")).to_contain_text(re.compile(r"The events by kind: .*memory stored \d+"))
    page.get_by_role("link", name="Read them all").click()
    page.wait_for_url("**/audit?since=9*")
    expect(page.locator(".audit tbody tr").last.locator(".number")).to_have_text("9")
    go("/past?at=8")
    page.get_by_role("link", name="Look at the store as it was then").click()
    expect(page.locator(".past-banner")).to_contain_text(re.compile(r"after event 8 \(20\d\d-\d\d-\d\d \d\d:\d\d\)"))
    page.get_by_label("Question").fill("Where is the boathouse key?")
    page.get_by_role("button", name="Search").click()
    page.wait_for_url("**/search?**")
    expect(page.locator(".past-banner")).to_be_visible()
    expect(page.locator(".result h2").first).to_be_visible()  # the store as it was may still be replayed
    assert not any("boathouse" in one for one in results(page))
    page.get_by_role("link", name="Back to now").click()
    expect(page.locator(".past-banner")).to_have_count(0)


def test_a_moment_is_chosen_by_its_time(go: Go) -> None:
    page = go("/past")
    page.get_by_label("Or by its time").fill("2999-01-01T00:00")
    page.get_by_role("button", name="Go there").click()
    expect(page.locator("#then .moment time")).to_be_visible()
    expect(page.locator("#at-value")).not_to_have_text("1")
    page.get_by_label("Or by its time").fill("1999-01-01T00:00")
    page.get_by_role("button", name="Go there").click()
    expect(page.locator("#at-value")).to_have_text("1")


def test_the_past_quotes_the_memory_that_an_event_is_about(site: Site, go: Go) -> None:
    command = [COMMAND, "history", site.ids[3], "--json", "--data", str(site.folder)]
    (stored,) = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)["events"]
    page = go(f"/past?at={stored['seq']}")
    expect(page.locator("#then blockquote")).to_have_text(TEXTS[3][3])


def test_sleep_shows_both_texts_of_a_merge_and_takes_it_back(site: Site, go: Go) -> None:
    page = go("/sleep")
    page.get_by_role("button", name="Try it, change nothing").click()
    expect(page.get_by_text("Nothing was changed")).to_be_visible()
    expect(page.locator(".pair .content").first).to_contain_text("red canoe")
    go("/sleep")
    page.get_by_role("button", name="Sleep now").click()
    page.get_by_role("link", name="See the run, and take it back").click()
    page.wait_for_url("**/sleep/*")
    assert page.locator(".pair").count() == 1
    assert page.locator(".pair ins, .pair del").count() == 2
    page.locator(".pair").get_by_role("link", name="Merged").click()
    expect(page.get_by_text("This memory is merged")).to_be_visible()
    expect(page.locator(".facts")).not_to_contain_text("Stands for")  # as the other one does
    page.go_back()
    page.get_by_role("button", name="Take this merge back").click()
    expect(page.get_by_role("heading", name="Is back")).to_be_visible()
    go(f"/memory/{site.ids[8]}")
    expect(page.get_by_text("Forget it…")).to_be_visible()


def test_the_log_is_verified_and_replayed_with_progress(go: Go) -> None:
    for button, outcome in (("Verify every event", "Sound."), ("Replay and compare", "Equal.")):
        page = go("/audit")
        page.get_by_role("button", name=button).click()
        expect(page.locator(".ok")).to_have_text(outcome)


def test_the_log_is_filtered_and_downloaded(site: Site, go: Go) -> None:
    page = go(f"/audit?memory_id={site.ids[0]}")
    assert page.locator(".audit tbody tr").count() >= 1
    expect(page.locator(".audit tbody tr").last).to_contain_text("stored in shop")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download").click()
    lines = download.value.path().read_text(encoding="utf-8").splitlines()
    assert len(lines) == page.locator(".audit tbody tr").count()


def test_the_log_is_filtered_by_the_start_of_an_id(site: Site, go: Go) -> None:
    page = go(f"/audit?memory_id={site.ids[0][:8]}")
    expect(page.locator(".audit tbody tr").last).to_contain_text("stored in shop")
    assert page.get_by_label("Memory").input_value() == site.ids[0]
    command = [COMMAND, "consolidate", "light", "--dry-run", "--json", "--data", str(site.folder)]
    run = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)["run_id"]
    page = go(f"/audit?run_id={run[:8]}")
    assert all(f"/sleep/{run}" in row.inner_html() for row in page.locator(".audit tbody tr").all())
    page = go(f"/audit?memory_id={site.ids[0][:3]}")
    expect(page.get_by_role("alert")).to_contain_text("give 6 characters or more")
    site.problems = [one for one in site.problems if "400" not in one]


def test_the_log_is_filtered_by_what_happened_and_by_whom(site: Site, go: Go) -> None:
    page = go("/audit")
    page.get_by_label("What").select_option("stored")
    page.wait_for_url("**kind=stored**")
    rows = page.locator(".audit tbody tr")
    assert rows.count() >= len(TEXTS)
    assert all("was stored" in row for row in rows.all_inner_texts())
    expect(rows.first.locator("td").last).to_have_text("an agent or a command")
    page.get_by_label("By").fill("search for")
    page.get_by_role("button", name="Filter").click()
    expect(page.get_by_text("No event matches")).to_be_visible()
    go(f"/memory/{site.ids[2]}")
    page.get_by_text("Forget it…").click()
    page.get_by_role("button", name="Forget").click()
    page.get_by_role("button", name="Bring it back").click()
    page.get_by_text("Forget it…").wait_for()
    go("/audit?kind=gone&by=ui")
    expect(rows.first).to_contain_text("restored")
    assert not any("was stored" in row for row in rows.all_inner_texts())


def test_the_map_is_read_with_the_keyboard(go: Go) -> None:
    page = go("/map?colour=age")
    expect(page.locator("#map-status")).to_contain_text("points in view")
    page.locator("#map").focus()
    for key in ("+", "ArrowLeft", "ArrowDown", "-", "Enter"):
        page.keyboard.press(key)
    link = page.locator("#chosen a")
    expect(link).to_be_visible()
    assert any(link.inner_text()[:20] in " ".join(text.split()) for *_, text in TEXTS)


def test_the_map_of_one_project_is_coloured_by_goal_and_that_of_several_by_project(go: Go) -> None:
    expect(go("/map").locator("select[name=colour]")).to_have_value("namespace")
    page = go("/map?namespace=shop")
    expect(page.locator("select[name=colour]")).to_have_value("goal")
    expect(page.locator("#legend")).to_contain_text("no goals are known yet")


def test_the_map_shows_its_points_before_it_knows_their_salience(site: Site, page: Page) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route(re.compile("points.*salience"), hold)
    with page.expect_request(re.compile("points.*salience")):
        page.goto(f"{site.address}/map?colour=salience")
    expect(page.locator("#map-status")).to_contain_text("points in view")
    expect(page.locator("#legend")).to_contain_text("measuring")
    (asked,) = held
    asked.continue_()
    expect(page.locator("#legend")).not_to_contain_text("measuring")
    expect(page.locator("#legend")).to_contain_text(".2 to .4")


def test_a_live_page_says_when_its_server_is_lost_and_when_it_is_back(site: Site, go: Go) -> None:
    def choose(page: Page) -> None:
        profile = page.locator("#profile")
        profile.select_option("balanced" if profile.input_value() != "balanced" else "fact_checking")

    uses: dict[str, Callable[[Page], None]] = {
        "/search?q=tokens": choose,
        "/map": lambda page: page.locator("#map").press("Enter"),
    }
    for path, use in uses.items():
        page = go(path)
        page.wait_for_load_state("networkidle")
        lost = page.get_by_role("alert").filter(has_text="The connection to the server is lost")
        page.route("**/*", lambda route: route.abort())
        use(page)
        expect(lost).to_be_visible()
        page.unroute("**/*")
        use(page)
        expect(lost).to_be_hidden()
    # The browser's console names the requests that failed.
    site.problems = [one for one in site.problems if "ERR_FAILED" not in one and not one.startswith("htmx:")]


def test_a_page_that_was_left_alone_says_when_its_server_is_lost_before_a_link_is_followed(
    site: Site, page: Page
) -> None:
    page.goto(site.address + "/timeline")
    lost = page.get_by_role("alert").filter(has_text=f"run context-graph ui --data {site.folder} again")
    page.route("**/healthz", lambda route: route.abort())
    page.get_by_role("link", name="Goals").hover()
    expect(lost).to_be_hidden()  # nothing is asked for so soon
    page.evaluate(A_MINUTE_LATER)
    page.get_by_role("link", name="Sleep").hover()
    expect(lost).to_be_visible()
    page.unroute("**/healthz")
    page.evaluate(A_MINUTE_LATER)
    page.get_by_role("link", name="Goals").hover()
    expect(lost).to_be_hidden()
    site.problems = [one for one in site.problems if "ERR_FAILED" not in one]  # of the browser's console


def test_a_page_whose_operation_is_unknown_says_so_and_asks_no_more(site: Site, go: Go) -> None:
    page = go("/audit")
    unknown = "<p role=alert>This operation is unknown</p>"
    page.route("**/jobs/gone", lambda route: route.fulfill(status=404, body=unknown))
    page.evaluate(
        "document.getElementById('main').innerHTML = "
        "'<div id=job hx-get=/jobs/gone hx-trigger=\"every 50ms\" hx-select=#job hx-swap=outerHTML></div>'; "
        "htmx.process(document.body)"
    )
    expect(page.locator("#job")).to_have_text("This operation is unknown")
    assert page.locator("#job").evaluate("one => !('htmx-internal-data' in one)")  # htmx polls elements that it knows
    site.problems = [one for one in site.problems if "404" not in one and not one.startswith("htmx:")]


def test_memories_are_browsed_by_day_and_by_session(go: Go) -> None:
    page = go("/timeline?day=2026-03-14")
    assert page.locator(".entry .text", has_text="Payments were down").count() == 1
    page.locator("section[aria-labelledby=sessions] a.text").first.click()
    expect(page.get_by_role("heading", name="Session “team”")).to_be_visible()
    expect(page.locator("section[aria-label=Memories] a.text").first).to_contain_text("Sessions expire")
    page.get_by_label("Show").select_option("what was forgotten")
    page.wait_for_url("**state=forgotten*")
    expect(page.get_by_role("heading", name="Session “team”")).to_be_visible()


def test_the_way_back_from_a_choice_leads_to_the_list_and_its_choice(go: Go) -> None:
    page = go("/timeline")
    page.get_by_label("Project").select_option("home")
    page.wait_for_url("**namespace=home*")
    page.go_back()
    expect(page.get_by_label("Project")).to_have_value("")
    expect(page.locator(".entry", has_text="Payments were down")).to_be_visible()


def test_the_surroundings_of_a_memory_are_a_graph_and_a_list(site: Site, go: Go) -> None:
    page = go(f"/memory/{site.ids[3]}")
    page.get_by_role("link", name="See it as a graph").click()
    page.wait_for_url("**/graph*")
    expect(page.locator(".graph")).to_be_visible()
    assert page.locator(".graph circle").count() == page.locator("li.entry").count() + 1


def test_markup_in_a_memory_is_shown_and_never_obeyed(site: Site, go: Go) -> None:
    for path in (f"/memory/{site.ids[9]}", "/search?q=note+of+a+visitor", "/timeline", "/", "/past?at=11"):
        page = go(path)
        assert page.title() not in {"taken", "1"}
        assert page.locator("main img, main script").count() == 0
    page = go(f"/memory/{site.ids[9]}")
    assert MARKUP in page.locator(".content").inner_text()


def test_no_page_has_a_serious_barrier(site: Site, go: Go) -> None:
    found = {}
    for path in (*PAGES, f"/memory/{site.ids[4]}", f"/memory/{site.ids[4]}/graph"):
        page = go(path)
        page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        for scheme, options in (("light", {}), ("dark", {"runOnly": ["color-contrast"]})):
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            problems = Axe().run(page, options={"resultTypes": ["violations"]} | options).response["violations"]
            found[path, scheme] = [
                (one["id"], [node["html"][:120] for node in one["nodes"]][:3])
                for one in problems
                if one["impact"] in {"serious", "critical"}
            ]
    assert {place: problems for place, problems in found.items() if problems} == {}


def test_a_hint_in_an_empty_field_is_as_readable_as_other_soft_text(go: Go) -> None:
    page = go("/audit")
    colour = "(one, part) => getComputedStyle(one, part).color"
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        hint = page.get_by_label("By").evaluate(colour, "::placeholder")
        assert hint == page.locator(".summary").evaluate(colour, None), scheme


def test_everything_is_reached_with_the_keyboard(go: Go) -> None:
    page = go("/timeline")
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()
    go("/")
    page.keyboard.press("/")
    expect(page.locator("#q")).to_be_focused()
    page.keyboard.type("tokens")
    page.keyboard.press("Enter")
    expect(page.locator(".result").first).to_be_visible()


def test_pages_fit_a_phone_and_are_read_without_javascript(site: Site, browser: Browser) -> None:
    context = site.watch(browser.new_context(java_script_enabled=False, viewport={"width": 360, "height": 640}))
    page = context.new_page()
    page.goto(site.link())
    for path in PAGES:
        page.goto(site.address + path)
        assert page.get_by_role("heading", level=1).count() == 1
    page.goto(f"{site.address}/map")
    expect(page.locator("#map-status")).to_be_empty()
    page.goto(site.address + PAYMENTS)
    assert "Payments were down" in results(page)[0]
    page.locator(".weights summary").click()
    assert "Without JavaScript, choose “my own weights”" in page.locator(".weights").inner_text()
    page.get_by_label("Kind of question").select_option("my own weights")
    page.get_by_role("button", name="Search").click()
    expect(page.locator(".summary")).to_contain_text("ranked by your weights")
    context.close()
    context = site.watch(browser.new_context(viewport={"width": 360, "height": 640}))
    page = context.new_page()
    page.goto(site.link())
    for path in PAGES:
        page.goto(site.address + path)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
    assert page.evaluate("[...document.querySelectorAll('.table')].every(one => one.scrollWidth <= one.clientWidth)")
    box = page.goto(f"{site.address}/sleep?idle=yes") and page.get_by_label("Also runs").bounding_box()
    assert box
    assert max(box["width"], box["height"]) < 30
    page.goto(site.address + PAYMENTS)
    assert page.locator(".why th[scope=row]").evaluate_all(BROKEN_WORDS) == []
    page.goto(f"{site.address}/memory/{site.ids[3]}/graph")
    assert page.locator(".graph text").first.evaluate("one => one.getBoundingClientRect().height") >= 10
    middle = page.locator(".graph circle").first.bounding_box()
    assert middle
    assert 0 <= middle["x"] <= 360 - middle["width"]
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.set_viewport_size({"width": 320, "height": 640})
    page.goto(site.address + PAYMENTS)
    page.locator(".weights summary").click()
    assert page.locator(".weights").evaluate("one => one.scrollWidth <= one.clientWidth")
    context.close()
    assert site.problems == []


def test_long_words_and_other_directions_keep_to_their_place(site: Site, browser: Browser) -> None:
    for content in ("https://tide.example/" + "quay" * 90, "אני גר בחיפה ועובד בבית חולים."):
        command = [COMMAND, "store", content, "--data", str(site.folder), "--namespace", "harbour" * 8]
        subprocess.run(command, capture_output=True, check=True)
    for width in (360, 1180):
        context = site.watch(browser.new_context(viewport={"width": width, "height": 700}))
        page = context.new_page()
        page.goto(site.link())
        for path in ("/map?colour=namespace", f"/search?q=tide&namespace={'harbour' * 8}"):
            page.goto(site.address + path)
            page.wait_for_load_state("networkidle")
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (path, width)
        end, start = page.locator(".result h2 a", has_text="חיפה").evaluate(
            """link => [-1, 0].map(at => {
              const range = document.createRange(), text = link.firstChild, from = at < 0 ? text.length - 1 : 0;
              range.setStart(text, from); range.setEnd(text, from + 1);
              return range.getBoundingClientRect().left;
            })"""
        )
        assert end < start, "the full stop is at the left"
        context.close()
    assert site.problems == []


def test_a_text_cannot_change_the_order_in_which_it_is_read(site: Site, go: Go) -> None:
    text = "Open invoice\u202egpj.exe\u202c, \u2067then\u2069 the מפתח."
    stored = {"content": text, "namespace": "drawer", "tags": ["a\u202eb"]}
    (site.folder / "drawer.jsonl").write_text(json.dumps(stored))
    command = [COMMAND, "import", str(site.folder / "drawer.jsonl"), "--data", str(site.folder)]
    subprocess.run(command, capture_output=True, check=True)
    for path in ("/", "/search?q=invoice&namespace=drawer", "/timeline?namespace=drawer"):
        shown = go(path).locator("body").inner_text()
        assert "Open invoice\ufffdgpj.exe\ufffd, \ufffdthen\ufffd the מפתח." in shown, path
        assert not set(shown) & set("\u202e\u202c\u2067\u2069")
    page = go("/search?q=invoice&namespace=drawer")
    page.click(".result h2 a")
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    assert "#a\ufffdb" in page.locator("body").inner_text()
    assert page.locator("textarea[name=content]").input_value() == text, "what is edited stays as it is"
    assert page.locator("textarea[name=tags]").input_value() == "a\u202eb"


def test_below_a_long_memory_is_what_can_be_done_with_it(site: Site, go: Go) -> None:
    long = " ".join(f"Buoy {number} was painted." for number in range(2000))
    command = [COMMAND, "store", long, "--data", str(site.folder), "--namespace", "buoys"]
    subprocess.run(command, capture_output=True, check=True)
    page = go("/search?q=buoys&namespace=buoys")
    expect(page.locator(".result blockquote")).to_have_attribute("tabindex", "0")  # also where browsers add none
    page.click(".result h2 a")
    page.wait_for_url("**/memory/**")  # and its styles, on which heights depend
    text = page.locator(".memory .content")
    assert text.evaluate("one => one.scrollHeight > 5 * one.clientHeight")
    assert page.get_by_text("Forget it").bounding_box()["y"] < 2 * page.viewport_size["height"]
    text.evaluate(
        """one => { window.scrolled = Promise.race([
            new Promise(done => one.addEventListener('scrollend', done, { once: true })),
            new Promise(done => setTimeout(done, 10_000)),
        ]) }"""
    )
    text.focus()
    page.keyboard.press("End")
    page.evaluate("() => window.scrolled.then(() => null)")
    assert text.evaluate("one => one.scrollTop") > 1000


def test_a_printed_page_holds_the_whole_text(site: Site, go: Go) -> None:
    long = " ".join(f"Lamp {number} was lit." for number in range(1000))
    command = [COMMAND, "store", long, "--data", str(site.folder), "--namespace", "lamps", "--json"]
    stored = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)["fingerprintId"]
    page = go(f"/memory/{stored}")
    page.emulate_media(media="print")
    assert page.locator(".memory .content").evaluate("one => one.scrollHeight <= one.clientHeight + 1")


def test_the_colours_of_the_legend_are_those_of_the_map_where_the_system_chooses_colours(go: Go) -> None:
    page = go("/map?colour=namespace")
    colour = "one => getComputedStyle(one).backgroundColor"
    spots = page.locator("#legend .spot")
    spots.first.wait_for()
    before = [spot.evaluate(colour) for spot in spots.all()]
    page.emulate_media(forced_colors="active")
    assert [spot.evaluate(colour) for spot in spots.all()] == before


def test_a_slow_answer_is_seen_to_be_awaited(page: Page, site: Site) -> None:
    page.goto(f"{site.address}/search?q=tokens")
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route(re.compile("profile=balanced"), hold)
    with page.expect_request(re.compile("profile=balanced")):
        page.locator("#profile").select_option("balanced")
    expect(page.locator("#results")).to_have_css("opacity", "0.5")
    held[0].continue_()
    expect(page.locator("#results")).to_have_css("opacity", "1")


def test_logging_out_ends_the_session(site: Site, browser: Browser) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(site.link())
    with page.expect_response(lambda answer: answer.status == 401):
        page.get_by_role("button", name="Log out").click()
    expect(page.locator("main")).to_contain_text("context-graph ui")
    context.close()


def test_nobody_gets_in_without_a_link_or_with_one_that_was_used(site: Site, browser: Browser) -> None:
    context = browser.new_context()
    page = context.new_page()
    for path in (*PAGES, f"/memory/{site.ids[0]}"):
        answer = page.goto(site.address + path)
        assert answer is not None
        assert answer.status == 401
        assert "context-graph ui" in page.inner_text("main")
    link = site.link()
    page.goto(link)
    expect(page.get_by_role("heading", name="What your agents remember")).to_be_visible()
    context.clear_cookies()
    answer = page.goto(link)
    assert answer is not None
    assert answer.status == 403
    context.close()


def test_a_key_sees_only_its_project_on_every_page_and_changes_nothing(site: Site) -> None:
    key = Keys(site.folder).create("reader", Scope.READ, ("home",))
    with httpx2.Client(base_url=site.address, headers={"authorization": f"Bearer {key}"}, timeout=60) as client:
        for path in (*PAGES, "/search?q=payments+down", "/map/points?colour=goal", "/audit/export", "/past?at=2"):
            answer = client.get(path)
            assert answer.status_code == 200, (path, answer.text)
            told = answer.text + answer.headers.get("x-map", "")
            assert not any(word in told for word in ("shop", "billing", "Payments", "Lisbon"))
        absent = client.get(f"/memory/{'0' * 8}-0000-4000-8000-{'0' * 12}")
        foreign = client.get(f"/memory/{site.ids[0]}")
        assert (absent.status_code, foreign.status_code) == (404, 404)
        nowhere = client.get("/no/such/page")
        assert nowhere.status_code == 404
        assert all(part in nowhere.text for part in ("No page has the address /no/such/page", "To the home page"))
        assert client.post(f"/memory/{site.ids[10]}/forget").status_code == 403
        assert client.post("/sleep/start").status_code == 403
        assert "boiler" in client.get(f"/memory/{site.ids[10]}").text


def test_a_key_of_several_projects_or_of_an_empty_one_opens_every_page(site: Site) -> None:
    for namespaces in (("home", "shop"), ("unused",), ("unused", "vacant")):
        key = Keys(site.folder).create("-".join(namespaces), Scope.READ, namespaces)
        with httpx2.Client(base_url=site.address, headers={"authorization": f"Bearer {key}"}, timeout=60) as client:
            for path in (*PAGES, "/map/points"):
                answer = client.get(path)
                assert answer.status_code == 200, (namespaces, path, answer.text)


def test_a_correction_is_told_in_results_and_on_both_memories(site: Site) -> None:
    def store(content: str, *options: str) -> str:
        command = [COMMAND, "store", content, "--namespace", "garage", "--data", str(site.folder), "--json", *options]
        return json.loads(subprocess.run(command, capture_output=True, check=True).stdout)["fingerprintId"]

    old = store("The winter tyres are kept at Kessler's workshop.")
    new = store("The winter tyres are stacked in our own cellar.", "--supersedes", old)
    key = Keys(site.folder).create("mechanic", Scope.READ, ("garage",))
    with httpx2.Client(base_url=site.address, headers={"authorization": f"Bearer {key}"}, timeout=60) as client:
        results = client.get("/search?q=Where+are+the+winter+tyres%3F").text
        before, after = client.get(f"/memory/{old}").text, client.get(f"/memory/{new}").text
    assert f'superseded by <a href="/memory/{new}"' in results
    assert f'Superseded by</strong> <a href="/memory/{new}">The winter tyres are stacked' in before
    assert f'Corrects</dt><dd><a href="/memory/{old}">The winter tyres are kept' in after
    assert f'superseded by <a href="/memory/{new}"' in after, "among what is most similar"


def test_tags_are_edited_found_and_taken_back(site: Site, go: Go) -> None:
    page = go(f"/memory/{site.ids[3]}")
    page.get_by_text("Edit its tags…").click()
    page.get_by_label("Tags, one a line").fill("outage\n#payments\nOslo, Norway")
    page.get_by_role("button", name="Save the tags").click()
    expect(page.locator(".memory")).to_contain_text("#outage#payments#Oslo, Norway")
    expect(page.locator(".life")).to_contain_text("tags changed from none to outage, payments, Oslo, Norway")
    page.get_by_role("button", name="Take the change back").click()
    expect(page.locator(".memory")).not_to_contain_text("#outage")


def test_a_memory_is_corrected_by_hand(site: Site, go: Go) -> None:
    page = go(f"/memory/{site.ids[5]}")
    page.get_by_text("Correct it").click()
    page.get_by_label("What holds instead").fill("billing-worker is pinned to v2.4.0, with a pool timeout of 5 s.")
    page.get_by_role("button", name="Store the correction").click()
    expect(page.locator(".content")).to_contain_text("v2.4.0")
    page.locator(".facts a", has_text="v2.3.0").click()
    expect(page.locator(".notice", has_text="Superseded by")).to_be_visible()


def test_a_correction_keeps_each_line_as_it_was(site: Site, go: Go) -> None:
    text = "\ndef depth(buoy):\n    return 3\n"
    command = [COMMAND, "store", text, "--data", str(site.folder), "--namespace", "pier", "--json"]
    stored = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)["fingerprintId"]
    page = go(f"/memory/{stored}")
    page.get_by_text("Correct it").click()
    page.get_by_role("button", name="Store the correction").click()
    expect(page.get_by_role("alert")).to_have_text("Nothing was stored: the text is as it was")
    page.get_by_role("link", name="Back").click()
    page.wait_for_url(f"**/memory/{stored}")
    page.get_by_text("Correct it").click()
    page.get_by_label("What holds instead").fill(text + "# in fathoms\n")
    page.get_by_role("button", name="Store the correction").click()
    expect(page.locator(".content")).to_contain_text("fathoms")
    command = [COMMAND, "show", page.url.rpartition("/")[2], "--data", str(site.folder), "--json"]
    shown = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    assert shown["content"] == text + "# in fathoms\n"
    site.problems = [one for one in site.problems if "400" not in one]


@pytest.mark.parametrize("is_kept_by_the_browser", [True, False])
def test_the_way_back_from_a_refused_form_leads_to_what_was_typed(
    site: Site, go: Go, *, is_kept_by_the_browser: bool
) -> None:
    page = go("/sleep")
    page.get_by_text("Change the schedule").click()
    page.get_by_label("Deep", exact=True).fill("each full moon")
    if not is_kept_by_the_browser:
        page.evaluate("for (const form of document.forms) form.autocomplete = 'off'")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_contain_text("each full moon")
    page.get_by_role("link", name="Back").click()
    expect(page.get_by_label("Deep", exact=True)).to_be_visible()
    expect(page.get_by_label("Deep", exact=True)).to_have_value("each full moon")
    site.problems = [one for one in site.problems if "400" not in one]


def test_a_run_shows_the_causes_that_it_found(site: Site, go: Go) -> None:
    for content in CAUSES:
        command = [COMMAND, "store", content, "--namespace", "farm", "--data", str(site.folder)]
        subprocess.run(command, capture_output=True, check=True)
    page = go("/sleep")
    page.get_by_label("Mode").select_option("rem")
    page.get_by_role("button", name="Sleep now").click()
    # The idle hub may have linked the pair before the button was pressed: then its own run has the causes.
    page.get_by_role("link", name="See the run").wait_for()
    go("/sleep")
    page.locator(".run", has=page.get_by_text(re.compile(r"\d causes?$"))).first.get_by_role("link").click()
    causes = page.locator("section[aria-labelledby=causes] .entry")
    for text in CAUSES:
        expect(causes).to_contain_text(text)
    expect(causes).to_contain_text("stated by “so”")


def test_a_list_of_neighbours_that_is_cut_says_so(site: Site, go: Go) -> None:
    centre = site.ids[7]
    pages = [{"content": f"Page {one} of the almanac.", "namespace": "home", "link_to": [centre]} for one in range(61)]
    (site.folder / "almanac.jsonl").write_text("\n".join(map(json.dumps, pages)))
    command = [COMMAND, "import", str(site.folder / "almanac.jsonl"), "--data", str(site.folder)]
    subprocess.run(command, capture_output=True, check=True)
    expect(go(f"/memory/{centre}").locator("main")).to_contain_text("No more than the nearest 60 are shown")
    expect(go(f"/memory/{centre}/graph").locator("main")).to_contain_text("No more than the nearest 30 are shown")
