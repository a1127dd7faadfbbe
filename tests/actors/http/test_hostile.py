"""Hostile HTTP: whatever arrives is answered by a status, without the text of an exception, and nothing hangs."""

import logging
import os
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import anyio
import anyio.from_thread
import anyio.to_thread
import httpx2
import pytest
from context_graph.transports import PROTOCOL
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from actors.api.context import Context
from actors.runtime.actor import LOGGER
from tests.actors.http.conftest import Serve, Served

pytestmark = pytest.mark.anyio

LEAKS = (
    "Traceback",
    "Error(",
    "error for",
    "errors for",
    "pydantic",
    'File "',
    "actors/",
    "site-packages",
    "line 1 column",
)
STATM = Path("/proc/self/statm")
SECONDS = 60
"""In which any request of these is answered, also on a busy machine."""

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=10,
)
METHODS = st.sampled_from(
    ["initialize", "ping", "tools/call", "tools/list", "store/backup", "http/login", "", "x" * 999]
)
MESSAGES = st.fixed_dictionaries(
    {"jsonrpc": st.sampled_from(["2.0", "1.0", 2]), "method": METHODS | JSON},
    optional={"id": JSON, "params": JSON},
)
HEADERS = st.dictionaries(
    st.sampled_from(
        [
            "host",
            "origin",
            "mcp-session-id",
            "mcp-protocol-version",
            "last-event-id",
            "accept",
            "content-type",
            "cookie",
        ]
    ),
    st.sampled_from(
        [
            "",
            "null",
            "evil.example",
            "2026-07-28",
            "2025-06-18",
            "9999-99-99",
            "*/*",
            "text/event-stream",
            "context_graph=x",
        ]
    )
    | st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=40),
    max_size=4,
)
PATHS = st.sampled_from(
    ["/mcp", "/", "/login", "/login?token=", "/logout", "/healthz", "/metrics", "/static/../../keys"]
)


async def _check(client: httpx2.AsyncClient, method: str, path: str, headers: dict[str, str], body: Any) -> None:
    content = {"json": body} if not isinstance(body, bytes) else {"content": body}
    with anyio.fail_after(SECONDS):
        try:
            answer = await client.request(method, path, headers=headers, **content)
        except ValueError:  # a NaN isn't JSON
            return
    assert answer.status_code in {200, 202, 303, 400, 401, 403, 404, 405, 406, 413, 415, 421, 429}
    assert not [leak for leak in LEAKS if leak in answer.text], answer.text


@pytest.mark.parametrize("count", [200, pytest.param(20_000, marks=pytest.mark.slow)])
async def test_whatever_arrives_is_answered_without_the_text_of_an_exception(
    context: Context, serve: Serve, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    monkeypatch.setattr("actors.http.access.requests.BURST", 10 * count)
    async with (
        serve(context) as served,
        served.client(served.key("me")) as known,
        served.client() as unknown,
        served.browser() as browser,
    ):

        @settings(max_examples=count, suppress_health_check=list(HealthCheck), database=None)
        @given(
            client=st.sampled_from([known, known, unknown, browser]),
            method=st.sampled_from(["GET", "POST", "POST", "DELETE", "PUT", "OPTIONS", "HEAD"]),
            path=PATHS,
            headers=HEADERS,
            body=MESSAGES | JSON | st.binary(max_size=200),
        )
        def request(client: Any, method: str, path: str, headers: dict[str, str], body: Any) -> None:
            anyio.from_thread.run(_check, client, method, path, headers, body)

        await anyio.to_thread.run_sync(request)
        assert (await unknown.get("/healthz")).status_code == 200


@pytest.mark.parametrize(
    ("head", "drip"),
    [("GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\nx: ", "y"), ("", ""), ("POST", "{")],
    ids=["headers", "nothing", "body"],
)
@pytest.mark.parametrize(
    "clients",
    [
        20,
        pytest.param(
            400, marks=[pytest.mark.slow, pytest.mark.skipif(not STATM.exists(), reason="reads its memory in /proc")]
        ),
    ],
)
async def test_clients_that_send_a_byte_now_and_then_delay_nobody_and_are_given_up(
    context: Context, serve: Serve, monkeypatch: pytest.MonkeyPatch, head: str, drip: str, clients: int
) -> None:
    monkeypatch.setattr("actors.http.listening.HEADER_SECONDS", 1.0)
    monkeypatch.setattr("actors.http.guard.BODY_SECONDS", 1.0)

    async def send_slowly(port: int) -> None:
        async with await anyio.connect_tcp("127.0.0.1", port) as stream:
            with suppress(anyio.BrokenResourceError, anyio.EndOfStream):
                await stream.send(head.encode())
                while True:
                    with anyio.move_on_after(0.1):
                        await stream.receive()  # the answer, before the end
                    await stream.send(drip.encode())

    async with serve(context) as served:
        if head == "POST":
            bearer = f"authorization: Bearer {served.key('me')}\r\ncontent-type: application/json\r\n"
            head = f"POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\n{bearer}content-length: 1000\r\n\r\n"
        place = urlsplit(served.url)
        assert place.port
        resident = []
        for _ in range(2 if clients < 100 else 6):
            with anyio.fail_after(SECONDS):
                async with anyio.create_task_group() as group, served.client() as client:
                    for _ in range(clients):
                        group.start_soon(send_slowly, place.port)
                    assert (await client.get("/healthz")).status_code == 200
            resident.append(_resident())
        if len(resident) > 2:
            assert resident[-1] - resident[2] < 16 << 20


def _resident() -> int:
    """Return the memory of this process in bytes."""
    return int(STATM.read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.parametrize(
    "line", [b"\0\xff\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"GET " + b"x" * 100_000 + b" HTTP/1.1\r\n\r\n"]
)
async def test_what_is_no_http_ends_the_connection(served: Served, line: bytes) -> None:
    place = urlsplit(served.url)
    assert place.port
    with anyio.fail_after(SECONDS):
        async with await anyio.connect_tcp("127.0.0.1", place.port) as stream:
            await stream.send(line + b"\r\n\r\n")
            received = b""
            with suppress(anyio.EndOfStream, anyio.BrokenResourceError):
                while True:
                    received += await stream.receive()
    assert b"Traceback" not in received


async def test_a_body_that_never_ends_is_given_up(
    context: Context, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("actors.http.guard.BODY_SECONDS", 0.1)
    async with serve(context) as served:
        place = urlsplit(served.url)
        assert place.port
        head = f"POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {served.key('slow')}\r\n"
        head += "content-type: application/json\r\naccept: application/json, text/event-stream\r\n"
        with anyio.fail_after(SECONDS):
            async with await anyio.connect_tcp("127.0.0.1", place.port) as stream:
                await stream.send((head + "content-length: 100\r\n\r\n{").encode())
                assert (await stream.receive()).startswith(b"HTTP/1.1 408")


async def test_a_client_that_ends_amid_its_body_is_no_error(served: Served, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, logger=LOGGER.name)
    place = urlsplit(served.url)
    assert place.port
    head = f"POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {served.key('gone')}\r\n"
    head += "content-type: application/json\r\naccept: application/json, text/event-stream\r\n"
    head += f"mcp-protocol-version: {PROTOCOL}\r\n"
    async with await anyio.connect_tcp("127.0.0.1", place.port) as stream:
        await stream.send((head + "content-length: 100\r\n\r\n{").encode())
    with anyio.fail_after(SECONDS):
        while not (told := [one for one in caplog.records if "ended" in one.message or one.levelno >= logging.ERROR]):
            await anyio.lowlevel.checkpoint()
    assert [one.levelno for one in told] == [logging.DEBUG]


async def test_headers_that_never_end_are_given_up(
    context: Context, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("actors.http.listening.HEADER_SECONDS", 0.1)
    async with serve(context) as served:
        place = urlsplit(served.url)
        assert place.port
        for sent in (b"", b"GET / HTTP/1.1\r\nhost: 127"):
            with anyio.fail_after(SECONDS):
                async with await anyio.connect_tcp("127.0.0.1", place.port) as stream:
                    if sent:
                        await stream.send(sent)
                    with suppress(anyio.EndOfStream, anyio.BrokenResourceError):
                        while True:
                            await stream.receive()
