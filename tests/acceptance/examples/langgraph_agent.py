"""A LangGraph agent with a memory: `python langgraph_agent.py URL KEY`.

Its model follows a script, without a network.
"""

import sys

from context_graph import Memory
from langchain_core.messages import AIMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

SCRIPT = iter(
    [
        ("remember", {"content": "The vet is Dr. Ahrens.", "reason": "asked for often"}),
        ("recall", {"question": "Who is the vet?"}),
        None,
    ]
)


def scripted_model(_state: MessagesState) -> MessagesState:
    """Call the next tool of the script: here a real agent asks `model.bind_tools(memory.tools())`."""
    step = next(SCRIPT)
    calls = [] if step is None else [{"name": step[0], "args": step[1], "id": step[0], "type": "tool_call"}]
    return {"messages": [AIMessage("", tool_calls=calls)]}


with Memory(url=sys.argv[1], key=sys.argv[2]) as memory:
    graph = StateGraph(MessagesState)
    graph.add_node("model", scripted_model)
    graph.add_node("tools", ToolNode(memory.tools()))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    answer = graph.compile().invoke({"messages": [("user", "Who is the vet?")]})
    print(*(message.content for message in answer["messages"] if message.type == "tool"), sep="\n")
