"""What the campaigns saw, beside what was promised: nothing acknowledged lost, nothing done twice, no wrong answer."""

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import median

from benchmarks.crash.flipping import Fate, Flip
from benchmarks.crash.killing import Outcome
from benchmarks.crash.store import SNAPSHOTS
from benchmarks.mind.verdicts import Verdict

SHOWN = 5
"""Of what went wrong, so much is told."""
LOG = ("log.duckdb", "log.duckdb.wal")


def survived(outcome: Outcome) -> list[Verdict]:
    """Judge what kill -9 left."""
    last = outcome.compared[-1] if outcome.compared else None
    remains = outcome.remains
    opens = "the store opens after every kill"
    if remains is None:
        return [
            Verdict(
                opens, {"gave up": list(outcome.failures), "in the end": "it can't be opened any more"}, holds=False
            )
        ]
    lost = [line for compared in outcome.compared for line in compared.wrong]
    surplus = max((compared.surplus for compared in outcome.compared), default=0)
    seconds = [kill.seconds for kill in outcome.kills] or [0.0]
    return [
        Verdict(
            "what was acknowledged is there as it was acknowledged",
            {
                "kills": dict(Counter(kill.victim.value for kill in outcome.kills)),
                "aimed at": dict(Counter(kill.aim for kill in outcome.kills)),
                "under way when they came": dict(Counter(what for kill in outcome.kills for what in kill.under_way)),
                "compared": f"{len(outcome.compared)} times",
                "acknowledged": last.acknowledged if last else 0,
                "found": last.found if last else 0,
                "lost": len(lost) + len(remains.missing),
                "not as acknowledged": lost[:SHOWN],
                "missed by searches and retrievals": outcome.missed,
            },
            not lost and not remains.missing and last is not None and not outcome.missed,
        ),
        Verdict(
            "a request that was sent again is done once",
            {
                "sent again by the windows' users": outcome.sent_again,
                "duplicated": len(remains.duplicated),
                "memories beyond those acknowledged": surplus,
            },
            not remains.duplicated and surplus == 0,
        ),
        Verdict(
            opens,
            {
                "gave up": list(outcome.failures),
                "processes that ended before they shook hands": outcome.refused_starts,
            },
            not outcome.failures,
        ),
        Verdict(
            "the chain is intact",
            {
                "events": remains.report.events,
                "problems": [f"{one.file}: {one.what}" for one in remains.report.problems][:SHOWN],
            },
            not remains.report.problems,
        ),
        Verdict(
            "what was erased is in no file",
            {
                "erased memories": remains.erased,
                "words or embeddings found": len(remains.betrayed),
                "such as": list(remains.betrayed[:SHOWN]),
            },
            not remains.betrayed,
        ),
        Verdict(
            "every request is answered, and as if nothing had happened",
            {
                "requests": outcome.requests,
                "unanswered": len(outcome.failures),
                "answered with an error": dict(outcome.errors.most_common(SHOWN)),
                "longest stall, s": outcome.longest,
                "until all were answered again, s": {"median": median(seconds), "most": max(seconds)}
                if seconds
                else {},
                "usual, s": outcome.took,
            },
            not outcome.failures and not outcome.errors,
        ),
    ]


def unnoticed(flips: Sequence[Flip], thawed: Mapping[str, bool]) -> list[Verdict]:
    """Judge what flipped bytes led to, file by file, and whether undamaged snapshots were used."""
    wrong = [_told(flip) for flip in flips if flip.fate in {Fate.WRONG, Fate.DIED}]
    believed = [flip for flip in flips if flip.file.startswith(SNAPSHOTS) and flip.thawed]
    silent = [_told(flip) for flip in flips if not flip.detected and flip.fate is not Fate.RIGHT]
    return [
        *(
            Verdict(f"{store}: {file}", _counted([flip for flip in flips if (flip.store, flip.file) == (store, file)]))
            for store, file in dict.fromkeys((flip.store, flip.file) for flip in flips)
        ),
        Verdict(
            "no wrong answer is given", {"flips": len(flips), "wrong": len(wrong), "such as": wrong[:SHOWN]}, not wrong
        ),
        Verdict(
            "whatever isn't harmless is named by `verify`",
            {
                "detected": sum(flip.detected for flip in flips),
                "of those in the log": _share([flip for flip in flips if flip.file in LOG]),
                "neither detected nor harmless": silent[:SHOWN],
            },
            not silent,
        ),
        Verdict(
            "`verify` changes nothing",
            {"stores that it changed": sum(flip.touched for flip in flips)},
            not any(flip.touched for flip in flips),
        ),
        Verdict(
            "an undamaged snapshot is used, and a damaged one isn't",
            {"undamaged ones used": dict(thawed), "damaged ones used": len(believed)},
            all(thawed.values()) and not believed,
        ),
    ]


def _counted(flips: Sequence[Flip]) -> dict[str, int]:
    fates = Counter(flip.fate for flip in flips)
    aside = sum(flip.fate is Fate.RIGHT and not flip.detected and _put_aside(flip) for flip in flips)
    return {
        "flips": len(flips),
        "detected by verify": sum(flip.detected for flip in flips),
        "refused at opening": fates[Fate.REFUSED],
        "refused later": fates[Fate.REFUSED_LATER],
        "detected, answers all right": sum(flip.detected and flip.fate is Fate.RIGHT for flip in flips),
        "the snapshot put aside, answers all right": aside,
        "harmless": sum(not flip.detected and flip.fate is Fate.RIGHT for flip in flips) - aside,
        "the process died": fates[Fate.DIED],
        "WRONG": fates[Fate.WRONG],
    }


def _put_aside(flip: Flip) -> bool:
    return flip.file.startswith(SNAPSHOTS) and not flip.thawed


def _share(flips: Sequence[Flip]) -> str:
    padding = sum(not flip.detected and flip.fate is Fate.RIGHT for flip in flips)
    return f"{sum(flip.detected for flip in flips)} of {len(flips)}, and {padding} in unused space"


def _told(flip: Flip) -> str:
    return f"{flip.store}/{flip.file} at {flip.offset} ^ {flip.mask:#04x}: {flip.fate.value}: {flip.why}"
