"""What was promised of sleep, held against what was seen: nothing here runs anything."""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

import msgspec

from benchmarks.mind.verdicts import Verdict
from benchmarks.sleep.asking import Query, identical, recall
from benchmarks.sleep.nights import Decided, Night
from benchmarks.sleep.planting import DUPLICATES, PROTECTED, Kind, Plan

SECONDS = {"light": 5.0, "deep": 30.0, "rem": 60.0}
"""How long a run may take at 10,000 memories on two cores (facts 10.1)."""

_COPIES = {Kind.EXACT: 1.0, Kind.RESPACED: 1.0}
FOUND = {
    "light": _COPIES,
    "deep": _COPIES | {Kind.ONE_WORD: 0.95},
    "rem": _COPIES | {Kind.ONE_WORD: 0.95},
}
"""Which share of each kind of duplicate a run finds: of a text of a few words, one is a tenth of what it says."""

MATTERS = 0.6
"""Above this importance nothing is pruned (design, 7)."""
SLOWER = 2.0
"""So many times its idle time may the median search take beside a run."""
TOLERANCE = 0.005
"""Recall that sleep may cost."""
SHOWN = 5
EXCERPT = 90

COUNTED = (
    "memories_looked_at",
    "merged_count",
    "pruned_count",
    "clusters_discovered",
    "new_patterns",
    "links_strengthened",
    "shortcuts",
    "memories_replayed",
    "goals_adjusted",
)
"""What a run answers, in the order of `Counts`."""

Ids = Mapping[int, str]


def duplicates(planned: Plan, ids: Ids, heirs: Mapping[str, str], mode: str) -> list[Verdict]:
    """Judge what a run merged, by kind of duplicate.

    Precision of a kind is the share of the memories absorbed in the sets with such a duplicate that belong there;
    recall is the share of the duplicates that ended in one set with what they repeat.
    """
    places = {memory: place for place, memory in ids.items()}
    said = {place: place if item.repeats is None else item.repeats for place, item in enumerate(planned.items)}
    sets: dict[str, list[int]] = {}
    for absorbed, survivor in heirs.items():
        sets.setdefault(survivor, [places[survivor]]).append(places[absorbed])

    verdicts = []
    for kind in DUPLICATES:
        planted = planned.places(kind)
        found = sum(_together(sets, place, said[place]) for place in planted)
        holding = [one for one in sets.values() if any(planned.items[place].kind is kind for place in one)]
        absorbed = sum(len(one) - 1 for one in holding)
        right = sum(said[place] == said[one[0]] for one in holding for place in one[1:])
        figures: dict[str, Any] = {"planted": len(planted), "found": found, "recall": found / len(planted)}
        figures |= {"precision": right / absorbed} if absorbed else {}
        promised = FOUND[mode].get(kind)
        what = f"{kind}: how many are found"
        if promised is not None:
            what = f"{kind}: {'all' if promised == 1 else f'at least {promised:.2f}'} are found"
        verdicts.append(Verdict(what, figures, None if promised is None else found >= promised * len(planted)))
    wrong = [(one[0], place) for one in sets.values() for place in one[1:] if said[place] != said[one[0]]]
    figures = {"absorbed": len(heirs), "not planted": len(wrong)}
    figures |= {str(number): _pair(planned, *pair) for number, pair in enumerate(wrong[:SHOWN], start=1)}
    return [*verdicts, Verdict("nothing is merged that isn't planted", figures, not wrong if mode == "light" else None)]


def _together(sets: Mapping[str, Sequence[int]], one: int, other: int) -> bool:
    return any(one in members and other in members for members in sets.values())


def _pair(planned: Plan, one: int, other: int) -> str:
    return " ≈ ".join(" ".join(planned.items[place].text.split())[:EXCERPT] for place in (one, other))


def pruning(planned: Plan, ids: Ids, decided: Decided) -> list[Verdict]:
    """Judge what a run pruned."""

    def gone(places: Sequence[int]) -> int:
        return sum(ids[place] in decided.pruned for place in places)

    trivial, traps = planned.places(Kind.TRIVIAL), {kind: planned.places(kind) for kind in PROTECTED}
    matter = [place for place, item in enumerate(planned.items) if item.importance > MATTERS]
    rest = planned.places(Kind.ORDINARY, *DUPLICATES)
    protected = {str(kind): f"{gone(places)} of {len(places)}" for kind, places in traps.items()}
    return [
        Verdict(
            "what is trivial is pruned",
            {"pruned": f"{gone(trivial)} of {len(trivial)}"},
            gone(trivial) == len(trivial),
        ),
        Verdict(
            "nothing that is protected is pruned",
            {**protected, f"any above importance {MATTERS}": f"{gone(matter)} of {len(matter)}"},
            not gone(matter) and not any(map(gone, traps.values())),
        ),
        Verdict("of all else", {"pruned": f"{gone(rest)} of {len(rest)}"}),
    ]


def honesty(night: Night) -> list[Verdict]:
    """Judge whether the dry run said what the run did, the log agrees, and all was taken back."""
    dry, real = _counts(night.dry), _counts(night.done)
    restored = identical(night.before, night.after)
    done = night.decided
    return [
        Verdict(
            "the dry run counts what the run does",
            {name: [dry[name], real[name]] for name in COUNTED if dry[name] or real[name]},
            dry == real,
        ),
        Verdict(
            "the dry run leaves nothing but its own record",
            {"events": list(night.dry_events)},
            night.dry_events == ("ConsolidationStarted", "ConsolidationFinished"),
        ),
        Verdict(
            "the log holds all that was told, and list_consolidations shows it memory by memory",
            {"merged": len(done.heirs), "pruned": len(done.pruned), "shown": night.shown},
            whole(done)
            and list(msgspec.structs.astuple(done.counts)) == list(real.values())
            and night.shown == len(done.heirs) + len(done.pruned),
        ),
        Verdict(
            "after undo every query finds the same with the same scores",
            {
                "identical": f"{restored} of {len(night.before.rankings)}",
                "identical before undo": identical(night.before, night.asleep),
            },
            restored == len(night.before.rankings),
        ),
    ]


def _counts(answer: Mapping[str, Any]) -> dict[str, int]:
    return {name: len(answer[name]) if name == "new_patterns" else answer[name] for name in COUNTED}


def whole(done: Decided) -> bool:
    """Return whether a run that finished is in the log with all its decisions, and another with none."""
    return done.there == msgspec.structs.replace(done.counts, looked_at=0)


def duration(night: Night) -> Verdict:
    """Judge how long a run took."""
    seconds, budget = night.done["duration_ms"] / 1e3, SECONDS[night.mode]
    return Verdict(f"it takes at most {budget:.0f} s", {"seconds": seconds}, seconds <= budget)


def remembering(night: Night, queries: Sequence[Query]) -> Verdict:
    """Show what a run does to Recall@10."""
    before, after = recall(night.before, queries, {}), recall(night.asleep, queries, night.decided.heirs)
    return Verdict("Recall@10 before and after", {corpus: [before[corpus], after[corpus]] for corpus in before})


def latency(alone: Sequence[float], meanwhile: Sequence[float]) -> Verdict:
    """Judge how much longer a search takes beside a run."""
    medians = median(alone), median(meanwhile)
    return Verdict(
        f"beside a deep run the median search takes at most {SLOWER:g} times as long",
        {
            "alone, ms": medians[0],
            "beside, ms": medians[1],
            "times": medians[1] / medians[0],
            "searches": len(meanwhile),
        },
        medians[1] <= SLOWER * medians[0],
    )
