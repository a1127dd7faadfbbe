"""Context Graph for Python programs: `Memory`, and `AsyncMemory` for event loops.

For example:

    from context_graph import Memory

    with Memory() as memory:  # the store of this user; its hub is started if necessary
        memory.store("Anna prefers tea.", tags=["anna"])
        for found in memory.search("What does Anna drink?"):
            print(found.content)

    Memory(url="https://memory.example.org", key="cg_…")  # a server of another machine
"""

from context_graph.memory import AsyncMemory, Found, Memory
from context_graph.transports import ContextGraphError

__all__ = ["AsyncMemory", "ContextGraphError", "Found", "Memory"]
