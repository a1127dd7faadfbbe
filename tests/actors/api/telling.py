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
