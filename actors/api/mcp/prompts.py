"""MCP prompts: four procedures that a user starts by name, each written for the tools of this server."""

from collections.abc import Mapping

import mcp_types as types

from actors.api.mcp import texts
from actors.runtime.faults import InvalidParamsFault

_NAMESPACE = types.PromptArgument(
    name="namespace", description="The project or person whose memories are meant; the session's project when left out"
)


def _prompt(
    name: str, title: str, description: str, argument: str, asks: str, *, required: bool = False
) -> types.Prompt:
    """Return a prompt with one argument of its own, and what that asks for."""
    own = types.PromptArgument(name=argument, description=asks, required=required or None)
    return types.Prompt(name=name, title=title, description=description, arguments=[own, _NAMESPACE])


PROMPTS = [
    _prompt(
        "memory-inject",
        "Remember this",
        "Store what is worth recalling later, and say whether it was new.",
        "topic",
        "What to remember; the conversation so far when left out",
    ),
    _prompt(
        "semantic-search",
        "Ask the memory",
        "Answer a question from memory, with the memories that support the answer.",
        "question",
        "What you want to know",
        required=True,
    ),
    _prompt(
        "goal-discovery",
        "Find what this is about",
        "Find the goals that stored memories serve, each with the memories that show it.",
        "topic",
        "Where to look; everything when left out",
    ),
    _prompt(
        "consolidate",
        "Clean up the memory",
        "Preview what sleep would merge and prune, agree on it, and run it; it can be undone.",
        "mode",
        "light, deep or rem; light when left out",
    ),
]

TEXTS = {prompt.name: texts.read(prompt.name) for prompt in PROMPTS}


def get(name: str, given: Mapping[str, str]) -> types.GetPromptResult:
    """Return a prompt as a message of the user, followed by the given arguments (`InvalidParamsFault`)."""
    prompt = next((prompt for prompt in PROMPTS if prompt.name == name), None)
    if prompt is None:
        raise InvalidParamsFault(f"Unknown prompt: {name}", name=name)
    required = {argument.name: argument.required for argument in prompt.arguments or ()}
    values = {argument: given[argument] for argument in required if given.get(argument, "").strip()}
    if unknown := next(iter(given.keys() - required.keys()), None):
        raise InvalidParamsFault(f"Unknown argument '{unknown}' of prompt {name}", parameter=unknown)
    if missing := next((argument for argument in required if required[argument] and argument not in values), None):
        raise InvalidParamsFault(f"Missing '{missing}' argument of prompt {name}", parameter=missing)
    details = "\n".join(f"{argument.capitalize()}: {value}" for argument, value in values.items())
    text = f"{TEXTS[name]}\n\n{details}" if details else TEXTS[name]
    message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))
    return types.GetPromptResult(description=prompt.description, messages=[message])
