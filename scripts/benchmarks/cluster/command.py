"""`scripts/bench cluster`: hubs that share a log, killed and cut off; the cost of sharing beside one folder."""

import os
import tempfile
from pathlib import Path
from typing import Annotated

import anyio
from typer import Option

from benchmarks import SEED
from benchmarks.cluster.campaign import campaign
from benchmarks.cluster.costs import measure_costs
from benchmarks.cluster.fencing import stop_and_overtake
from benchmarks.cluster.moving import move_there_and_back
from benchmarks.cluster.routing import measure_routing
from benchmarks.cluster.server import running_server
from benchmarks.report import JsonOption, progress_bar, publish


def cluster(
    hubs: Annotated[int, Option(min=2)] = 3,
    clients: Annotated[int, Option(min=1, help="Spread over the hubs.")] = 8,
    stores: Annotated[int, Option(min=1, help="Memories of each client.")] = 300,
    kills: Annotated[int, Option(min=0)] = 20,
    restarts: Annotated[int, Option(min=0, help="Of PostgreSQL, in immediate mode.")] = 5,
    samples: Annotated[int, Option(min=1, help="Stores that are timed on each log.")] = 200,
    memories: Annotated[int, Option(min=1, help="Of the store that is moved to the server and back.")] = 10_000,
    seed: int = SEED,
    *,
    as_json: JsonOption = False,
) -> None:
    """Kill hubs and the server under load, stop a hub in its sleep, move a store; time stores and followers."""
    with running_server() as server, tempfile.TemporaryDirectory() as scratch, progress_bar() as bar:
        folder, version = Path(scratch), server.version
        task = bar.add_task("kills and restarts", total=kills + restarts)
        survived = campaign(
            server, folder / "campaign", hubs, clients, stores, kills, restarts, seed, lambda: bar.advance(task)
        )
        bar.add_task("timing", total=None)
        sections = {
            "kills and restarts": survived,
            "cost": anyio.run(measure_costs, server, folder / "costs", hubs, samples),
            "sleep": stop_and_overtake(server, folder / "fencing"),
            "move": move_there_and_back(server, folder / "moves", memories),
            "router": measure_routing(folder / "routing", samples),
        }
    publish(sections, as_json=as_json, cores=os.cpu_count(), server=version)
