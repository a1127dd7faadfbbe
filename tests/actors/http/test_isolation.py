"""A key of one namespace learns nothing of another: not its texts, ids, names or counts, whatever it asks."""

import json
import random
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import pytest
from mcp import MCPError

from actors.api.caller import Scope
from actors.api.context import Context
from actors.api.tools.agent_tools import BY_METHOD, TOOLS
from actors.api.tools.dispatch import call
from tests.actors.conftest import Agent
from tests.actors.http.conftest import Served

pytestmark = pytest.mark.anyio

OURS = ["The harbour crane was repaired in May.", "The crane stood still because its gearbox broke."]
THEIRS = ["Zebulon moved the zirconium vault to Quixeter.", "The Quixeter vault was sealed because Zebulon left."]
MARKS = ("zebulon", "zirconium", "quixeter", "vexillum", "xylograph", "their-session")
"""Words that only the other namespace contains."""
NAMES = ("text", "metadata", "start_concept", "query", "content")


@dataclass
class Planted:
    """What both namespaces hold."""

    ours: list[str] = field(default_factory=list)
    theirs: list[str] = field(default_factory=list)
    runs: list[str] = field(default_factory=list)
    """Runs over all namespaces, and over the other one."""


async def plant(context: Context) -> Planted:
    """Store memories in both namespaces, and run over them what a person runs."""

    async def do(method: str, **arguments: Any) -> dict[str, Any]:
        return await call(context.for_request(context.progress), BY_METHOD[method], arguments)

    planted = Planted()
    for namespace, texts, ids in (("ours", OURS, planted.ours), ("theirs", THEIRS, planted.theirs)):
        for number, text in enumerate([*texts, *texts]):
            stored = await do(
                "memory/store",
                content=text,
                namespace=namespace,
                session=f"{'their' if ids is planted.theirs else 'our'}-session",
                tags=["vexillum"] if ids is planted.theirs else ["dock"],
                metadata={"speaker": "Xylograph"} if ids is planted.theirs else {},
                rationale="as said by Zebulon" if ids is planted.theirs else "as said",
                link_to=[*planted.theirs[:1], *planted.ours[:1]] if number else [],
            )
            ids.append(stored["fingerprintId"])
    await do("goal/discover", namespace="theirs", min_confidence=0.0)
    for namespace in ("theirs", None):
        named = {} if namespace is None else {"namespace": namespace}
        planted.runs.append((await do("memory/consolidate", mode="light", **named))["run_id"])
    await do("search/graph", query="vault and crane", namespace="*")
    await do("memory/delete", id=planted.theirs[-1], reason="Zebulon asked for it")
    await do("workspace/broadcast", id=planted.theirs[0], force=True)
    return planted


def arguments_of(rng: random.Random, kind: Any, planted: Planted) -> dict[str, Any]:
    """Return arguments that name what both namespaces hold."""
    ids = [*planted.ours, *planted.theirs, str(uuid4())]
    words = [*OURS, *THEIRS, "Zebulon", "vault", "crane", *ids[:5]]
    pool: dict[str, Any] = {
        "namespace": lambda: rng.choice(["theirs", "*", "ours", "default", "personal"]),
        "session": lambda: rng.choice(["their-session", "our-session"]),
        "query": lambda: rng.choice(words),
        "content": lambda: f"{rng.choice(OURS)} {rng.random()}",
        "rationale": lambda: "because",
        "start_concept": lambda: rng.choice([*ids, *words]),
        "end_concept": lambda: rng.choice([*ids, *words]),
        "run_id": lambda: rng.choice([*planted.runs, str(uuid4())]),
        "items": lambda: [
            {"content": f"{rng.random()}", "link_to": [rng.choice(ids)]},
            {"content": "x", "namespace": "theirs"},
        ],
        "targets": lambda: rng.sample(ids, 3),
        "memory_ids": lambda: rng.sample(ids, 3),
        "link_to": lambda: [rng.choice(ids)],
        "tags": lambda: ["vexillum"],
        "speaker": lambda: "Xylograph",
        "as_of": lambda: rng.randint(1, 12),
        "a": lambda: 1,
        "explain": lambda: True,
        "space_index": lambda: rng.randint(0, 12),
        "min_similarity": lambda: 0.0,
        "purpose_vector": lambda: None,
        "include_embeddings": lambda: False,
        "soft": lambda: True,
    }
    required = {"query", "content", "rationale", "start_concept", "end_concept", "items", "targets", "memory_ids"}
    fields = kind.__struct_fields__
    chosen = {name: pool[name]() for name in fields if name in pool and (name in required or rng.random() < 0.5)}
    if "tags" in fields and "query" not in fields:  # what is stored would be found again
        chosen["tags"] = ["dock"]
    if "content" in fields:
        chosen.pop("session", None)
    for name in ("id", "memory_id", "memory_a", "memory_b", "reference", "after"):
        if name in fields:
            chosen[name] = rng.choice(ids)
    return {name: value for name, value in chosen.items() if value is not None}


async def ask(agent: Agent, method: str, arguments: dict[str, Any]) -> Any:
    try:
        return await agent.request(method, **arguments)
    except MCPError as error:
        return error.error.model_dump()


def leaks(planted: Planted, asked: dict[str, Any], answer: Any) -> list[str]:
    """Return what an answer says of the other namespace, and the question didn't."""
    said, known = json.dumps(answer).lower(), json.dumps(asked).lower()
    secrets = [*MARKS, *planted.theirs, planted.runs[0], '"theirs"', "'theirs'"]
    return [secret for secret in secrets if secret in said and secret.strip("'\"") not in known]


@pytest.mark.parametrize("count", [200, pytest.param(2_000, marks=pytest.mark.slow)])
async def test_random_requests_by_one_key_contain_nothing_of_another_namespace(
    context: Context, served: Served, count: int
) -> None:
    planted = await plant(context)
    rng = random.Random(27)
    # A dream of a minute, and a long wait for one, would say nothing about isolation.
    tools = [tool for tool in TOOLS if tool.name != "trigger_dream"]
    async with served.agent(served.key("ours", Scope.ADMIN, ("ours",))) as agent:
        answered = 0
        for _ in range(count):
            tool = rng.choice(tools)
            asked = arguments_of(rng, tool.params, planted)
            answer = await ask(agent, tool.method, asked)
            answered += "code" not in answer
            assert leaks(planted, asked, answer) == [], (tool.method, asked, answer)
        assert answered > count / 10
        resource = await agent.client.read_resource("context-graph://status")
        assert leaks(planted, {}, resource.model_dump(mode="json")) == []


async def test_a_memory_of_another_namespace_is_answered_as_one_that_does_not_exist(
    context: Context, served: Served
) -> None:
    planted = await plant(context)
    absent = str(uuid4())
    async with served.agent(served.key("ours", Scope.ADMIN, ("ours",))) as agent:
        for tool in TOOLS:
            for name in {"id", "memory_id", "memory_a", "reference", "start_concept", "run_id"} & {
                *tool.params.__struct_fields__
            }:
                other = planted.runs[0] if name == "run_id" else planted.theirs[0]
                needed = {
                    "memory_b": planted.ours[0],
                    "targets": planted.ours[:1],
                    "end_concept": planted.ours[0],
                    "rationale": "why",
                    "content": "text",
                }
                rest = {one: value for one, value in needed.items() if one in tool.params.__struct_fields__}
                answers = [await ask(agent, tool.method, rest | {name: one}) for one in (other, absent)]
                assert json.dumps(answers[0]).replace(other, absent) == json.dumps(answers[1]), tool.method


async def test_a_key_of_one_namespace_counts_and_lists_its_own_memories_only(context: Context, served: Served) -> None:
    await plant(context)
    async with served.agent(served.key("ours", Scope.READ, ("ours",))) as agent:
        status = await agent.request("store/status")
        assert status["namespaces"].keys() == {"ours"}
        assert status["memories"] == {"live": status["namespaces"]["ours"]}
        trail = await agent.call("audit_trail", limit=500)
        assert {event["kind"] for event in trail["events"]} >= {"memory_stored"}
        found = await agent.call("search_graph", query="vault", top_k=50)
        assert len(found["results"]) == status["namespaces"]["ours"]


async def test_a_key_of_several_namespaces_searches_them_together(context: Context, served: Served) -> None:
    await plant(context)
    both = served.key("both", Scope.WRITE, ("ours", "theirs"))
    async with served.agent(both) as agent:
        found = await agent.call("search_graph", query="Why did it stop?", top_k=50)
        texts = {one["content"] for one in found["results"]}
        assert texts == {*OURS, THEIRS[0]}  # the other one was forgotten
        assert (await agent.refused("store_memory", content="Where does this belong?"))["code"] == -32003
        assert (await agent.call("store_memory", content="Here.", namespace="ours"))["fingerprintId"]
