"""What pages tell of a store that can't be changed, or that is damaged."""

import re
from collections.abc import AsyncIterator, Iterator
from html import unescape
from pathlib import Path
from uuid import UUID

import anyio
import httpx2
import pytest

from actors.api.caller import Scope
from actors.api.context import Context, wait_until_ready
from actors.api.parts import SPACE_NAMES, run_summary
from actors.api.tools.agent_tools import BY_METHOD
from actors.api.tools.dispatch import call
from actors.cli.views.memories import found as show_found
from actors.cli.views.memories import status as show_status
from actors.comparator.messages import Relevance
from actors.dashboard.templating import EVENTS
from actors.embedder.profiles.embedded import EmbeddedProfile
from actors.hub.composition import start_hub
from actors.hub.hub import Hub
from actors.runtime.ask import ask
from actors.runtime.settings import Confidence
from actors.store.messages import Append
from events.storage.duckdb_log import DuckDBLog
from events.vocabulary import ConsolidationFinished, EventLost
from events.vocabulary.values import Counts, Mode, Outcome, Trigger
from tests.actors.api.stream import BOAT
from tests.actors.conftest import loaded, store
from tests.actors.http.conftest import Serve, Served
from tests.events.samples import draft, started

pytestmark = pytest.mark.anyio

WHY = "it lies on a disk that is only read"
LOST = UUID(int=77)
PAGES = ("/", "/search?q=ferry", "/map", "/timeline", "/goals", "/sleep", "/past?at=2", "/audit", "/no/such/page")
CHANGING = re.compile(r'<form method="post" action="(?!/audit/(?:verify|replay)|/past/changes|/logout)[^"]*')
"""The form of a change; checks of the log change nothing."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
async def ids(folder: Path, profile: EmbeddedProfile) -> list[str]:
    """Fill the store: a memory and its copy, a forgotten one, a run, and the trace of one that a damaged log lost."""
    with start_hub(DuckDBLog(folder), folder, loaded(profile)) as hub:
        context = Context(hub)
        found = [await store(context, text) for text in ("The ferry leaves at nine.", "The ferry  leaves at nine.")]
        found.append(await store(context, "The mast was painted green."))
        await call(context, BY_METHOD["memory/delete"], {"id": found[2]})
        found.append((await call(context, BY_METHOD["memory/consolidate"], {"mode": "light"}))["run_id"])
    log = DuckDBLog(folder)
    log.append([draft(EventLost(kind="memory_stored.1", why="its content is damaged"), id=LOST)])
    log.close()
    return found


@pytest.fixture
def reading(folder: Path, ids: list[str], profile: EmbeddedProfile) -> Iterator[Hub]:
    with start_hub(DuckDBLog(folder, read_only=WHY), folder, loaded(profile)) as hub:
        yield hub


@pytest.fixture
async def only_read(reading: Hub, serve: Serve) -> AsyncIterator[Served]:
    """A server of the filled store, opened read-only."""
    async with serve(Context(reading)) as served:
        yield served


async def linked(context: Context, times: int) -> None:
    """Note searches for causes, as they follow each pause in storing."""
    for number in range(times):
        run = UUID(int=1_000 + number)
        found = Counts(looked_at=1)
        ended = ConsolidationFinished(
            run=run, outcome=Outcome.FINISHED, counts=found, memories=1, milliseconds=1.0, reason=None
        )
        await ask(context.hub.store, Append.of((started(run, Mode.LINK, Trigger.STORED), ended), "linker", run))


async def test_no_page_of_a_store_that_is_only_read_offers_a_change_and_each_says_why(
    only_read: Served, ids: list[str]
) -> None:
    same, _, forgotten, run = ids
    async with only_read.browser() as client:
        for path in (*PAGES, f"/memory/{same}", f"/memory/{forgotten}", f"/sleep/{run}", f"/memory/{same}/graph"):
            page = (await client.get(path)).text
            assert CHANGING.findall(page) == [], path
            assert f"Nothing can be changed here</strong>: {WHY}" in page, path
        assert "Verify every event" in (await client.get("/audit")).text
        past = await finished(client, "/audit?as_of=2")
        assert WHY not in past, "the banner of the past says that nothing can be changed"


async def test_a_page_of_the_past_names_its_moment(only_read: Served) -> None:
    """Also where the page is that of an error, as for a time that is still to come."""
    named = {
        "2": "as it was after event 2",
        "no time": "as of no time",
        "the end of May 2026": "as of the end of May 2026",
    }
    for span in ("2999-11", "2999-W07", "2999-11-30", "this week", "last year", "May 2026", "today"):
        named[span] = f"as of the end of {span}"
    for instant in ("2999-11-30T12:00", "0 minutes ago", "the start of next year"):
        named[instant] = f"as of {instant}"
    async with only_read.browser() as client:
        for as_of, moment in named.items():
            assert f"<strong>{moment}</strong>" in (await client.get("/", params={"as_of": as_of})).text


async def test_a_memory_that_a_damaged_log_lost_is_counted_and_told_apart_from_erased_ones(
    only_read: Served, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = await call(only_read.context, BY_METHOD["store/status"], {})
    assert answer["memories"] == {"live": 1, "forgotten": 1, "pruned": 0, "merged": 1, "erased": 0, "lost": 1}
    show_status(answer)
    assert "0 erased\n1 memory lost, because the store was damaged" in capsys.readouterr().out
    async with only_read.browser() as client:
        home = (await client.get("/")).text
        assert "<strong>1</strong> <span>lost, because the store was damaged" in home
        assert "erased for good" not in home
        answer = await client.get(f"/memory/{LOST}")
        assert answer.status_code == 410
        assert "This memory is lost" in answer.text
        assert "its content is damaged" in answer.text
        assert "erased" not in answer.text
    changes = await call(only_read.context, BY_METHOD["store/diff"], {"a": 1})
    (lost,) = [one for one in changes["memories"]["stored"]["shown"] if one["id"] == str(LOST)]
    assert lost["reason"].startswith("lost, because")


async def test_home_tells_of_the_last_sleep_also_where_many_searches_for_causes_came_after_it(served: Served) -> None:
    await store(served.context, "The ferry leaves at nine.")
    slept = await call(served.context, BY_METHOD["memory/consolidate"], {"mode": "light"})
    async with served.browser() as client:
        await linked(served.context, 12)
        home = (await client.get("/")).text
        assert "The last run was <strong>Light sleep</strong>" in home
        assert slept["run_id"] in home


async def finished(client: httpx2.AsyncClient, address: str) -> str:
    """Return a page once its job has ended, as that of a replay."""
    with anyio.fail_after(60):
        while "<progress" in (page := (await client.get(address)).text):
            pass
    return page


async def test_what_changed_tells_how_much_is_not_listed_and_leads_back(served: Served) -> None:
    for number in range(22):
        await store(served.context, f"The mast was painted green for the {number}th time.")
    async with served.browser() as client:
        (session,) = served.server._sessions._sessions.values()
        started = await client.post("/past/changes", data={"csrf": session.csrf, "at": "1"})
        page = await finished(client, started.headers["location"])
    assert "22 memories stored" in page
    assert "<p>2 more memories.</p>" in page
    assert '<a href="/past?at=1">' in page


async def test_home_in_the_past_offers_nothing_that_can_only_be_done_now(served: Served) -> None:
    await store(served.context, "The ferry leaves at nine.")
    async with served.browser() as client:
        for query, offered in (("", True), (f"?as_of={served.context.hub.log.head.seq}", False)):
            page = await finished(client, f"/{query}")
            assert ("Verify every one" in page, ">Try it<" in page) == (offered, offered)


async def test_goals_that_were_looked_for_are_shown_in_their_project(served: Served) -> None:
    for number in range(3):
        await store(served.context, f"The mast was painted green for the {number}th time.", namespace="yard")
    await store(served.context, "The ferry leaves at nine.", namespace="pier")
    async with served.browser() as client:
        (session,) = served.server._sessions._sessions.values()
        started = await client.post("/goals/discover", data={"csrf": session.csrf, "namespace": "pier"})
        page = await finished(client, started.headers["location"])
        shown = re.search('href="([^"]*)">See the goals', page)
        assert shown
        assert "“pier”" in (await client.get(unescape(shown[1]))).text


async def test_the_end_of_a_run_tells_all_that_its_own_page_tells(served: Served) -> None:
    for text in ("The ferry leaves at nine.", "The ferry  leaves at nine.", "The mast was painted green."):
        await store(served.context, text)
    async with served.browser() as client:
        (session,) = served.server._sessions._sessions.values()
        asked = {"csrf": session.csrf, "mode": "rem"}
        outcomes = {"yes": "A run would have this outcome: 1 merged", "no": "3 memories looked at: 1 merged"}
        for dry_run, told in outcomes.items():
            started = await client.post("/sleep/start", data=asked | {"dry_run": dry_run})
            page = await finished(client, started.headers["location"])
            assert told in page
        (latest, *_) = (await call(served.context, BY_METHOD["memory/consolidations"], {}))["runs"]
        assert f"3 memories looked at: {run_summary(latest['counts'])}." in page
        assert f": {run_summary(latest['counts'])}." in (await client.get(f"/sleep/{latest['run_id']}")).text


async def test_each_run_is_reached_behind_many_searches_for_causes(served: Served) -> None:
    await store(served.context, "The ferry leaves at nine.")
    slept = await call(served.context, BY_METHOD["memory/consolidate"], {"mode": "light"})
    await linked(served.context, 120)
    async with served.browser() as client:
        page = (await client.get("/sleep?idle=yes")).text
        seen = 0
        while slept["run_id"] not in page:
            seen += page.count('class="entry run"')
            (earlier,) = re.findall('href="([^"]*)">Earlier', page)
            page = (await client.get(unescape(earlier))).text
        assert seen == 100
        assert ">Later</a>" in page
        assert ">Earlier</a>" not in page
        page = (await client.get("/sleep?mode=light&idle=yes")).text
        assert page.count('class="entry run"') == 1
        assert slept["run_id"] in page
        assert "There is none" in (await client.get("/sleep?mode=deep")).text
    found = await call(served.context, BY_METHOD["memory/consolidations"], {"mode": "link", "offset": 115})
    assert len(found["runs"]) == 5


async def test_runs_that_changed_nothing_are_listed_only_if_that_is_chosen(served: Served) -> None:
    async def sleep() -> str:
        return (await call(served.context, BY_METHOD["memory/consolidate"], {"mode": "light"}))["run_id"]

    async with served.browser() as client:
        assert "No run changed anything yet" in (await client.get("/sleep")).text
        for _ in range(2):
            await store(served.context, "The ferry leaves at nine.")
        merged, idle = await sleep(), await sleep()
        page, whole = [(await client.get(path)).text for path in ("/sleep", "/sleep?idle=yes")]
    assert [run in page for run in (merged, idle)] == [True, False]
    assert [run in whole for run in (merged, idle)] == [True, True]
    listed = await call(served.context, BY_METHOD["memory/consolidations"], {"changed": True})
    assert [one["run_id"] for one in listed["runs"]] == [merged]


async def test_home_tells_of_a_search_for_causes_where_nothing_else_ran(served: Served) -> None:
    await store(served.context, "The ferry leaves at nine.")
    await linked(served.context, 1)
    async with served.browser() as client:
        home = (await client.get("/")).text
    assert "The last run was <strong>Search for causes</strong>" in home
    assert "No run yet" not in home


async def test_the_days_of_the_timeline_are_whole_and_both_belong_to_it(served: Served) -> None:
    times = {
        "before": "2026-03-08T23:59:59.999999Z",
        "first": "2026-03-09T00:00:00Z",
        "within": "2026-03-10T12:00:00Z",
        "last": "2026-03-11T23:59:59.999999Z",
        "after": "2026-03-12T00:00:00Z",
    }
    for word, at in times.items():
        await store(served.context, f"The {word} barge of the week passed the lock.", created_at=at)
    cases = {
        "day=2026-03-09&last=2026-03-11": ("first within last", "2026-03-09 to 2026-03-11"),
        "day=2026-03-10&last=2026-03-10": ("within", "2026-03-10"),
        "day=2026-03-10": ("within last after", "From 2026-03-10"),
        "last=2026-03-09": ("before first", "Until 2026-03-09"),
        "day=0001-01-01&last=9999-12-31": (" ".join(times), "0001-01-01 to 9999-12-31"),
    }
    async with served.browser() as client:
        for query, (words, heading) in cases.items():
            page = (await client.get(f"/timeline?{query}")).text
            assert [one for one in times if f"The {one} barge" in page] == words.split(), query
            assert f"<h1>{heading}</h1>" in page


async def test_the_search_says_what_each_view_compares_without_a_pointer(served: Served) -> None:
    async with served.browser() as client:
        page = unescape((await client.get("/search")).text)
    assert all(f"<dt>{name}</dt><dd>{compares}</dd>" in page for name, compares in SPACE_NAMES.values())


@pytest.mark.parametrize("ranked", ["", "&profile=custom&w_e1_semantic=50&w_e6_sparse=50"])
async def test_a_search_goes_on_to_the_last_of_its_results(served: Served, ranked: str) -> None:
    stored = [await store(served.context, f"Ferry {number} leaves pier {number} at nine.") for number in range(23)]
    found, places = [], []
    async with served.browser() as client:
        path = f"/search?q=ferry{ranked}"
        while path:
            page = (await client.get(path)).text
            assert f"Results {len(found) + 1} to {min(len(found) + 10, 23)} in " in page
            assert f'<ol class="results" start="{len(found) + 1}">' in page
            found += re.findall('data-id="([^"]*)"', page)
            places += re.findall(r"Why it is at place (\d+)", page)
            further = re.search('href="([^"]*)">Further<', page)
            path = unescape(further[1]) if further else ""
        assert sorted(found) == sorted(stored)
        assert [*map(int, places)] == [*range(1, 24)]
        back = re.search('href="([^"]*)">Back<', page)
        assert back
        assert re.findall('data-id="([^"]*)"', (await client.get(unescape(back[1]))).text) == found[10:20]


async def test_a_timeline_is_named_by_what_it_shows(served: Served) -> None:
    await store(served.context, "The ferry leaves at nine.", session="pier & co")
    async with served.browser() as client:
        page = unescape((await client.get("/timeline?session=pier+%26+co")).text)
    assert "<title>Session “pier & co” · Context Graph</title>" in page
    assert "<h1>Session “pier & co”</h1>" in page


async def test_a_tag_leads_to_the_memories_that_have_it(served: Served) -> None:
    await store(served.context, "The ferry leaves at nine.", tags=["pier & co", "times"])
    await store(served.context, "The bus leaves at ten.", tags=["times"])
    async with served.browser() as client:
        link = re.search('href="([^"]*)">#pier &amp; co<', (await client.get("/")).text)
        assert link
        page = (await client.get(unescape(link[1]))).text
        assert "<h1>Tag “pier &amp; co”</h1>" in page
        assert "ferry" in page
        assert "bus" not in page
        assert "Each bar stands for" not in page  # for all memories
        in_words = {"forgotten": "What was forgotten", "pruned": "What sleep hid"}
        for state, words in in_words.items():
            assert f"<h1>{words}</h1>" in (await client.get(f"/timeline?state={state}")).text


async def test_a_memory_that_is_missing_is_told_by_its_id_alone(served: Served) -> None:
    for path, what in (("memory", "Memory"), ("sleep", "Run")):
        async with served.browser() as client:
            answer = await client.get(f"/{path}/{LOST}")
        assert answer.status_code == 404
        assert f'role="alert">{what} not found: {LOST}</p>' in answer.text


async def test_an_error_leads_away_from_a_moment_that_is_none(served: Served) -> None:
    await store(served.context, "The ferry leaves at nine.")
    wrong, right = "as_of=whenever", f"as_of={served.context.hub.log.head.seq}"
    async with served.browser() as client:
        for query, kept in ((wrong, ""), (f"{right}&since=whenever", right)):
            answer = await client.get(f"/audit?{query}")
            assert answer.status_code == 400
            main = answer.text.partition("<main")[2].partition("</main>")[0]
            links = re.findall('href="([^"]*)"', main)
            assert links == [f"/audit{kept and '?'}{kept}", f"/{kept and '?'}{kept}"]


async def test_the_address_of_a_form_leads_to_its_page(served: Served) -> None:
    memory = await store(served.context, "The ferry leaves at nine.")
    forms = (f"/memory/{memory}/supersede", f"/memory/{memory}/erase", "/sleep/schedule", "/goals/discover")
    async with served.browser() as client:
        for path in (*forms, "/audit/verify"):
            answer = await client.get(path)
            assert (answer.status_code, answer.headers["location"]) == (303, path.rpartition("/")[0])
            assert (await client.get(answer.headers["location"])).status_code == 200


async def test_sessions_that_are_not_listed_are_told_of_and_reached(served: Served) -> None:
    for number in range(41):
        await store(served.context, f"Turn of talk {number}.", session=f"talk-{number:02}")
    async with served.browser() as client:
        page = (await client.get("/timeline")).text
        assert page.count("session=talk-") - page.count('class="tag" href') == 40
        more = re.search('href="([^"]*)">Show more sessions', page)
        assert more
        whole = (await client.get(unescape(more[1]))).text
    assert all(f">talk-{number:02}<" in whole for number in range(41))
    assert "Show more sessions" not in whole


async def test_commands_on_pages_name_the_store_to_who_sees_all_of_it(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = served.context.hub.folder
    bearer = {"authorization": f"Bearer {served.key('limited', Scope.READ, ('home',))}"}
    async with served.browser() as client, served.client() as anybody:
        assert f"<code>context-graph ui --data {folder}</code>" in (await client.get("/search")).text
        assert str(folder) not in (await anybody.get("/search", headers=bearer)).text
        monkeypatch.setenv("CONTEXT_GRAPH_DATA", str(folder))
        assert "<code>context-graph ui</code>" in (await client.get("/search")).text


async def test_an_empty_store_says_so_and_where_it_is(served: Served) -> None:
    async with served.browser() as client:
        assert str(served.context.hub.folder) in (await client.get("/")).text
        assert "There is nothing to search yet" in (await client.get("/search?q=ferry")).text
        await store(served.context, "The ferry leaves at nine.")
        past = await finished(client, "/?as_of=1")
    assert "Nothing was stored then" in past
    assert "context-graph install" not in past


async def test_a_wrong_condition_of_the_audit_and_the_past_is_refused_by_the_name_of_its_field(served: Served) -> None:
    refused = {
        "/audit?since=whenever": "Invalid 'From': neither",
        "/audit?since=5&until=2": "Invalid 'From': 5 is after 'To', 2",
        "/past?time=whenever": "Invalid 'Or by its time': neither",
    }
    await store(served.context, "The ferry leaves at nine.")
    async with served.browser() as client:
        for path, problem in refused.items():
            answer = await client.get(path)
            assert answer.status_code == 400
            assert problem in unescape(answer.text)


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ("day=2026-03-11&last=2026-03-09", "Invalid 'To': 2026-03-09 is before 'From', 2026-03-11"),
        ("day=2026-02-30", "Invalid 'From': expected a date such as 2026-03-09"),
        ("last=tomorrow", "Invalid 'To': expected a date such as 2026-03-09"),
    ],
)
async def test_a_day_that_is_none_or_in_the_wrong_order_is_refused_by_the_name_of_its_field(
    served: Served, query: str, problem: str
) -> None:
    async with served.browser() as client:
        answer = await client.get(f"/timeline?{query}")
    assert answer.status_code == 400
    assert problem in unescape(answer.text)
    assert 'href="/timeline">Show the page without its conditions' in answer.text


@pytest.mark.parametrize(
    ("confidence", "verdict", "meaning"),
    [
        (Confidence.NOTHING, "None of them clearly answers the question.", "too low to count as an answer"),
        (Confidence.UNCERTAIN, "The answer may be among them.", "too low to rely on"),
        (Confidence.CONFIDENT, "The answer is probably among them.", "high enough to rely on"),
    ],
)
async def test_what_a_search_says_of_its_relevance_agrees_with_its_class(
    served: Served,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    confidence: Confidence,
    verdict: str,
    meaning: str,
) -> None:
    """The classes begin at .66 and .89, so that a probability above one half may be that of `nothing`."""
    await store(served.context, "The ferry leaves at nine.")
    found = Relevance(probability=0.54, confidence=confidence)
    monkeypatch.setattr("actors.comparator.search.pipeline.estimate", lambda *_: found)
    async with served.browser() as client:
        page = (await client.get("/search?q=vat+rates")).text
    assert f'<strong>{verdict}</strong> <span class="meta">Relevance 0.54 of 1, {meaning}.</span>' in page
    answer = await call(served.context, BY_METHOD["search/graph"], {"query": "vat rates", "explain": True})
    show_found(answer, explain=False)
    printed = capsys.readouterr().out
    assert "relevance 0.54 of 1" in printed
    assert ("nothing of this clearly bears on the query" in printed) is (confidence is Confidence.NOTHING)


async def test_the_audit_finds_events_of_a_kind_however_many_came_after_them(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("READ", "LOOKED_THROUGH"):
        monkeypatch.setattr(f"actors.dashboard.pages.audit.{name}", 5)
    memory = await store(served.context, "The ferry leaves at nine.")
    await call(served.context, BY_METHOD["memory/delete"], {"id": memory})
    await linked(served.context, 10)
    async with served.browser() as client:
        page = (await client.get("/audit?kind=gone")).text
        exported = (await client.get("/audit/export?kind=gone")).text
        assert {(await client.get(f"/audit?kind={kind}")).status_code for kind in EVENTS} == {200}
    assert "was forgotten" in page
    assert page.count("<tr>") == 2  # with that of the heading
    assert exported.count("\n") == 1


async def test_an_empty_store_sleeps_and_goes_on(served: Served) -> None:
    await wait_until_ready(served.context)
    assert (await call(served.context, BY_METHOD["memory/consolidate"], {"mode": "light"}))["outcome"] == "finished"
    for _ in range(2):  # the comparator checks its indexes after the run, between two questions
        await call(served.context, BY_METHOD["store/status"], {})
    await store(served.context, "The ferry leaves at nine.")
    async with served.browser() as client:
        assert "The ferry leaves at nine." in (await client.get("/search?q=ferry")).text


async def test_a_store_of_one_memory_says_nothing_that_is_empty(served: Served) -> None:
    await store(served.context, "The ferry leaves at nine.")
    async with served.browser() as client:
        page = (await client.get("/search?q=ferry")).text
        assert "The ferry leaves at nine." in page
        assert re.search(r"Found by\s*</p>", page) is None
        assert "Just before" not in (await client.get("/past?at=1")).text


async def test_the_moment_at_which_a_goal_was_found_is_shown_and_the_goal_is_no_link_to_a_memory(
    served: Served,
) -> None:
    for number in range(12):
        content = f"The ferry to the harbour brings {number} crates of herring."
        await store(served.context, content, namespace="pier")
    found = await call(served.context, BY_METHOD["goal/discover"], {"namespace": "pier", "min_confidence": 0.0})
    goal = found["discovered_goals"][0]["goal_id"]
    events = (await call(served.context, BY_METHOD["audit/trail"], {}))["events"]
    seq = next(one["seq"] for one in events if one["kind"] == "goal_discovered")
    async with served.browser() as client:
        for path in (f"/past?at={seq}", "/audit"):
            answer = await client.get(path)
            assert answer.status_code == 200, path
            assert f"({goal[:8]})" in answer.text
            assert f"/memory/{goal}" not in answer.text


async def test_the_page_of_a_memory_says_in_words_whether_it_is_about_the_north_star(served: Served) -> None:
    for content in BOAT:
        await store(served.context, content, namespace="yard")
    stray = await store(served.context, "Aunt Bertha's parrot recites the Erlking at breakfast.", namespace="yard")
    found = await call(served.context, BY_METHOD["goal/discover"], {"namespace": "yard"})
    async with served.browser() as client:
        assert "about another subject" in (await client.get(f"/memory/{stray}")).text
        assert "on its subject" in (await client.get(f"/memory/{found['north_star']['members'][0]}")).text


async def test_the_bars_of_what_is_remembered_are_not_shown_for_what_was_forgotten(served: Served) -> None:
    for content in ("The ferry leaves at nine.", "The bus leaves at ten."):
        memory = await store(served.context, content)
    await call(served.context, BY_METHOD["memory/delete"], {"id": memory})
    async with served.browser() as client:
        assert "Each bar stands for" in (await client.get("/timeline")).text
        forgotten = (await client.get("/timeline?state=forgotten")).text
    assert "The bus leaves at ten." in forgotten
    assert "Each bar stands for" not in forgotten


async def test_excerpts_on_pages_are_plain_and_a_memory_shown_whole_is_as_it_was_written(served: Served) -> None:
    note = "## Tides\n\n**High** water is at noon, `low` water at six."
    memory = await store(served.context, note)
    async with served.browser() as client:
        for path in ("/", "/timeline", "/search?q=high+water"):
            assert "Tides High water is at noon, low water at six." in (await client.get(path)).text, path
        assert note in (await client.get(f"/memory/{memory}")).text


async def test_what_is_refused_is_named_by_the_label_of_its_field(served: Served) -> None:
    memory = await store(served.context, "The ferry leaves at nine.")
    refused = {
        "/search?q=\N{ZERO WIDTH SPACE}": "'Question' cannot be empty",
        "/search?q=ferry&profile=best": "Invalid 'Kind of question': ",
        "/search?q=ferry&profile=custom&w_e1_semantic=x": "Invalid 'Meaning': expected a whole number",
        f"/timeline?namespace={'x' * 300}": "Invalid 'Project': longer than",
        f"/memory/{memory}/graph?depth=9": "Invalid 'Steps away': expected a whole number",
        "/map?colour=mauve": "Invalid 'Colour': ",
        f"POST /memory/{memory}/tags": "Invalid 'Tags': longer than",
        f"POST /memory/{memory}/supersede": "Invalid 'Why it changed': longer than",
        f"POST /memory/{memory}/forget": "Invalid 'Reason, for the record': longer than",
        "POST /sleep/schedule": "Invalid 'Light': 'whenever' is neither a crontab",
    }
    form = {"tags": "x" * 300, "content": "", "reason": "x" * 5_000, "light": "whenever"}
    async with served.browser() as client:
        (csrf,) = set(re.findall(r'name="csrf" value="([^"]+)"', (await client.get("/")).text))
        for address, problem in refused.items():
            path = address.removeprefix("POST ")
            sent = client.get(path) if path == address else client.post(path, data={"csrf": csrf, **form})
            answer = await sent
            assert answer.status_code == 400
            assert problem in unescape(answer.text), address


async def test_a_change_that_is_refused_leads_back_to_where_it_was_asked_for(served: Served) -> None:
    memory = await store(served.context, "The ferry leaves at nine.")
    async with served.browser() as client:
        (csrf,) = set(re.findall(r'name="csrf" value="([^"]+)"', (await client.get("/")).text))
        forms = {f"/memory/{memory}/erase": {}, "/sleep/schedule": {"light": "whenever"}}
        for path, fields in forms.items():
            answer = await client.post(path, data={"csrf": csrf, **fields})
            assert answer.status_code == 400
            assert f'<a href="{path.rpartition("/")[0]}" data-back>Back</a>' in answer.text
