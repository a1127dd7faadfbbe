"""Three memories that anybody can tell apart, and how tests of audits and of the past tell and ask."""

from typing import Any

import pytest

from actors.runtime.faults import Fault
from tests.actors.api.sleeper import settled
from tests.actors.api.stream import Mind

FOX, DOG, OWL = "A fox jumps over the fence.", "A dog sleeps by the fire.", "An owl hoots in the barn."


async def kept(mind: Mind, content: str, **more: Any) -> str:
    """Store a memory and return its id."""
    return (await mind("store_memory", content=content, **more))["fingerprintId"]


async def now(mind: Mind) -> int:
    """Return where the log ends once the workspace has written down all that it noticed."""
    await settled(mind)
    return mind.hub.log.head.seq


async def refused(mind: Mind, tool: str, /, **arguments: Any) -> Fault:
    """Call a tool that is to refuse, and return why it does."""
    with pytest.raises(Fault) as caught:
        await mind(tool, **arguments)
    return caught.value


def questions(fox: str, dog: str) -> dict[str, dict[str, Any]]:
    """Return valid arguments of each tool that only reads and needs some, by its name."""
    return {
        "search_graph": {"query": "fox"},
        "memory_retrieve": {"id": fox},
        "memory_search": {"query": "fox"},
        "memory_search_multi_perspective": {"query": "fox"},
        "memory_compare": {"memory_a": fox, "memory_b": dog},
        "memory_batch_compare": {"reference": fox, "targets": [dog]},
        "memory_similarity_matrix": {"memory_ids": [fox, dog]},
        "search_multi": {"query": "fox"},
        "search_single_space": {"space_index": 0, "query": "fox"},
        "search_by_purpose": {"memory_id": fox},
        "find_causal_path": {"start_concept": fox, "end_concept": dog},
        "get_neighborhood": {"id": fox},
        "audit_trail": {"memory_id": fox},
    }
