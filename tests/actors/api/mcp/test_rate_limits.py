"""Rate limits: off until somebody sets one, and then kept to for each session and tool."""

import pytest

from actors.api.context import Context
from actors.api.operations.administration.maintenance import store_status
from actors.api.tools.rate_limits import DEFAULT, Limits, limits_of
from actors.runtime.faults import InvalidParamsFault, RateLimitFault
from tests.actors.conftest import IN_EACH_ERA, Connect

FOX = "The quick brown fox jumps over the lazy dog"


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def test_the_window_slides_call_by_call() -> None:
    clock = Clock()
    limits = Limits({"store_memory": 2}, clock)
    limits.take("store_memory")
    clock.now += 40
    limits.take("store_memory")
    with pytest.raises(RateLimitFault, match="'store_memory': 2 a minute") as caught:
        limits.take("store_memory")
    assert caught.value.data == {"retry_after_ms": 20_000, "limit": 2}
    clock.now += 20
    limits.take("store_memory")  # the first call is a minute old, and the refused one never counted
    with pytest.raises(RateLimitFault) as caught:
        limits.take("store_memory")
    assert caught.value.data["retry_after_ms"] == 40_000


def test_a_tool_without_a_limit_is_never_refused() -> None:
    limits = Limits({"store_memory": 1}, Clock())
    for _ in range(1_000):
        limits.take("search_graph")


def test_only_consolidation_is_limited_by_default() -> None:
    assert DEFAULT == {"consolidate_memories": 1}
    limits = Limits(clock=Clock())
    limits.take("consolidate_memories")
    with pytest.raises(RateLimitFault):
        limits.take("consolidate_memories")


def test_settings_are_read_from_one_line_or_several() -> None:
    expected = {"consolidate_memories": 1, "store_memory": 50, "search_graph": 200}
    assert limits_of(["store_memory=50,search_graph=200"]) == expected
    assert limits_of(["store_memory=50,", " search_graph = 200"]) == expected
    assert limits_of(["memory_store=50", "search_graph=200"]) == expected, "by its other name it is the same tool"
    assert limits_of([]) == DEFAULT


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("stoer_memory=5", "no tool is named 'stoer_memory'"),
        ("store_memory", "whole number"),
        ("store_memory=", "whole number"),
        ("store_memory=0", "whole number"),
        ("store_memory=-1", "whole number"),
        ("store_memory=1.5", "whole number"),
        ("store_memory=²", "whole number"),
    ],
)
def test_an_invalid_setting_is_refused_by_name(setting: str, words: str) -> None:
    with pytest.raises(InvalidParamsFault, match=words) as caught:
        limits_of(["search_graph=1", setting])
    assert setting in caught.value.message


@pytest.mark.anyio
@IN_EACH_ERA
async def test_a_call_over_the_limit_is_refused_and_changes_nothing(
    context: Context, connect: Connect, era: str
) -> None:
    clock = Clock()
    async with connect(context, Limits({"store_memory": 2}, clock), era) as agent:
        await agent.refused("store_memory", content="")
        await agent.call("store_memory", content=FOX)
        await agent.request("memory/store", content=FOX)
        for error in (
            await agent.refused("store_memory", content=FOX),
            await agent.refused("memory_store", content=FOX),
            await agent.request_refused("memory/store", content=FOX),
        ):
            assert error["code"] == -32001
            assert "'store_memory': 2 a minute" in error["message"]
            assert error["data"] == {"retry_after_ms": 60_000, "limit": 2}
        assert (await store_status(context))["memories"]["live"] == 2
        assert (await agent.call("search_graph", query="fox"))["results"], "other tools go on"
        clock.now += 60
        assert await agent.call("store_memory", content=FOX)


@pytest.mark.anyio
async def test_sessions_have_separate_limits(context: Context, connect: Connect) -> None:
    clock = Clock()
    async with (
        connect(context, Limits({"search_graph": 1}, clock)) as one,
        connect(context, Limits({"search_graph": 1}, clock)) as other,
    ):
        await one.call("search_graph", query="fox")
        await one.refused("search_graph", query="fox")
        await other.call("search_graph", query="fox")
