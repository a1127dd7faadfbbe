"""Resources: what a client can read without calling a tool."""

import json
from typing import Any
from uuid import uuid4

import pytest
from mcp import MCPError

from actors.api.context import Context
from actors.api.mcp.resources import MEMORY, PROFILES, STATUS
from tests.actors.conftest import IN_EACH_ERA, Agent, store

pytestmark = pytest.mark.anyio


async def read(agent: Agent, uri: str) -> Any:
    (content,) = (await agent.client.read_resource(uri)).contents
    assert (str(content.uri), content.mime_type) == (uri, "application/json")
    return json.loads(content.text)


@IN_EACH_ERA
async def test_status_and_profiles_are_listed_and_read_as_json(context: Context, agent: Agent) -> None:
    await store(context, "A fox jumps.")
    listed = (await agent.client.list_resources()).resources
    assert {str(resource.uri) for resource in listed} == {STATUS, PROFILES}
    assert all(resource.name and resource.description and resource.mime_type for resource in listed)
    assert (await read(agent, STATUS))["memories"]["live"] == 1
    profiles = await read(agent, PROFILES)
    tool = await agent.call("search_weight_profiles")
    assert profiles == {field: tool[field] for field in profiles}
    assert profiles["profiles"]


@IN_EACH_ERA
async def test_a_memory_is_read_by_its_id(context: Context, agent: Agent) -> None:
    memory = await store(context, "A fox jumps.")
    (template,) = (await agent.client.list_resource_templates()).resource_templates
    answer = await read(agent, template.uri_template.replace("{id}", memory))
    assert answer["id"] == memory
    assert answer["content"] == "A fox jumps."


@IN_EACH_ERA
async def test_an_unknown_resource_is_refused_with_its_error_code(agent: Agent) -> None:
    unknown = str(uuid4())
    for uri, code, words in (
        ("context-graph://attic", -32602, "Resource not found"),
        ("https://example.org/", -32602, "Resource not found"),
        (f"{MEMORY}../status", -32602, "'id'"),
        (f"{MEMORY}{unknown}", -32010, unknown),
    ):
        with pytest.raises(MCPError, match=words) as caught:
            await agent.client.read_resource(uri)
        assert caught.value.error.code == code
        if words == "Resource not found":
            assert caught.value.error.data == {"uri": uri}
    assert await read(agent, STATUS), "the session lives on"
