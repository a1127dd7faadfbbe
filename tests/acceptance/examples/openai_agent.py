"""An agent of the OpenAI Agents SDK with a memory: `python openai_agent.py URL KEY`.

Its model follows a script, without a network.
"""

import json
import sys
from collections.abc import AsyncIterator
from typing import Any

from agents import Agent, Model, ModelResponse, Runner, Usage, function_tool, set_tracing_disabled
from context_graph import Memory
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText


class ScriptedModel(Model):
    """Calls both tools, and then tells what the last one answered."""

    def __init__(self) -> None:
        self._script = iter(
            [
                ("remember", {"content": "The vet is Dr. Ahrens.", "reason": "asked for often"}),
                ("recall", {"question": "Who is the vet?", "limit": 1}),
            ]
        )

    async def get_response(self, *_: object, **given: Any) -> ModelResponse:
        """Return the next call of the script, or what the tools answered."""
        for name, arguments in self._script:
            call = ResponseFunctionToolCall(
                type="function_call", call_id=name, name=name, arguments=json.dumps(arguments)
            )
            return ModelResponse(output=[call], usage=Usage(), response_id=None)
        answers = [one["output"] for one in given["input"] if one.get("type") == "function_call_output"]
        text = ResponseOutputText(type="output_text", text="\n".join(map(str, answers)), annotations=[])
        said = ResponseOutputMessage(id="1", type="message", role="assistant", status="completed", content=[text])
        return ModelResponse(output=[said], usage=Usage(), response_id=None)

    def stream_response(self, *_: object, **__: object) -> AsyncIterator[Any]:
        """Refuse: the interface demands it, and `Runner.run_sync` doesn't call it."""
        raise NotImplementedError  # abstract in `Model`, and never called here


set_tracing_disabled(disabled=True)  # traces would leave this machine
with Memory(url=sys.argv[1], key=sys.argv[2]) as memory:
    agent = Agent(name="helper", model=ScriptedModel(), tools=[function_tool(one) for one in memory.tools()])
    print(Runner.run_sync(agent, "Who is the vet?").final_output)
