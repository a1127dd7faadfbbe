"""What the workspace adds to storing and searching: the same work with it and with a stub, alternating in one run."""

from collections.abc import Sequence
from statistics import median
from typing import Any, cast

import msgspec

from actors.runtime.actor import Actor, ActorRef
from actors.runtime.faults import Fault
from actors.runtime.reply import Reply, gather
from actors.store.messages import AppendMemories, RequestResult
from actors.workspace.messages import IngestResult, JudgeAndAppend, Judgement
from benchmarks.latency.ratios import QUERY_WORDS
from benchmarks.report import Times
from benchmarks.store import Store
from benchmarks.synthetic import first_words
from events.vocabulary.values import WIDTH, Learning
from projections.mind.johari import rows

BUDGETS = {"inject alone": 5.0, "inject in a row": 5.0, "search alone": 0.0, "search in a row": 0.0}
"""Milliseconds that the workspace may add to the median."""
ROW = 5
"""Repetitions in a row: the workspace processes one while the next is under way."""

ZEROS = (0.0,) * WIDTH
NEUTRAL = Judgement(
    purpose=ZEROS,
    north_star=None,
    johari=rows(ZEROS, ZEROS),
    learning=Learning(0.0, 0.0, 0.0, 1.0, 0.0, 0.5, delta_s=ZEROS, delta_c=ZEROS),
)


class WorkspaceStub(Actor):
    """Gives every memory the same neutral judgement, hands it to the store, and ignores all other messages."""

    def __init__(self, store: ActorRef) -> None:
        super().__init__()
        self._store = store

    def on_receive(self, message: object) -> Reply[list[IngestResult | Fault]] | None:
        """Answer `JudgeAndAppend`."""
        if not isinstance(message, JudgeAndAppend):
            return None
        appends = tuple(memory.build_append(NEUTRAL) for memory in message.memories)
        appending = self._store.ask(AppendMemories(appends=appends), block=False)
        appended = cast("Reply[list[RequestResult | Fault]]", appending)
        return gather(
            [appended],
            lambda answers: [
                answer if isinstance(answer, Fault) else IngestResult(result=answer, pulse=None)
                for answer in answers[0]
            ],
        )


def texts_needed(samples: int) -> int:
    """Return how many texts it takes to time each kind of work so often."""
    return 4 * ROW * -(-samples // ROW)


async def compare_with_stub(store: Store, texts: Sequence[str]) -> Times:
    """Store each text once and search for it, with the workspace and with the stub.

    Alone, the next request starts when the workspace has finished; in a row it starts at once.
    """
    times = Times()
    stub = WorkspaceStub.start(store.hub.store)
    try:
        stores = {"with": store, "without": Store(msgspec.structs.replace(store.hub, workspace=stub))}
        await stores["without"].ready()
        for number, start in enumerate(range(0, len(texts) - 2 * ROW + 1, 2 * ROW)):
            # The order alternates, because the store grows and the machine warms up.
            order = list(stores) if number // 2 % 2 else list(reversed(stores))
            how, pause = (("alone", 1), ("in a row", ROW))[number % 2]
            for place, name in enumerate(order):
                for count, text in enumerate(texts[start + place * ROW : start + (place + 1) * ROW], start=1):
                    inject = stores[name].prepare("inject_context", content=text, rationale="latency")
                    await times.measure(f"inject {how}, {name}", inject)
                    if count % pause == 0:
                        await store.settle()
            for name in order:
                for count, text in enumerate(texts[start : start + 2 * ROW], start=1):
                    search = stores[name].prepare("search_graph", query=first_words(text, QUERY_WORDS))
                    await times.measure(f"search {how}, {name}", search)
                    if count % pause == 0:
                        await store.settle()
    finally:
        stub.stop()
    return times


def costs(times: Times) -> dict[str, dict[str, Any]]:
    """Return the medians with the workspace and without, the difference, and its budget."""
    medians = {name: median(values) for name, values in times.items()}
    return {
        work: {
            "with": medians[f"{work}, with"],
            "without": medians[f"{work}, without"],
            "adds": medians[f"{work}, with"] - medians[f"{work}, without"],
            "budget": budget,
            "samples": len(times[f"{work}, with"]),
        }
        for work, budget in BUDGETS.items()
    }
