"""`scripts/bench cluster`: hubs that share a log, killed and cut off; the cost of sharing beside one folder."""

import os
from collections.abc import Callable
from typing import Annotated

import anyio
from typer import BadParameter, Option

from benchmarks import SEED
from benchmarks.cluster.campaign import campaign, stop_and_overtake
from benchmarks.cluster.costs import measure_costs, measure_routing
from benchmarks.cluster.reembedding import measure_reembedding
from benchmarks.cluster.server import Server
from benchmarks.report import JsonOption, Verdict, counter, publish, workplace

PARTS = ("kills and restarts", "cost", "sleep", "router", "reembedding")


def cluster(
    hubs: Annotated[int, Option(min=2)] = 3,
    clients: Annotated[int, Option(min=1, help="Spread over the hubs.")] = 8,
    stores: Annotated[int, Option(min=1, help="Memories of each client.")] = 300,
    kills: Annotated[int, Option(min=0)] = 20,
    restarts: Annotated[int, Option(min=0, help="Of PostgreSQL, in immediate mode.")] = 5,
    *,
    samples: Annotated[int, Option(min=1, help="Stores that are timed on each log.")] = 200,
    reembedded: Annotated[int, Option(min=1, help="Memories of the store that is embedded anew.")] = 20_000,
    part: Annotated[list[str] | None, Option(help=f"Only this part: {', '.join(PARTS)}.")] = None,
    seed: int = SEED,
    as_json: JsonOption = False,
) -> None:
    """Kill hubs and the server under load, stop a hub in its sleep; time stores and followers."""
    if unknown := set(part or ()) - set(PARTS):
        raise BadParameter(f"no part is called {', '.join(sorted(unknown))}")
    with Server.running() as server, workplace() as (folder, bar):
        version = server.version

        def survive() -> list[Verdict]:
            advance = counter(bar, "kills and restarts", kills + restarts)
            blows = {"kill": kills, "restart": restarts}
            return campaign(server, folder / "campaign", hubs, clients, stores, blows, seed, advance)

        runs: dict[str, Callable[[], list[Verdict]]] = {
            "kills and restarts": survive,
            "cost": lambda: anyio.run(measure_costs, server, folder / "costs", hubs, samples),
            "sleep": lambda: stop_and_overtake(server, folder / "fencing"),
            "router": lambda: measure_routing(folder / "routing", samples),
            "reembedding": lambda: measure_reembedding(folder / "reembedding", reembedded),
        }
        sections: dict[str, list[Verdict]] = {}
        for name in part or PARTS:
            task = bar.add_task(name, total=None)
            sections[name] = runs[name]()
            bar.remove_task(task)
    publish(sections, as_json=as_json, cores=os.cpu_count(), server=version)
