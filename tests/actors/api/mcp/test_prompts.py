"""Prompts: the four procedures that a person can start."""

import re

import mcp_types as types
import pytest
from mcp import MCPError

from actors.api.mcp.prompts import PROMPTS, TEXTS
from actors.api.tools.agent_tools import BY_NAME, TOOLS
from tests.actors.conftest import IN_EACH_ERA, Agent

PARAMETERS = {field for tool in TOOLS for field in tool.params.__struct_fields__}
PROFILES = {"causal_reasoning", "code_search", "temporal_navigation", "fact_checking"}

ANSWERED = {"may_supersede"}
"""Fields of answers that prompts name."""


@pytest.mark.parametrize("prompt", PROMPTS, ids=lambda prompt: prompt.name)
def test_a_prompt_names_only_tools_and_parameters_that_exist(prompt: types.Prompt) -> None:
    names = set(re.findall(r"\b[a-z]+(?:_[a-z]+)+\b", TEXTS[prompt.name]))
    assert names & set(BY_NAME), "it teaches no tool"
    assert names - set(BY_NAME) - PARAMETERS - PROFILES - ANSWERED == set()


@pytest.mark.anyio
@IN_EACH_ERA
async def test_the_four_skills_are_listed_with_descriptions(agent: Agent) -> None:
    prompts = (await agent.client.list_prompts()).prompts
    assert [prompt.name for prompt in prompts] == ["memory-inject", "semantic-search", "goal-discovery", "consolidate"]
    for prompt in prompts:
        assert prompt.title
        assert prompt.description
        assert all(argument.description for argument in prompt.arguments)


@pytest.mark.anyio
@IN_EACH_ERA
async def test_a_prompt_ends_with_its_arguments(agent: Agent) -> None:
    (given,) = (
        await agent.client.get_prompt("semantic-search", {"question": "Where is the {key}?", "namespace": "home"})
    ).messages
    (bare,) = (await agent.client.get_prompt("consolidate")).messages
    assert given.role == "user"
    assert given.content.text.endswith("Question: Where is the {key}?\nNamespace: home")
    assert bare.content.text == TEXTS["consolidate"]


@pytest.mark.anyio
@IN_EACH_ERA
@pytest.mark.parametrize(
    ("name", "arguments", "word"),
    [
        ("clairvoyance", {}, "clairvoyance"),
        ("semantic-search", {}, "question"),
        ("semantic-search", {"question": " "}, "question"),
        ("consolidate", {"colour": "red"}, "colour"),
    ],
)
async def test_invalid_prompt_arguments_are_refused_by_name(
    agent: Agent, name: str, arguments: dict[str, str], word: str
) -> None:
    with pytest.raises(MCPError, match=word) as caught:
        await agent.client.get_prompt(name, arguments)
    assert caught.value.error.code == -32602
