"""Verdicts on consolidation: every requirement, compared with what was observed."""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from benchmarks.report import Verdict
from benchmarks.sleep.kills import Kill
from benchmarks.sleep.plan import DUPLICATES, PROTECTED, Kind, Plan
from benchmarks.sleep.runs import Decisions, Query, Run, identical, recall

SECONDS = {"light": 5.0, "deep": 30.0, "rem": 60.0}
"""Most seconds of a run at 10,000 memories on two cores."""
FOUND = {Kind.EXACT: 1.0, Kind.RESPACED: 1.0}
"""Least share of each kind of duplicate that a run must merge; of synonyms, it merges those that the product lists."""
IMPORTANT = 0.6
"""Memories above this importance are never pruned."""
SLOWER = 2.0
"""Most times its idle duration that the median search may take beside a run."""
SHOWN, EXCERPT = 5, 90
"""Examples in a report, and characters of each text."""

COUNTED = """memories_looked_at merged_count pruned_count clusters_discovered new_patterns links_strengthened shortcuts
memories_replayed goals_adjusted""".split()
"""Counts in a run's answer, in the order of `Counts`."""

Ids = Mapping[int, str]


def judge_merges(plan: Plan, ids: Ids, survivors: Mapping[str, str], mode: str) -> list[Verdict]:
    """Judge what a run merged, by kind of duplicate.

    Recall of a kind is the share of its duplicates that are in one set with their original; precision is the share of
    absorbed memories, in the sets with such a duplicate, that belong there.
    """
    places = {memory: place for place, memory in ids.items()}
    original = {place: place if item.repeats is None else item.repeats for place, item in enumerate(plan.items)}
    sets: dict[str, list[int]] = {}
    for absorbed, survivor in survivors.items():
        sets.setdefault(survivor, [places[survivor]]).append(places[absorbed])
    set_of = {place: number for number, members in enumerate(sets.values()) for place in members}

    verdicts = []
    for kind in DUPLICATES:
        planted = plan.places(kind)
        found = sum(place in set_of and set_of[place] == set_of.get(original[place]) for place in planted)
        holding = [members for members in sets.values() if any(plan.items[place].kind is kind for place in members)]
        absorbed = sum(len(members) - 1 for members in holding)
        right = sum(original[place] == original[members[0]] for members in holding for place in members[1:])
        figures: dict[str, Any] = {"planted": len(planted), "found": found, "recall": found / len(planted)}
        figures |= {"precision": right / absorbed} if absorbed else {}
        least = FOUND.get(kind)
        what = "how many" if least is None else "all" if least == 1 else f"at least {least:.2f}"
        holds = None if least is None else found >= least * len(planted)
        verdicts.append(Verdict(f"{kind}: {what} are found", figures, holds))
    wrong = [
        (members[0], place)
        for members in sets.values()
        for place in members[1:]
        if original[place] != original[members[0]]
    ]
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
    others = plan.places(Kind.ORDINARY, *DUPLICATES)
    protected = {str(kind): f"{pruned(places)} of {len(places)}" for kind, places in traps.items()}
    protected[f"any above importance {IMPORTANT}"] = f"{pruned(important)} of {len(important)}"
    return [
        Verdict(
            "what is trivial is pruned",
            {"pruned": f"{pruned(low_value)} of {len(low_value)}"},
            pruned(low_value) == len(low_value),
        ),
        Verdict(
            "nothing that is protected is pruned",
            protected,
            not pruned(important) and not any(map(pruned, traps.values())),
        ),
        Verdict("of all else", {"pruned": f"{pruned(others)} of {len(others)}"}),
    ]


def judge_honesty(run: Run) -> list[Verdict]:
    """Judge whether dry run, run, log and listing agree, and whether undo restored every answer."""
    dry, real = _counts(run.dry), _counts(run.done)
    restored = identical(run.before, run.undone)
    decisions = run.decisions
    # The last two, `causes` and `moved`, are no part of an answer.
    fields = decisions.reported.__struct_fields__[: len(COUNTED)]
    reported = [getattr(decisions.reported, name) for name in fields]
    return [
        Verdict(
            "the dry run counts what the run does",
            {name: [dry[name], real[name]] for name in COUNTED if dry[name] or real[name]},
            dry == real,
        ),
        Verdict(
            "the dry run logs nothing but its own record",
            {"events": list(run.dry_events)},
            run.dry_events == ("ConsolidationStarted", "ConsolidationFinished"),
        ),
        Verdict(
            "the log holds every reported decision, and list_consolidations shows each",
            {"merged": len(decisions.survivors), "pruned": len(decisions.pruned), "listed": run.listed},
            decisions.complete
            and reported == list(real.values())
            and run.listed == len(decisions.survivors) + len(decisions.pruned),
        ),
        Verdict(
            "after undo every query finds the same with the same scores",
            {
                "identical": f"{restored} of {len(run.before.rankings)}",
                "identical before undo": identical(run.before, run.consolidated),
            },
            restored == len(run.before.rankings),
        ),
    ]


def _counts(answer: Mapping[str, Any]) -> dict[str, int]:
    return {name: len(answer[name]) if name == "new_patterns" else answer[name] for name in COUNTED}


def judge_duration(run: Run, queries: Sequence[Query]) -> list[Verdict]:
    """Judge how long a run took, and show what it does to Recall@10."""
    seconds, budget = run.done["duration_ms"] / 1e3, SECONDS[run.mode]
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


def judge_kills(memories: int, kills: Sequence[Kill]) -> Verdict:
    """Judge what killed runs left in a store of so many memories: everything decided, or nothing."""
    half = [kill for kill in kills if not _all_or_nothing(memories, kill)]
    finished = sum(kill.decisions is not None and kill.decisions.finished for kill in kills)
    return Verdict(
        "kill -9 in a run leaves all of it or nothing",
        {
            "kills": len(kills),
            "after its beginning, s": [kill.moment for kill in kills],
            "all": finished,
            "nothing": len(kills) - finished - len(half),
            "something in between": len(half),
            "had answered already": sum(kill.answered for kill in kills),
        },
        not half,
    )


def _all_or_nothing(memories: int, kill: Kill) -> bool:
    decisions = kill.decisions
    if decisions is None:
        return kill.live == memories and not kill.answered
    gone = len(decisions.survivors) + len(decisions.pruned)
    return decisions.complete and kill.live == memories - gone and (decisions.finished or not kill.answered)
