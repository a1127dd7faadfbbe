"""Verdicts on consolidation: every requirement, compared with what was observed."""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from benchmarks.report import SHOWN, Verdict
from benchmarks.sleep.plan import DUPLICATES, NEAR_MISSES, PROTECTED, Kind, Plan
from benchmarks.sleep.runs import MODES, Decisions, Query, Run, identical, recall

SECONDS = {"light": 5.0, "deep": 30.0, "rem": 60.0}
"""Most seconds of a run at 10,000 memories on two cores."""
IMPORTANT = 0.6
"""Memories above this importance are never pruned."""
SLOWER = 2.0
"""Most times its idle duration that the median search may take beside a run."""
TOLERANCE = 0.005
"""Recall that consolidation may cost."""
EXCERPT = 90
"""Characters of a text in a report."""

Ids = Mapping[int, str]


def judge_merges(plan: Plan, ids: Ids, survivors: Mapping[str, str], mode: str) -> list[Verdict]:
    """Judge what a run merged, by kind of duplicate and near miss.

    Recall of a kind is the share of its duplicates that are in one set with their original; precision is the share of
    absorbed memories, in the sets with such a duplicate, that belong there.
    """
    places = {memory: place for place, memory in ids.items()}
    made_from = {place: place if item.original is None else item.original for place, item in enumerate(plan.items)}
    same_as = {place: place if plan.items[place].kind in NEAR_MISSES else one for place, one in made_from.items()}
    sets: dict[str, list[int]] = {}
    for absorbed, survivor in survivors.items():
        sets.setdefault(survivor, [places[survivor]]).append(places[absorbed])
    set_of = {place: number for number, members in enumerate(sets.values()) for place in members}

    def count_merged(planted: Sequence[int]) -> int:
        """Return how many are in one set with what they were made from."""
        return sum(place in set_of and set_of[place] == set_of.get(made_from[place]) for place in planted)

    verdicts = []
    for kind in DUPLICATES:
        planted = plan.places(kind)
        found = count_merged(planted)
        holding = [members for members in sets.values() if any(plan.items[place].kind is kind for place in members)]
        absorbed = sum(len(members) - 1 for members in holding)
        right = sum(same_as[place] == same_as[members[0]] for members in holding for place in members[1:])
        figures: dict[str, Any] = {"planted": len(planted), "found": found, "recall": found / len(planted)}
        figures |= {"precision": right / absorbed} if absorbed else {}
        verdicts.append(Verdict(f"{kind}: all are found", figures, found == len(planted)))
    for kind in NEAR_MISSES:
        planted = plan.places(kind)
        merged = count_merged(planted)
        verdicts.append(Verdict(f"{kind}: none is merged", {"planted": len(planted), "merged": merged}, not merged))
    pairs = [(members[0], place) for members in sets.values() for place in members[1:]]
    wrong = [(one, other) for one, other in pairs if same_as[one] != same_as[other]]
    examples = [
        " ≈ ".join(" ".join(plan.items[place].text.split())[:EXCERPT] for place in pair) for pair in wrong[:SHOWN]
    ]
    figures = {"absorbed": len(survivors), "not planted": len(wrong), "such as": examples}
    return [*verdicts, Verdict("nothing is merged that isn't planted", figures, not wrong if mode == "light" else None)]


def judge_pruning(plan: Plan, ids: Ids, decisions: Decisions) -> list[Verdict]:
    """Judge what a run pruned."""

    def pruned(places: Sequence[int]) -> int:
        return sum(ids[place] in decisions.pruned for place in places)

    low_value, traps = plan.places(Kind.LOW_VALUE), {kind: plan.places(kind) for kind in PROTECTED}
    important = [place for place, item in enumerate(plan.items) if item.importance > IMPORTANT]
    others = plan.places(Kind.ORDINARY, *DUPLICATES, *NEAR_MISSES)
    protected = {str(kind): f"{pruned(places)} of {len(places)}" for kind, places in traps.items()}
    protected[f"any above importance {IMPORTANT}"] = f"{pruned(important)} of {len(important)}"
    trivial, rest = ({"pruned": f"{pruned(places)} of {len(places)}"} for places in (low_value, others))
    kept = not pruned(important) and not any(map(pruned, traps.values()))
    return [
        Verdict("what is trivial is pruned", trivial, pruned(low_value) == len(low_value)),
        Verdict("nothing that is protected is pruned", protected, kept),
        Verdict("of all else", rest),
    ]


def judge_undo(run: Run) -> Verdict:
    """Judge whether undo restored every answer."""
    restored, queries = identical(run.before, run.undone), len(run.before.rankings)
    figures = {
        "identical": f"{restored} of {queries}",
        "identical before undo": identical(run.before, run.consolidated),
    }
    return Verdict("after undo every query finds the same with the same scores", figures, restored == queries)


def judge_duration(run: Run, queries: Sequence[Query]) -> list[Verdict]:
    """Judge how long a run took, and show what it does to Recall@10."""
    seconds, budget = run.done["duration_ms"] / 1e3, SECONDS[run.done["mode"]]
    before, after = recall(run.before, queries, {}), recall(run.consolidated, queries, run.decisions.survivors)
    return [
        Verdict(f"it takes at most {budget:.0f} s", {"seconds": seconds}, seconds <= budget),
        Verdict("Recall@10 before and after", {name: [before[name], after[name]] for name in before}),
    ]


def judge_latency(alone: Sequence[float], beside: Sequence[float]) -> Verdict:
    """Judge how much longer a search takes beside a run."""
    medians = median(alone), median(beside)
    return Verdict(
        f"beside a deep run the median search takes at most {SLOWER:g} times as long",
        {"alone, ms": medians[0], "beside, ms": medians[1], "times": medians[1] / medians[0], "searches": len(beside)},
        medians[1] <= SLOWER * medians[0],
    )


def judge_retention(name: str, figures: dict[str, Any]) -> Verdict:
    """Judge whether a data set, stored as it is, is found as well after runs in all modes, in a smaller store."""
    (before, after), (stored, live) = figures["Recall@10"], figures["memories"]
    what = f"{name} as it is, after {', '.join(MODES)}: Recall@10 is not lower, and the store is smaller"
    return Verdict(what, figures, after >= before - TOLERANCE and live < stored)
