"""Verdicts on the crash campaigns: nothing acknowledged lost, nothing done twice, no wrong answer."""

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import median

from benchmarks.crash.bit_flips import Fate, Flip
from benchmarks.crash.damaged_store import SNAPSHOTS
from benchmarks.crash.kills import Outcome
from benchmarks.report import Verdict

SHOWN = 5
"""Examples in a report of what went wrong."""
LOG = ("log.duckdb", "log.duckdb.wal")
OPENS = "the store opens after every kill"


def judge_kills(outcome: Outcome) -> list[Verdict]:
    """Judge what kill -9 left."""
    last = outcome.comparisons[-1] if outcome.comparisons else None
    files = outcome.files
    if files is None:
        return [Verdict(OPENS, {"gave up": [*outcome.failures, "the store can't be opened"]}, holds=False)]
    lost = [line for comparison in outcome.comparisons for line in comparison.wrong]
    surplus = max((comparison.surplus for comparison in outcome.comparisons), default=0)
    seconds = [kill.seconds for kill in outcome.kills] or [0.0]
    return [
        Verdict(
            "what was acknowledged is there as it was acknowledged",
            {
                "kills": dict(Counter(kill.victim.value for kill in outcome.kills)),
                "aimed at": dict(Counter(kill.aim for kill in outcome.kills)),
                "under way": dict(Counter(action for kill in outcome.kills for action in kill.under_way)),
                "compared": f"{len(outcome.comparisons)} times",
                "acknowledged": last.acknowledged if last else 0,
                "found": last.found if last else 0,
                "lost": len(lost) + len(files.missing),
                "not as acknowledged": lost[:SHOWN],
                "missed by searches and retrievals": outcome.missed,
            },
            not lost and not files.missing and last is not None and not outcome.missed,
        ),
        Verdict(
            "a request that was sent again is done once",
            {
                "sent again by the clients": outcome.resent,
                "duplicated": len(files.duplicated),
                "memories beyond those acknowledged": surplus,
            },
            not files.duplicated and surplus == 0,
        ),
        Verdict(
            OPENS,
            {"gave up": list(outcome.failures), "processes that ended before the handshake": outcome.failed_starts},
            not outcome.failures,
        ),
        Verdict(
            "the chain is intact",
            {
                "events": files.report.events,
                "problems": [f"{one.file}: {one.what}" for one in files.report.problems][:SHOWN],
            },
            not files.report.problems,
        ),
        Verdict(
            "what was erased is in no file",
            {
                "erased memories": files.erased,
                "words or embeddings found": len(files.leaked),
                "such as": list(files.leaked[:SHOWN]),
            },
            not files.leaked,
        ),
        Verdict(
            "every request is answered without an error",
            {
                "requests": outcome.requests,
                "unanswered": len(outcome.failures),
                "answered with an error": dict(outcome.errors.most_common(SHOWN)),
                "longest stall, s": outcome.longest,
                "until all were answered again, s": {"median": median(seconds), "most": max(seconds)},
                "usual, s": outcome.seconds,
            },
            not outcome.failures and not outcome.errors,
        ),
    ]


def judge_flips(flips: Sequence[Flip], snapshots_used: Mapping[str, bool]) -> list[Verdict]:
    """Judge the effects of changed bytes, file by file, and whether undamaged snapshots were used."""
    wrong = [_describe(flip) for flip in flips if flip.fate in {Fate.WRONG, Fate.DIED}]
    trusted = [flip for flip in flips if flip.file.startswith(SNAPSHOTS) and flip.snapshot_used]
    silent = [_describe(flip) for flip in flips if not flip.detected and flip.fate is not Fate.RIGHT]
    in_log = [flip for flip in flips if flip.file in LOG]
    unused = sum(not flip.detected and flip.fate is Fate.RIGHT for flip in in_log)
    changed = sum(flip.changed for flip in flips)
    return [
        *(
            Verdict(f"{store}: {file}", _counts([flip for flip in flips if (flip.store, flip.file) == (store, file)]))
            for store, file in dict.fromkeys((flip.store, flip.file) for flip in flips)
        ),
        Verdict(
            "no wrong answer is given", {"flips": len(flips), "wrong": len(wrong), "such as": wrong[:SHOWN]}, not wrong
        ),
        Verdict(
            "`verify` names whatever isn't harmless",
            {
                "detected": sum(flip.detected for flip in flips),
                "in the log": f"{sum(flip.detected for flip in in_log)} of {len(in_log)}, {unused} in unused space",
                "neither detected nor harmless": silent[:SHOWN],
            },
            not silent,
        ),
        Verdict("`verify` changes nothing", {"stores that it changed": changed}, not changed),
        Verdict(
            "an undamaged snapshot is used, and a damaged one isn't",
            {"undamaged ones used": dict(snapshots_used), "damaged ones used": len(trusted)},
            all(snapshots_used.values()) and not trusted,
        ),
    ]


def _counts(flips: Sequence[Flip]) -> dict[str, int]:
    fates = Counter(flip.fate for flip in flips)
    unnoticed = [flip for flip in flips if flip.fate is Fate.RIGHT and not flip.detected]
    discarded = sum(flip.file.startswith(SNAPSHOTS) and not flip.snapshot_used for flip in unnoticed)
    return {
        "flips": len(flips),
        "detected by verify": sum(flip.detected for flip in flips),
        "refused at opening": fates[Fate.REFUSED],
        "refused later": fates[Fate.REFUSED_LATER],
        "detected, answers all right": fates[Fate.RIGHT] - len(unnoticed),
        "snapshot discarded, answers all right": discarded,
        "harmless": len(unnoticed) - discarded,
        "the process died": fates[Fate.DIED],
        "WRONG": fates[Fate.WRONG],
    }


def _describe(flip: Flip) -> str:
    return f"{flip.store}/{flip.file} at {flip.offset} ^ {flip.mask:#04x}: {flip.fate.value}: {flip.why}"
