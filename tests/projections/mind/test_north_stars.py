from uuid import UUID

from events.vocabulary import NorthStarChosen
from projections.mind.north_stars import NorthStars
from tests.projections.history import history
from tests.projections.sleeps import GOALS, RUNS, adjusted, choose, undone


def after(*events: object) -> dict[str, UUID]:
    stars = NorthStars()
    for envelope in history(*events):
        stars.apply(envelope)
    return stars.chosen


def test_the_goal_that_was_chosen_last_counts_in_its_namespace():
    elsewhere = NorthStarChosen(namespace="sea", goal=GOALS[2])
    assert after(choose(GOALS[0]), choose(GOALS[1]), elsewhere) == {"default": GOALS[1], "sea": GOALS[2]}


def test_an_adjustment_counts_until_its_run_is_undone():
    events = (choose(GOALS[0]), adjusted(RUNS[0], GOALS[1]))
    assert after(*events) == {"default": GOALS[1]}
    assert after(*events, undone(RUNS[1])) == {"default": GOALS[1]}
    assert after(*events, undone(RUNS[0])) == {"default": GOALS[0]}
