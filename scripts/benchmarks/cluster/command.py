"""`scripts/bench cluster`: hubs that share a log, killed and cut off; the cost of sharing beside one folder."""

import os
import tempfile
from pathlib import Path
from typing import Annotated

import anyio
import msgspec
from typer import Option

from benchmarks import SEED
from benchmarks.cluster.campaign import Outcome, campaign
from benchmarks.cluster.costs import FACTOR, LAG_MS, THROUGHPUT, Costs, measure
from benchmarks.cluster.fencing import Fencing, stop_and_overtake
from benchmarks.cluster.moving import Moves, move_there_and_back
from benchmarks.cluster.routing import measure_routing
from benchmarks.cluster.server import running_server
from benchmarks.report import JsonOption, Verdict, progress_bar, publish

SHOWN = 5
"""Examples in a report of what went wrong."""


def cluster(  # noqa: PLR0913 -- its options
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
        outcome = campaign(
            server, folder / "campaign", hubs, clients, stores, kills, restarts, seed, lambda: bar.advance(task)
        )
        bar.add_task("timing", total=None)
        costs = anyio.run(measure, server, folder / "costs", hubs, samples)
        fencing = stop_and_overtake(server, folder / "fencing")
        moves = move_there_and_back(server, folder / "moves", memories)
        routing = measure_routing(folder / "routing", samples)
    sections = {
        "kills and restarts": judge_campaign(outcome),
        "cost": judge_costs(costs),
        "sleep": judge_fencing(fencing),
        "move": judge_moves(moves),
        "router": [Verdict("a search through the router", msgspec.structs.asdict(routing))],
    }
    publish(sections, as_json=as_json, cores=os.cpu_count(), server=version)


def judge_campaign(outcome: Outcome) -> list[Verdict]:
    """Judge what kills of hubs and crashes of the server left."""
    stored = {
        "acknowledged": outcome.acknowledged,
        "memories in the log": outcome.found,
        "lost": list(outcome.lost[:SHOWN]),
        "doubled": list(outcome.doubled[:SHOWN]),
    }
    load = {
        "kills": outcome.kills,
        "restarts of the server": outcome.restarts,
        "refused and sent again": outcome.refused,
        "searches without an error": outcome.searches,
        "seconds": outcome.seconds,
    }
    same = {
        "events": outcome.events,
        "heads": len(set(outcome.heads)),
        "digests": len(set(outcome.digests)),
        "hubs whose present state follows from the log": sum(outcome.replayed),
        "problems": list(outcome.problems[:SHOWN]),
    }
    sound = len(set(outcome.heads)) == len(set(outcome.digests)) == 1 and all(outcome.replayed) and not outcome.problems
    return [
        Verdict("load", load),
        Verdict("nothing acknowledged is lost, nothing doubled", stored, not outcome.lost and not outcome.doubled),
        Verdict("one chain, the same on every hub", same, sound),
    ]


def judge_costs(costs: Costs) -> list[Verdict]:
    """Judge the log on a server beside the one in a folder."""
    return [
        Verdict(
            f"grouped appends of all hubs: {THROUGHPUT:,} events a second",
            {"events a second": costs.throughput},
            costs.throughput >= THROUGHPUT,
        ),
        Verdict(
            f"a store takes at most {FACTOR} times as long as in a folder",
            {"folder, ms": costs.folder_ms, "server, ms": costs.server_ms, "factor": costs.factor},
            costs.factor <= FACTOR,
        ),
        Verdict(
            f"another hub has an event {LAG_MS:.0f} ms later", {"ms": costs.lag_ms}, costs.lag_ms["median"] <= LAG_MS
        ),
    ]


def judge_fencing(fencing: Fencing) -> list[Verdict]:
    """Judge a hub that was stopped during its run and woken after another one took over."""
    figures = {
        "epochs": list(fencing.epochs),
        "runs that finished after the takeover": list(fencing.finished_by),
        "answer to the stopped hub's run": fencing.answer,
    }
    return [Verdict("a hub that was overtaken changes nothing", figures, fencing.holds)]


def judge_moves(moves: Moves) -> list[Verdict]:
    """Judge a move to the server and back."""
    figures = {"memories": moves.memories, "events": moves.events, "there, s": moves.there, "back, s": moves.back}
    return [Verdict("all projections are equal at each end", figures, moves.equal)]
