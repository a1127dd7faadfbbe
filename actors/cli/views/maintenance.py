"""What a person sees of checks and copies on the command line."""

from __future__ import annotations

from typing import Any

from actors.cli.views.memories import OUT


def verified(answer: dict[str, Any]) -> None:
    """Print whether a store is sound; if not, what is wrong and what is lost."""
    told = f"{answer['events']} events, {answer['sealed']} of them sealed, {answer['erased']} whose keys are destroyed"
    if answer["sound"]:
        OUT.print(f"[bold]sound[/]: {told}, up to {answer['head']['hash'][:16]}…")
        return
    first = f" from event {answer['first_bad']} on" if answer["first_bad"] else ""
    OUT.print(f"damaged{first}; {told} can be read and trusted", style="bold red")
    for problem in answer["problems"]:
        where = f"event {problem['seq']}" if problem["seq"] else problem["file"]
        OUT.print(f"  {where}: {problem['what']}; lost: {problem['lost']}", markup=False)
    if "quarantine" in answer:
        OUT.print(f"its files are in {answer['quarantine']} now", markup=False)


def backed_up(answer: dict[str, Any]) -> None:
    """Print what `backup` did."""
    OUT.print(f"{answer['events']} events are in {answer['backup']}", markup=False)


def put_back(answer: dict[str, Any]) -> None:
    """Print what `restore` did with a backup."""
    OUT.print(f"{answer['restored']} is what the backup was", markup=False)
    if answer["replaced"]:
        OUT.print(f"what was there is in {answer['replaced']}", markup=False)
