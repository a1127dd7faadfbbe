"""Cursors that only their own search takes back, and answers that stay within a budget."""

import base64
import json
from typing import Any
from uuid import uuid4

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.api.operations.retrieval.pagination import (
    BYTES_PER_TOKEN,
    Page,
    decode_cursor,
    encode_cursor,
    fit,
    search_digest,
    tokens,
)
from actors.api.operations.retrieval.restated import COMPARED
from actors.api.params.parsing import parse
from actors.api.params.search import MAX_CURSOR, SearchGraph
from actors.runtime.faults import InvalidParamsFault
from projections.mind.workspace import CAPACITY

SEARCH = SearchGraph(query="the tide")
FIRST = Page(offset=10, pool=128, stored=1_000, asked_at="2026-01-01T12:00:00+00:00", search=search_digest(SEARCH))


def refused(cursor: str, params: SearchGraph = SEARCH) -> str:
    with pytest.raises(InvalidParamsFault) as raised:
        decode_cursor(cursor, params)
    assert raised.value.data["parameter"] == "cursor"
    return raised.value.message


# ── cursors ─────────────────────────────────────────────────────────────────────────────────────────


@given(offset=st.integers(0, 10**6), pool=st.integers(1, 10**6), stored=st.integers(0, 10**9))
def test_a_cursor_gives_back_the_page_that_it_was_written_for(offset: int, pool: int, stored: int):
    primed = {uuid4(): 0.123456789 for _ in range(CAPACITY)}
    restated = {uuid4(): uuid4() for _ in range(COMPARED)}
    page = msgspec.structs.replace(FIRST, offset=offset, pool=pool, stored=stored, primed=primed, restated=restated)
    cursor = encode_cursor(page)
    assert decode_cursor(cursor, SEARCH) == page
    assert parse({"query": "the tide", "cursor": cursor}, SearchGraph).cursor == cursor
    assert cursor.isascii()
    assert len(cursor) <= MAX_CURSOR


@pytest.mark.parametrize(
    "other",
    [
        {"query": "the tides"},
        {"namespace": "mine"},
        {"tags": ("a",)},
        {"min_similarity": 0.1},
        {"since": "2026-01-01"},
        {"asked_at": "2026-01-01"},
        {"min_alignment": 0.5},
    ],
)
def test_a_cursor_of_another_search_is_refused(other: dict[str, Any]):
    assert "other parameters" in refused(encode_cursor(FIRST), SearchGraph(**{"query": "the tide", **other}))


def test_display_parameters_may_change_between_pages():
    params = SearchGraph(query="the tide", cursor=encode_cursor(FIRST), top_k=3, max_tokens=900, explain=True)
    assert decode_cursor(encode_cursor(FIRST), params) == FIRST


@pytest.mark.parametrize(
    "cursor",
    [
        "",
        "not a cursor",
        "🦊",
        "\ud800",
        "AAAA",
        "A" * 1_000_000,
        base64.urlsafe_b64encode(msgspec.msgpack.encode([])).decode(),
        base64.urlsafe_b64encode(msgspec.msgpack.encode({"offset": 3})).decode(),
        base64.urlsafe_b64encode(msgspec.msgpack.encode(["10", 128, 1_000, "", b""])).decode(),
        base64.urlsafe_b64encode(b"\x91" * 5_000).decode(),
        base64.urlsafe_b64encode(json.dumps([10, 128]).encode()).decode(),
    ],
)
def test_a_cursor_that_no_search_returned_is_refused(cursor: str):
    assert "not one that a search gave" in refused(cursor)


def test_a_cursor_that_was_cut_is_refused():
    cursor = encode_cursor(FIRST)
    for length in range(len(cursor)):
        refused(cursor[:length])


@settings(max_examples=300)
@given(st.one_of(st.text(), st.binary().map(lambda data: base64.urlsafe_b64encode(data).decode())))
def test_garbage_as_a_cursor_is_refused_with_a_fault(cursor: str):
    refused(cursor)


def test_a_cursor_with_foreign_letters_in_it_is_refused():
    refused("!" + encode_cursor(FIRST))


@pytest.mark.parametrize("forged", [{"offset": -3}, {"offset": 2**64 - 1}, {"pool": -5}, {"pool": 0}, {"stored": -1}])
def test_a_forged_cursor_is_refused_by_its_own_name(forged: dict[str, Any]):
    refused(encode_cursor(msgspec.structs.replace(FIRST, **forged)))


# ── budgets ─────────────────────────────────────────────────────────────────────────────────────────

LETTERS = 'a \n"\\é潮🦊👩‍🚀'
TEXT = st.text(st.sampled_from(LETTERS), min_size=1, max_size=400)


def result(content: str, **more: Any) -> dict[str, Any]:
    return {"fingerprintId": "0" * 36, "content": content, "similarity": 0.5, **more}


EMPTY = tokens(result(""))
"""What a result takes besides its text."""


@settings(max_examples=150)
@given(contents=st.lists(TEXT, max_size=12), budget=st.integers(EMPTY + 30, 1_500))
def test_the_first_results_that_fit_are_shown_and_none_that_does_not(contents: list[str], budget: int):
    results = [result(content) for content in contents]
    kept = fit(results, budget)
    assert sum(map(tokens, kept)) <= budget
    if kept and "excerpt" in kept[0]:
        assert len(kept) == 1
        assert tokens(results[0]) >= budget
    else:
        assert kept == results[: len(kept)]
        following = results[: len(kept) + 1]
        assert following == kept or sum(map(tokens, following)) + len(following) > budget


def test_results_fit_together_with_what_stands_between_them():
    results = [result("tide" * length) for length in range(100)]
    for budget in range(2_000, 2_100):
        assert tokens(fit(results, budget)) <= budget


@settings(max_examples=150)
@given(content=st.lists(st.sampled_from(LETTERS), min_size=200, max_size=400).map("".join), room=st.integers(25, 60))
def test_a_result_too_large_alone_is_cut_and_says_so(content: str, room: int):
    budget = EMPTY + room
    (cut,) = fit([result(content), result("next")], budget)
    shown = len(cut["content"])
    assert cut["content"] == content[:shown]
    assert cut["excerpt"] == {"start": 0, "of": len(content), "end": shown}
    assert 1 <= shown < len(content)
    assert tokens(cut) <= budget
    longer = cut | {"content": content[: shown + 1], "excerpt": cut["excerpt"] | {"end": shown + 1}}
    assert tokens(longer) > budget, "another letter would have fitted"
    assert json.loads(json.dumps(cut, ensure_ascii=False).encode()) == cut


def test_a_part_of_a_memory_is_cut_from_its_own_start():
    part = result("潮" * 500, excerpt={"start": 700, "end": 1_200, "of": 5_000})
    (cut,) = fit([part], 200)
    assert cut["excerpt"] == {"start": 700, "end": 700 + len(cut["content"]), "of": 5_000}
    assert cut["content"] == "潮" * len(cut["content"])
    assert len(cut["content"]) > 100


@pytest.mark.parametrize("budget", [-1_000, 0, 1])
def test_a_budget_for_nothing_says_what_the_first_result_needs(budget: int):
    results = [result("潮水很高" * 50), result("next")]
    with pytest.raises(InvalidParamsFault, match="max_tokens") as raised:
        fit(results, budget)
    (cut,) = fit(results, budget + raised.value.data["missing"])
    assert 1 <= len(cut["content"]) == cut["excerpt"]["end"] <= 2


def test_no_results_fit_into_any_budget():
    assert fit([], 1_000) == fit([], 0) == []


@given(TEXT, TEXT)
def test_a_longer_text_never_takes_fewer_tokens(text: str, more: str):
    assert 0 < tokens(text) <= tokens(text + more)
    assert tokens(text) * BYTES_PER_TOKEN >= len(text.encode())


@pytest.mark.parametrize(("text", "least"), [("潮水在中午很高", 7), ("🦊🦊🦊", 3), ("the tide is high", 4)])
def test_tokens_are_estimated_rather_too_high_than_too_low(text: str, least: int):
    assert least <= tokens(text) <= 3 * least
