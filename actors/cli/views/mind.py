"""Views of goals, drift and the workspace, of consolidation runs and their schedule."""

from rich.text import Text

from actors.api.parts import minute, run_summary
from actors.cli.options import advise
from actors.cli.views.maintenance import backups_kept
from actors.cli.views.terminal import OUT, columns
from actors.runtime.types import JsonObject
from events.wording import counted

MAX_SHOWN = 10
"""Merged sets, and pruned memories, that are printed after a run."""


def goals(answer: JsonObject) -> None:
    star, namespace = answer["north_star"], answer["namespace"]
    if star is None:
        why = (
            "of each goal, fewer than half of the memories contain a word of its description"
            if answer["discovered_goals"]
            else "a goal is a group of similar memories, of which at least three share words other than names"
        )
        OUT.print_line(f"no North Star in {namespace} yet: {why}", style="yellow")
    for goal in answer["discovered_goals"]:
        level = "North Star" if star and goal["goal_id"] == star["goal_id"] else goal["level"]
        OUT.print(Text.assemble((goal["description"], "bold"), f"  {level}"))
        OUT.print(
            f"   {counted(goal['member_count'], 'memory')}, coherence {goal['coherence']:.2f}, "
            f"confidence {goal['confidence']:.2f}, told by {', '.join(goal['dominant_embedders']) or 'no space'}",
            style="dim",
        )
    sampled = answer["cluster_analysis"]
    OUT.print_line(
        f"{sampled['sampled']:,} of {counted(sampled['memories'], 'memory')} in {namespace} compared", style="dim"
    )
    if answer["north_star_chosen"]:
        OUT.print(
            f"the North Star was chosen now, and measured against {counted(answer['memories_realigned'], 'memory')}"
        )


def drift(answer: JsonObject) -> None:
    if answer["level"] is None:
        looks = advise("`context-graph goals` looks for one, among some ten memories of one thing at least")
        OUT.print_line(f"there is no North Star in {answer['namespace']} yet; {looks}")
        return
    trend = f", {answer['trend'].lower()}" if answer["trend"] else ""
    OUT.print(
        f"drift [bold]{answer['level']}[/]{trend}: nearness to the goals {answer['similarity']:.2f} times the usual, "
        f"in the latest {counted(answer['memories'], 'memory')}",
        markup=True,
    )
    for space in answer["most_drifted_embedders"]:
        OUT.print(f"  {space['similarity']:.2f}  {space['space']}  {space['level']}", style="dim")
    for advice in answer["recommendations"]:
        OUT.print(advice, style="yellow")


def mind(answer: JsonObject) -> None:
    OUT.print(
        f"[bold]{answer['state']}[/]: r {answer['r']:.2f}, C {answer['C']:.2f} "
        f"(I {answer['integration']:.2f}, R {answer['reflection']:.2f}, D {answer['differentiation']:.2f}), "
        f"limited by {answer['limiting_factor']}",
        markup=True,
    )
    workspace = answer["workspace"]
    active = workspace["active_memory"]
    OUT.print(f"{counted(workspace['ignited'], 'memory')} in the workspace, K {answer['coupling']:g}")
    if active:
        OUT.print(f"   {active.get('content', active['id'])}", style="green")
    life, predictions = answer["lifecycle"], answer["meta_learning"]
    OUT.print(f"{life['stage']} after {counted(life['interactions'], 'interaction')}", style="dim")
    if predictions["accuracy"] is not None:
        OUT.print(
            f"{counted(predictions['scored'], 'prediction')} of usefulness, accuracy {predictions['accuracy']:.2f}",
            style="dim",
        )


def run_result(answer: JsonObject) -> None:
    """Print what a run did, or a dry run would do."""
    if answer["outcome"] != "finished":
        OUT.print(
            f"{answer['mode']} sleep {answer['outcome']}: {answer['reason']}; nothing was changed", style="yellow"
        )
        return
    would = "would be " if answer["dry_run"] else ""
    OUT.print(
        f"[bold]{answer['mode']}[/] sleep over {counted(answer['memories_looked_at'], 'memory')}: "
        f"{answer['merged_count']} {would}merged, "
        f"{answer['pruned_count']} {would}pruned, {counted(answer['clusters_discovered'], 'cluster')}, "
        f"{counted(len(answer['new_patterns']), 'pattern')}; "
        f"{counted(answer['final_memory_count'], 'memory')}, {answer['duration_ms']} ms",
        markup=True,
    )
    for merge in answer["merges"][:MAX_SHOWN]:
        OUT.print(f"  = {merge.get('content', merge['survivor'])}", style="green")
        for absorbed in merge["absorbed"]:
            OUT.print(f"    {absorbed['similarity']:.3f}  {absorbed.get('content', absorbed['id'])}", style="dim")
    for pruned in answer["pruned"][:MAX_SHOWN]:
        OUT.print(f"  - {pruned['salience']:.2f}  {pruned.get('content', pruned['id'])}", style="yellow")
    hidden = answer["merges_not_shown"] + max(0, len(answer["merges"]) - MAX_SHOWN)
    hidden += answer["pruned_not_shown"] + max(0, len(answer["pruned"]) - MAX_SHOWN)
    if hidden:
        OUT.print(f"  … and {hidden} more", style="dim")
    for pattern in answer["new_patterns"]:
        OUT.print(f"  ~ {pattern['description']}")
        members = counted(pattern["memory_count"], "memory")
        OUT.print(f"    {members}, confidence {pattern['confidence']:.2f}", style="dim")
    for drift in answer["drift"]:
        told = f"  drift in {drift['namespace']}: {drift['level']}, {drift['similarity']:.2f} aligned"
        OUT.print(told, style="dim")
    if answer["goals_adjusted"]:
        OUT.print(f"  {counted(answer['goals_adjusted'], 'goal')} {would}adjusted")
    if answer["can_be_undone"]:
        OUT.print(advise(f"context-graph undo {answer['run_id']} reverts it"), style="dim")


def undone(answer: JsonObject) -> None:
    restored = answer["restored_count"]
    are = "is" if restored == 1 else "are"
    what = f"{counted(restored, 'memory')} {are} back as before the" if restored else "undone: the"
    OUT.print(f"{what} {answer['mode']} run")
    if erased := len(answer["erased_since"]):
        OUT.print(f"{counted(erased, 'memory')} erased since; that can't be undone", style="yellow")
    if forgotten := answer["forgotten_since"]:
        OUT.print(f"{counted(len(forgotten), 'memory')} forgotten since; to bring one back:", style="yellow")
        for memory in forgotten[:MAX_SHOWN]:
            OUT.print(advise(f"  context-graph restore {memory}"), style="dim")
    for namespace in answer["north_star_restored_in"]:
        OUT.print_line(f"the North Star of {namespace} is restored")


def runs(answer: JsonObject) -> None:
    """Print the latest runs, or a single one memory by memory."""
    if not answer["runs"]:
        OUT.print("no run to show")
        return
    table = columns("started", "mode", "by", "what it did", "outcome", collapse_padding=True)
    for run in answer["runs"]:
        outcome = "undone" if run["undone_at"] else "dry run" if run["dry_run"] else run["outcome"]
        table.add_row(
            minute(run["started_at"]),
            run["mode"],
            run["trigger"],
            run_summary(run["counts"], pruned="pruned") if run["counts"] else "",
            outcome,
        )
    OUT.print(table)
    for run in answer["runs"]:
        OUT.print(f"{minute(run['started_at'])}  {run['run_id']}", style="dim")
    for run in answer["runs"]:
        _print_details(run)
    _print_skipped(answer)


def _print_details(run: JsonObject) -> None:
    for merge in run.get("merges", ()):
        for absorbed in merge["absorbed"]:
            OUT.print(f"  merged  {absorbed['id']} into {merge['survivor']}, similarity {absorbed['similarity']:.3f}")
    for pruned in run.get("pruned", ()):
        OUT.print(f"  pruned  {pruned['id']}, salience {pruned['salience']:.2f}: {_parts(pruned)}")
        OUT.print(f"          {pruned.get('content')}", style="dim")
    for moved in run.get("moved", ()):
        OUT.print_line(
            f"  moved   {counted(len(moved['memories']), 'memory')} from {moved['source']} to {moved['target']}"
        )
    for pattern in run.get("patterns", ()):
        OUT.print(f"  pattern {pattern['description']}, {counted(pattern['memory_count'], 'memory')}")


def _print_skipped(answer: JsonObject) -> None:
    for skipped in answer["skipped"]:
        OUT.print(f"{minute(skipped['at'])}  {skipped['mode']} was skipped: {skipped['reason']}", style="yellow")


def _parts(of: JsonObject) -> str:
    return ", ".join(f"{name} {value:.2f}" for name, value in of["parts"].items())


def candidates(answer: JsonObject) -> None:
    for one in answer["candidates"]:
        kept = f"  protected: {one['protected']}" if one["protected"] else ""
        OUT.print(f"{one['salience']:.2f}  {one['content']}")
        OUT.print(f"      {_parts(one)}{kept}", style="dim")
        OUT.print_line(f"      {one['memory_id']}  {one['namespace']}", style="dim")
    OUT.print(
        f"{answer['would_be_pruned']:,} of {counted(answer['memories_looked_at'], 'memory')} would be pruned; "
        f"below the threshold, but protected: {answer['protected']:,}"
    )


def schedule(answer: JsonObject) -> None:
    if answer["paused"]:
        OUT.print("paused: no run starts by itself", style="yellow")
    table = columns("mode", "when", "next", "last")
    for mode, of in answer["modes"].items():
        table.add_row(mode, of["when"] or "off", minute(of["next"]) or "–", minute(of["last"]) or "–")
    OUT.print(table)
    if answer["modes"]["light"]["when"] and not answer["paused"]:
        idle = counted(answer["idle_after_minutes"], "idle minute")
        OUT.print(f"and light after {idle}; while a server runs", style="dim")
    if answer["pruning_permitted"]:
        OUT.print("scheduled runs merge duplicates and prune")
    else:
        OUT.print("scheduled runs merge exact copies only; --prune lets them prune too")
    backups_kept(answer["backups"])
    anchors = answer["anchors"]
    if anchors["target"]:
        OUT.print(f"a signed head follows each deep sleep in {anchors['target']}")
    if anchors["failed"]:
        OUT.print(f"no anchor was written after the last sleep: {anchors['failed']}", style="yellow")
    _print_skipped(answer)
