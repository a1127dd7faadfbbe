"""What a pipe remembers, so that a client doesn't notice that one hub went away and another one came."""

import json
from itertools import pairwise
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.api.tools.agent_tools import TOOLS
from actors.proxy.endpoint import PROJECT, REQUEST_KEY, RESENT, TOOL_SET, LineReader, LineTooLongError
from actors.proxy.pending_requests import MAX_RETRIES, MCP_PREFIXES, PendingRequests
from actors.runtime.settings import ToolSet


def line(**message: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}).encode()


def call(number: int, **more: Any) -> bytes:
    return line(id=number, method="tools/call", params={"name": "store_memory", **more})


def read(lines: Any) -> list[dict[str, Any]]:
    return [json.loads(one) for one in lines]


HELLO = line(id=0, method="initialize", params={"protocolVersion": "2025-06-18"})
SHAKEN = line(method="notifications/initialized")


@pytest.mark.parametrize("method", ["tools/call", *(tool.method for tool in TOOLS)])
def test_whatever_may_do_something_gets_a_key_and_keeps_all_else(method: str) -> None:
    params = {"content": "whole 😀", "_meta": {"progressToken": 7}, "weight": 0.1}
    sent = json.loads(PendingRequests().add(line(id=1, method=method, params=params)))
    assert UUID(sent["params"]["_meta"].pop(REQUEST_KEY))
    assert sent["params"]["_meta"].pop(PROJECT) is None
    assert sent == {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def test_a_key_that_the_client_chose_is_left_as_it_is() -> None:
    sent = call(1, _meta={REQUEST_KEY: "its own"})
    assert json.loads(PendingRequests().add(sent))["params"]["_meta"] == {REQUEST_KEY: "its own", PROJECT: None}


@pytest.mark.parametrize("tools", ToolSet)
def test_a_list_of_tools_is_asked_for_with_the_tools_that_the_client_is_shown(tools: ToolSet) -> None:
    sent = json.loads(PendingRequests(tools).add(line(id=1, method="tools/list")))
    assert sent["params"] == {"_meta": {TOOL_SET: tools.value}}


@pytest.mark.parametrize("prefix", sorted(MCP_PREFIXES - {"tools"}))
def test_what_mcp_defines_goes_on_byte_by_byte(prefix: str) -> None:
    sent = line(id=1, method=f"{prefix}/something", params={})
    assert PendingRequests().add(sent) == sent


@given(
    st.binary(max_size=60) | st.sampled_from([b"{", b"[]", b'{"id": 1, "method": "x", "params": 5}', b'{"id": 1.5}'])
)
def test_what_cannot_be_read_goes_on_as_it_is(sent: bytes) -> None:
    assert PendingRequests().add(sent) == sent


def resent(sent: bytes) -> bytes:
    """Return a request as another hub receives it: marked, so that the hub searches its log for it first."""
    message = json.loads(sent)
    message["params"]["_meta"][RESENT] = True
    return json.dumps(message, separators=(",", ":")).encode()


def test_another_hub_is_told_the_handshake_and_what_is_unanswered_in_the_order_of_the_client() -> None:
    pending = PendingRequests()
    pending.add(HELLO)
    assert pending.settle(line(id=0, result={}))
    pending.add(SHAKEN)
    sent = [pending.add(call(number)) for number in (1, 2, 3)]
    assert pending.settle(line(id=2, result={}))
    hello, *rest = pending.resend()
    assert json.loads(hello)["params"] == json.loads(HELLO)["params"]
    assert rest == [SHAKEN, resent(sent[0]), resent(sent[2])]
    assert not pending.settle(line(id=json.loads(hello)["id"], result={})), "the client had its answer long ago"


def test_a_handshake_that_was_not_answered_is_sent_again_as_it_was() -> None:
    pending = PendingRequests()
    pending.add(HELLO)
    assert [*pending.resend()] == [HELLO]
    assert pending.settle(line(id=0, result={}))


def test_without_a_handshake_as_in_the_newer_era_none_is_made_up() -> None:
    pending = PendingRequests()
    sent = pending.add(call(1))
    assert [*pending.resend()] == [resent(sent)]


def test_a_cancelled_request_is_not_sent_again() -> None:
    pending = PendingRequests()
    pending.add(call(1))
    pending.add(line(method="notifications/cancelled", params={"requestId": 1}))
    assert [*pending.resend()] == []


def test_what_the_hub_says_besides_answers_is_passed_on_and_answers_nothing() -> None:
    pending = PendingRequests()
    pending.add(call(1))
    assert pending.settle(line(method="notifications/progress", params={}))
    assert pending.settle(line(id=1, method="roots/list"))
    assert pending.settle(line(id=None, error={"code": -32700, "message": "no"}))
    assert len(pending) == 1


def test_a_request_that_ends_every_hub_is_answered_with_an_error_in_the_end() -> None:
    pending = PendingRequests()
    pending.add(call(1))
    for _ in range(MAX_RETRIES):
        assert [*pending.fail_exhausted()] == []
        assert len([*pending.resend()]) == 1
    (answer,) = read(pending.fail_exhausted())
    assert (answer["id"], answer["error"]["code"]) == (1, -32004)
    assert len(pending) == 0


def test_when_there_is_no_hub_to_be_had_everything_is_answered_with_the_reason() -> None:
    pending = PendingRequests()
    pending.add(HELLO)
    pending.add(call(1))
    answers = read(pending.fail_all("because"))
    assert [(one["id"], one["error"]) for one in answers] == [
        (number, {"code": -32004, "message": "because"}) for number in (0, 1)
    ]
    assert len(pending) == 0


@given(st.lists(st.binary(max_size=20).filter(lambda one: b"\n" not in one)), st.lists(st.integers(0, 200)))
def test_lines_come_out_as_they_went_in_wherever_they_are_cut(wanted: list[bytes], cuts: list[int]) -> None:
    stream = b"".join(one + b"\n" for one in wanted) + b"rest"
    places = sorted({0, len(stream), *(cut for cut in cuts if cut < len(stream))})
    lines = LineReader(max_length=20)
    assert [out for start, end in pairwise(places) for out in lines.feed(stream[start:end])] == wanted
    assert lines.rest() == b"rest"


def test_a_line_that_is_too_long_is_found_out_before_it_ends() -> None:
    lines = LineReader(max_length=10)
    assert [*lines.feed(b"0123456789\n01234")] == [b"0123456789"]
    with pytest.raises(LineTooLongError):
        list(lines.feed(b"56789x"))
