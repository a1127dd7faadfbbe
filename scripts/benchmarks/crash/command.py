"""`scripts/bench crash`: runs the campaigns: nothing lost, nothing done twice, no wrong answer."""

from pathlib import Path
from typing import Annotated

import anyio
from typer import BadParameter, Option

from benchmarks import SEED
from benchmarks.crash import bit_flips, killed_commands, kills
from benchmarks.crash.damaged_store import build
from benchmarks.report import JsonOption, Verdict, counter, publish, workplace


def crash(
    count: Annotated[int, Option("--kills", min=0, help="How many kills.")] = 100,
    clients: Annotated[int, Option(min=1, help="On the store, each through a proxy of its own.")] = 4,
    flips: Annotated[int, Option(min=0, help="How many bytes are changed.")] = 300,
    commands: Annotated[int, Option(min=0, help="How many imports, backups, repairs and upgrades are killed.")] = 0,
    seed: Annotated[int, Option(help="Of the load, the moments and the bytes.")] = SEED,
    keep: Annotated[
        Path | None, Option(file_okay=False, help="Empty folder in which stores and journals are left.")
    ] = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Kill hubs and proxies under a mixed load, change bytes of their files, and report losses and wrong answers."""
    if keep is not None and keep.exists() and any(keep.iterdir()):
        raise BadParameter(f"{keep} is not empty")
    sections: dict[str, list[Verdict]] = {}
    with workplace() as (temporary, bar):
        scratch = keep or temporary
        damaged, killed = scratch / "damaged", scratch / "commands"
        for folder in (damaged, killed):
            folder.mkdir(parents=True)
        if count:
            advance = counter(bar, "kill -9", count)
            outcome = kills.campaign(scratch / "store", scratch, count, clients, seed, advance)
            sections["kill -9"] = kills.judge(outcome)
        if flips:
            stores, questions = anyio.run(build, damaged)
            found = bit_flips.flip_bytes(stores, questions, damaged, flips, seed, counter(bar, "flips", flips))
            sections["flipped bytes"] = bit_flips.judge(*found)
        if commands:
            trials = killed_commands.kill_commands(killed, commands, seed, counter(bar, "killed commands", commands))
            sections["kill -9 of commands"] = killed_commands.judge(trials)
    publish(sections, as_json=as_json, seed=seed)
