"""Views of goals, drift and the workspace."""

from rich.text import Text

from actors.cli.views.terminal import OUT
from actors.runtime.types import JsonObject
from events.wording import counted


def goals(answer: JsonObject) -> None:
    """Print the goals that were found, and the North Star."""
    star, namespace = answer["north_star"], answer["namespace"]
    if star is None:
        OUT.print(f"no North Star in {namespace}: no group of memories is about one thing yet", style="yellow")
    for goal in answer["discovered_goals"]:
        level = "North Star" if star and goal["goal_id"] == star["goal_id"] else goal["level"]
        OUT.print(Text.assemble((goal["description"], "bold"), f"  {level}"))
        OUT.print(
            f"   {counted(goal['member_count'], 'memory')}, coherence {goal['coherence']:.2f}, "
            f"confidence {goal['confidence']:.2f}, told by {', '.join(goal['dominant_embedders']) or 'no space'}",
            style="dim",
        )
    sampled = answer["cluster_analysis"]
    OUT.print(
        f"{sampled['sampled']:,} of {counted(sampled['memories'], 'memory')} in {namespace} compared", style="dim"
    )
    if answer["north_star_chosen"]:
        OUT.print(
            f"the North Star was chosen now, and measured against {counted(answer['memories_realigned'], 'memory')}"
        )


def drift(answer: JsonObject) -> None:
    """Print the drift of the latest memories."""
    if answer["level"] is None:
        OUT.print(f"there is no North Star in {answer['namespace']} yet; `goals` finds one")
        return
    trend = f", {answer['trend'].lower()}" if answer["trend"] else ""
    OUT.print(
        f"drift [bold]{answer['level']}[/]{trend}: alignment {answer['similarity']:.2f} in the latest "
        f"{counted(answer['memories'], 'memory')}",
        markup=True,
    )
    for space in answer["most_drifted_embedders"]:
        OUT.print(f"  {space['similarity']:.2f}  {space['space']}  {space['level']}", style="dim")
    for advice in answer["recommendations"]:
        OUT.print(advice, style="yellow")


def mind(answer: JsonObject) -> None:
    """Print the state of the workspace."""
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
