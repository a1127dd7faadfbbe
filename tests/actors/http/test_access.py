"""Who gets in over HTTP: login links, cookies, tokens, hosts, origins, sizes, and where the server listens."""

import errno
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path

import anyio
import httpx2
import pytest

from actors.api.caller import Scope
from actors.api.context import Context
from actors.api.params.http import HttpListen
from actors.api.tools.agent_tools import BY_METHOD
from actors.api.tools.dispatch import call
from actors.http.access import keys
from actors.http.access.authentication import LINK_SECONDS, Sessions
from actors.http.access.keys import Keys
from actors.http.guard import MAX_BODY
from actors.http.server import PORT, UI, HttpServer
from actors.runtime.faults import ForbiddenFault, InvalidParamsFault
from tests.actors.http.conftest import Serve, Served

pytestmark = pytest.mark.anyio


async def test_a_link_logs_a_browser_in_once_by_a_cookie_that_no_script_reads(served: Served) -> None:
    async with served.client() as client:
        assert (await client.get("/healthz")).status_code == 200
        assert (await client.get("/")).status_code == 401
        link = await served.server.login_link()
        assert (await client.head(link)).status_code == 405
        answer = await client.get(link)
        assert answer.status_code == 303
        assert {"HttpOnly", "SameSite=strict"} <= set(answer.headers["set-cookie"].split("; "))
        page = await client.get("/")
        assert page.status_code == 200
        assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
        async with served.client() as another:
            assert (await another.get(link)).status_code == 403
            assert (await another.get("/")).status_code == 401


async def test_a_change_from_a_browser_needs_the_token_of_its_session(served: Served) -> None:
    async with served.browser() as client:
        assert (await client.post("/logout")).status_code == 403
        assert (await client.post("/logout", data={"csrf": "guess"})).status_code == 403
        (session,) = served.server._sessions._sessions.values()
        assert (await client.post("/logout", data={"csrf": session.csrf})).status_code == 303
        assert (await client.get("/")).status_code == 401


async def test_pages_that_are_open_stay_usable_when_their_browser_logs_in_again(served: Served) -> None:
    async with served.browser() as client:
        (session,) = served.server._sessions._sessions.values()
        link = await served.server.login_link()
        for _ in range(2):  # the second time the link is used, which changes nothing for who is logged in
            again = await client.get(link)
            assert (again.status_code, again.headers["location"]) == (303, "/")
        assert (await client.post("/past/changes", data={"csrf": session.csrf, "at": "1"})).status_code == 303


async def test_a_form_of_a_browser_that_is_logged_out_is_answered_by_a_page(served: Served) -> None:
    async with served.client() as client:
        answer = await client.post("/sleep/start", data={"csrf": "of an earlier server"})
        assert answer.status_code == 401
        assert answer.headers["content-type"].startswith("text/html")
        assert "Nothing was changed" in answer.text
        assert "context-graph ui" in answer.text


@pytest.mark.parametrize("path", ["/mcp", "/mcp/", "/metrics"])
async def test_a_program_without_a_token_is_told_what_it_lacks(served: Served, path: str) -> None:
    async with served.client() as client:
        answer = await client.post(path, json={})
        assert (answer.status_code, answer.json()) == (401, {"error": "invalid_token"})
        assert answer.headers["www-authenticate"].startswith("Bearer")


async def test_a_browser_session_is_worth_nothing_to_programs(served: Served) -> None:
    async with served.browser() as client:
        assert (await client.get("/mcp")).status_code == 401


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "attacker.example"},
        {"host": "127.0.0.1.attacker.example"},
        {"host": "attacker.example@127.0.0.1"},
        {"host": ""},
        {"origin": "http://attacker.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:1"},
    ],
)
async def test_a_request_under_another_name_or_from_another_site_is_refused(
    served: Served, headers: dict[str, str]
) -> None:
    async with served.browser() as client:
        answer = await client.get("/", headers=headers)
        assert answer.status_code in {400, 403, 421}
        assert "logged in" not in answer.text


async def test_a_body_that_is_too_long_is_refused(served: Served) -> None:
    async def endless() -> AsyncIterator[bytes]:
        for _ in range(2 * MAX_BODY >> 20):
            yield b"x" * (1 << 20)

    async with served.browser() as client:
        form = {"content-type": "application/x-www-form-urlencoded"}
        with suppress(httpx2.TransportError):  # the answer may come while the body is still being sent
            assert (await client.post("/logout", content=endless(), headers=form)).status_code == 413
        assert (await client.get("/healthz")).status_code == 200


async def test_a_login_leaves_the_session_of_another_store_on_the_same_host(context: Context, serve: Serve) -> None:
    async with serve(context) as one, serve(context) as other, one.browser() as client:
        assert (await client.get(await other.server.login_link())).status_code == 303
        assert (await client.get("/")).status_code == 200
        assert (await client.get(f"{other.url}/")).status_code == 200


async def test_each_request_of_a_browser_that_is_logged_in_keeps_the_hub_running_for_an_hour(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = 0

    @contextmanager
    def hold() -> Iterator[None]:
        nonlocal held
        held += 1
        try:
            yield
        finally:
            held -= 1

    async with anyio.create_task_group() as group, httpx2.AsyncClient() as browser, httpx2.AsyncClient() as stranger:
        server = HttpServer(context, {}, group, hold, lambda _url: None)
        url = await server.listen(HttpListen(address="127.0.0.1:0"))

        async def held_after(client: httpx2.AsyncClient, page: str, status: int, seconds: float) -> int:
            monkeypatch.setattr("actors.http.server.IN_USE_SECONDS", seconds)
            assert (await client.get(page)).status_code == status
            await anyio.wait_all_tasks_blocked()
            return held

        monkeypatch.setattr("actors.http.server.IN_USE_SECONDS", 0)
        link = await server.login_link()
        assert await held_after(browser, link, 303, 0) == 0
        assert await held_after(stranger, f"{url}/", 401, 3_600) == 0
        assert await held_after(stranger, f"{url}/healthz", 200, 3_600) == 0
        assert await held_after(browser, f"{url}/", 200, 3_600) == 1
        assert await held_after(browser, f"{url}/", 200, 3_600) == 1
        assert await held_after(browser, f"{url}/", 200, 0) == 0, "a request begins the hour anew"
        group.cancel_scope.cancel()


async def test_pages_are_served_on_the_port_of_the_last_time_while_it_is_free(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def port() -> str:
        async with anyio.create_task_group() as group:
            link = await HttpServer(context, {}, group, nullcontext, lambda _url: None).login_link()
            group.cancel_scope.cancel()
        return link.partition("/login")[0].rpartition(":")[2]

    with socket.create_server(("127.0.0.1", 0)) as other:
        monkeypatch.setattr("actors.http.server.DEFAULT_ADDRESS", f"127.0.0.1:{other.getsockname()[1]}")
        first = await port()
        assert await port() == first
        with socket.create_server(("127.0.0.1", int(first))):
            second = await port()
            assert second != first
        assert await port() == second
        for damaged in (b"", b"\xff", b"99999"):
            (context.hub.folder / PORT).write_bytes(damaged)
            assert int(await port())


async def test_a_server_that_runs_is_joined_by_whoever_names_no_address(served: Served) -> None:
    assert await served.server.listen(HttpListen()) == served.url
    for other in (HttpListen(address="127.0.0.1:1"), HttpListen(behind_proxy=True)):
        with pytest.raises(InvalidParamsFault, match="run: context-graph stop"):
            await served.server.listen(other)


async def test_the_link_of_a_server_on_all_addresses_names_this_machine(context: Context, serve: Serve) -> None:
    Keys(context.hub.folder).create("ci", Scope.READ, None)
    async with serve(context, HttpListen(address="0.0.0.0:0", behind_proxy=True)) as served, served.client() as client:
        link = await served.server.login_link()
        assert link.startswith("http://127.0.0.1:")
        assert (await client.get(link)).status_code == 303


async def test_invalid_tokens_are_refused_and_slowed_down(served: Served) -> None:
    async with served.client("cg_ci_guess") as client:
        answers = [await client.get("/") for _ in range(30)]
        assert answers[0].status_code == 401
        assert answers[-1].status_code == 429
        assert int(answers[-1].headers["retry-after"]) > 0


async def test_invalid_tokens_lock_no_valid_key_of_the_same_address_out(served: Served) -> None:
    async with served.client("cg_ci_guess") as client:
        while (await client.get("/metrics")).status_code != 429:
            pass
        async with served.client(served.key("ci")) as valid:
            assert [(await valid.get("/metrics")).status_code for _ in range(2)] == [200, 200]


async def test_a_key_stays_valid_where_its_use_cannot_be_recorded(
    context: Context, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_file: Path, _content: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    async with serve(context) as served, served.client(served.key("ci")) as client:
        monkeypatch.setattr(keys, "replace_file", full)
        assert (await client.get("/metrics")).status_code == 200


@pytest.mark.parametrize("address", ["0.0.0.0:0", "[::]:0", "192.0.2.1:8765", "example.org:80"])
async def test_other_machines_are_not_served_without_tls_or_a_proxy(address: str) -> None:
    with pytest.raises(InvalidParamsFault, match="--behind-proxy"):
        HttpListen(address=address).check()


async def test_other_machines_are_not_served_before_there_is_a_key(context: Context, serve: Serve) -> None:
    everywhere = HttpListen(address="0.0.0.0:0", behind_proxy=True)
    with pytest.RaisesGroup(pytest.RaisesExc(InvalidParamsFault, match="key create")):
        async with serve(context, everywhere):
            pass


@pytest.mark.parametrize("address", ["localhost:99999", "127.0.0.1:http", "127.0.0.1:-1", "banana"])
def test_a_malformed_address_is_refused(address: str) -> None:
    with pytest.raises(InvalidParamsFault, match="HOST:PORT"):
        HttpListen(address=address).check()


@pytest.mark.parametrize("name", ["https://memory.example.org", "memory.example.org:8443", "memory.example.org/", ""])
def test_a_name_that_no_client_could_be_served_under_is_refused(name: str) -> None:
    HttpListen(allow_hosts=("Memory.example.org", "memory", "10.0.0.7", "fd00::7")).check()
    with pytest.raises(InvalidParamsFault, match=r"allow_host.*without scheme and port"):
        HttpListen(allow_hosts=(name,)).check()


async def test_a_context_without_a_caller_s_rights_reads_nothing(served: Served) -> None:
    nobody = served.server._context
    calls = {"search/graph": {"query": "x"}, "store/status": {}, "http/login": {}, "store/diff": {"a": 1}}
    for method, arguments in calls.items():
        with pytest.raises(ForbiddenFault):
            await call(nobody, BY_METHOD[method], arguments)


def test_a_link_is_valid_for_minutes() -> None:
    now = 0.0
    sessions = Sessions(lambda: now)
    link = sessions.link(UI)
    now = LINK_SECONDS + 1
    assert sessions.log_in(link) is None
