"""A hub that serves chosen namespaces answers for these alone, and names them where it refuses."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from actors.api.caller import Caller, Scope
from actors.api.context import Context
from actors.api.tools.agent_tools import BY_METHOD, BY_NAME
from actors.api.tools.dispatch import call
from actors.hub.composition import open_hub
from actors.runtime.faults import ForbiddenFault, InvalidParamsFault, NotFoundFault
from tests.actors.conftest import loaded

pytestmark = pytest.mark.anyio

SERVED = frozenset({"harbour", "town"})
REFUSED = r"Invalid '\w+': this hub serves harbour, town, not 'island'"


@pytest.fixture
def everything(tmp_path: Path, profile: Any) -> Iterator[Context]:
    with open_hub(tmp_path / "store", load=loaded(profile)) as hub:
        yield Context(hub)


@pytest.fixture
def some(everything: Context) -> Context:
    """The same store through a hub that serves two of its namespaces."""
    return Context(msgspec.structs.replace(everything.hub, namespaces=SERVED))


async def put(context: Context, content: str, namespace: str) -> str:
    stored = await call(context, BY_NAME["store_memory"], {"content": content, "namespace": namespace})
    return stored["fingerprintId"]


async def test_searches_look_in_the_served_namespaces_alone(everything: Context, some: Context) -> None:
    ferry = await put(some, "the ferry leaves the harbour at nine", "harbour")
    bakery = await put(some, "the bakery beside the ferry opens at six", "town")
    other = await put(everything, "the ferry to the island leaves at ten", "island")
    for where in ({}, {"namespace": "*"}):
        found = await call(some, BY_NAME["search_graph"], {"query": "when does the ferry leave", **where})
        assert {one["fingerprintId"] for one in found["results"]} == {ferry, bakery}
    with pytest.raises(NotFoundFault):
        await call(some, BY_NAME["memory_retrieve"], {"id": other})
    found = await call(everything, BY_NAME["search_graph"], {"query": "when does the ferry leave", "namespace": "*"})
    assert other in {one["fingerprintId"] for one in found["results"]}


async def test_what_names_another_namespace_is_refused_with_the_names_of_those_served(some: Context) -> None:
    memory = await put(some, "the ferry leaves the harbour at nine", "harbour")
    for method, arguments in (
        ("memory/store", {"content": "a lighthouse", "namespace": "island"}),
        ("search/graph", {"query": "a lighthouse", "namespace": "island"}),
        ("goal/discover", {"namespace": "island"}),
        ("namespace/move", {"kind": "move", "target": "island", "ids": [memory]}),
    ):
        with pytest.raises(InvalidParamsFault, match=REFUSED):
            await call(some, BY_METHOD[method], arguments)
    answer = await call(some, BY_METHOD["memory/import"], {"items": [{"content": "a reef", "namespace": "island"}]})
    assert "this hub serves harbour, town" in answer["results"][0]["error"]["message"]
    answer = await call(some, BY_NAME["memory_inject_batch"], {"items": [{"content": "a reef", "namespace": "island"}]})
    assert "this hub serves harbour, town" in answer["results"][0]["error"]["message"]
    with pytest.raises(InvalidParamsFault, match="this hub serves harbour, town, not 'default'"):
        await call(some, BY_NAME["store_memory"], {"content": "a lighthouse"})
    assert (await call(some, BY_METHOD["store/status"], {}))["serves"] == ["harbour", "town"]


async def test_changes_between_two_moments_are_those_of_the_served_namespaces(
    everything: Context, some: Context
) -> None:
    ferry = await put(some, "the ferry leaves the harbour at nine", "harbour")
    other = await put(everything, "the ferry to the island leaves at ten", "island")
    later = {"content": "the island's ferry is late", "namespace": "island", "link_to": [other]}
    await call(everything, BY_NAME["store_memory"], later)
    changed = await call(some, BY_METHOD["store/diff"], {"a": 0})
    assert [one["id"] for one in changed["memories"]["stored"]["shown"]] == [ferry]
    assert (changed["memories"]["stored"]["total"], changed["links"]["total"]) == (1, 0)
    changed = await call(everything, BY_METHOD["store/diff"], {"a": 0})
    assert (changed["memories"]["stored"]["total"], changed["links"]["total"]) == (3, 1)


async def test_a_scan_redacts_no_memory_of_another_namespace(everything: Context, some: Context) -> None:
    for context, namespace in ((some, "harbour"), (everything, "island")):
        card = f"the card of the {namespace} is 4111 1111 1111 1111"
        told = {"content": card, "namespace": namespace, "redact": False}
        await call(context, BY_NAME["store_memory"], told)
    scanned = await call(some, BY_METHOD["store/scan"], {"redact": True})
    assert [one["namespace"] for one in scanned["found"]] == ["harbour"]
    scanned = await call(everything, BY_METHOD["store/scan"], {})
    assert [one["namespace"] for one in scanned["found"]] == ["island"]


async def test_what_a_file_held_in_another_namespace_is_told_to_nobody(everything: Context, some: Context) -> None:
    for context, namespace in ((some, "harbour"), (everything, "island")):
        told = {"content": "a note", "namespace": namespace, "metadata": {"imported_from": "f00d"}}
        await call(context, BY_NAME["store_memory"], told)
    for context, seen in ((some, {"harbour"}), (everything, {"harbour", "island"})):
        former = await call(context, BY_METHOD["memory/former"], {"files": {"f00d": []}})
        assert {one["namespace"] for one in former["former"]} == seen


async def test_a_key_sees_what_it_permits_and_the_hub_serves(some: Context) -> None:
    ferry = await put(some, "the ferry leaves the harbour at nine", "harbour")
    await put(some, "the bakery beside the ferry opens at six", "town")
    one = some.for_caller(Caller(name="one", scope=Scope.WRITE, namespaces=frozenset({"harbour", "island"})))
    found = await call(one, BY_NAME["search_graph"], {"query": "when does the ferry leave"})
    assert [each["fingerprintId"] for each in found["results"]] == [ferry]
    none = some.for_caller(Caller(name="none", scope=Scope.WRITE, namespaces=frozenset({"island"})))
    with pytest.raises(ForbiddenFault, match="This hub serves harbour, town, and the key permits none of them"):
        await call(none, BY_NAME["search_graph"], {"query": "when does the ferry leave"})


async def test_the_start_of_an_id_names_memories_of_the_served_namespaces_alone(
    everything: Context, some: Context
) -> None:
    ferry = await put(some, "the ferry leaves the harbour at nine", "harbour")
    other = await put(everything, "the ferry to the island leaves at ten", "island")
    assert await call(some, BY_METHOD["memory/resolve"], {"prefix": ferry[:9]}) == {"id": ferry}
    assert await call(everything, BY_METHOD["memory/resolve"], {"prefix": other[:9]}) == {"id": other}
    with pytest.raises(NotFoundFault, match=f"no id begins with '{other[:9]}'"):
        await call(some, BY_METHOD["memory/resolve"], {"prefix": other[:9]})
