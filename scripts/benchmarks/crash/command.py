"""`scripts/bench crash`: runs both campaigns and judges them: nothing lost, nothing done twice, no wrong answer."""

import shutil
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Annotated

import anyio
from typer import Option

from benchmarks import SEED
from benchmarks.crash import killed_commands
from benchmarks.crash.bit_flips import Fate, Flip, flip_bytes
from benchmarks.crash.damaged_store import SNAPSHOTS, build
from benchmarks.crash.killed_commands import kill_commands
from benchmarks.crash.kills import Outcome, campaign
from benchmarks.report import JsonOption, Verdict, counter, publish, workplace

SHOWN = 5
"""Examples in a report of what went wrong."""
READABLE = 0.98
"""Least share of the memories outside the changed row that must be answered as before."""
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
    acknowledged = {
        "kills": dict(Counter(kill.victim.value for kill in outcome.kills)),
        "aimed at": dict(Counter(kill.aim for kill in outcome.kills)),
        "under way": dict(Counter(action for kill in outcome.kills for action in kill.under_way)),
        "compared": f"{len(outcome.comparisons)} times",
        "acknowledged": last.acknowledged if last else 0,
        "found": last.found if last else 0,
        "lost": len(lost) + len(files.missing),
        "not as acknowledged": lost[:SHOWN],
        "missed by searches and retrievals": outcome.missed,
    }
    repeated = {
        "sent again by the clients": outcome.resent,
        "duplicated": len(files.duplicated),
        "memories beyond those acknowledged": surplus,
    }
    opened = {"gave up": list(outcome.failures), "processes that ended before the handshake": outcome.failed_starts}
    problems = [f"{one.file}: {one.what}" for one in files.report.problems][:SHOWN]
    leaked = {"erased memories": files.erased, "words or embeddings found": list(files.leaked[:SHOWN])}
    answered = {
        "requests": outcome.requests,
        "unanswered": len(outcome.failures),
        "answered with an error": dict(outcome.errors.most_common(SHOWN)),
        "longest stall, s": outcome.longest,
        "until all were answered again, s": {"median": median(seconds), "most": max(seconds)},
        "usual, s": outcome.seconds,
    }
    kept = not lost and not files.missing and last is not None and not outcome.missed
    return [
        Verdict("what was acknowledged is there as it was acknowledged", acknowledged, kept),
        Verdict("a request that was sent again is done once", repeated, not files.duplicated and surplus == 0),
        Verdict(OPENS, opened, not outcome.failures),
        Verdict("the chain is intact", {"events": files.report.events, "problems": problems}, not problems),
        Verdict("what was erased is in no file", leaked, not files.leaked),
        Verdict("every request is answered without an error", answered, not outcome.failures and not outcome.errors),
    ]


def judge_flips(flips: Sequence[Flip], snapshots_used: Mapping[str, bool]) -> list[Verdict]:
    """Judge the effects of changed bytes, file by file, and whether undamaged snapshots were used."""
    wrong = [_describe(flip) for flip in flips if flip.fate in {Fate.WRONG, Fate.DIED}]
    trusted = [flip for flip in flips if flip.file.startswith(SNAPSHOTS) and flip.snapshot_used]
    silent = [_describe(flip) for flip in flips if not flip.detected and flip.fate is not Fate.RIGHT]
    in_log = [flip for flip in flips if flip.file in LOG]
    unused = sum(not flip.detected and flip.fate is Fate.RIGHT for flip in in_log)
    changed = sum(flip.changed for flip in flips)
    named = {
        "detected": sum(flip.detected for flip in flips),
        "in the log": f"{sum(flip.detected for flip in in_log)} of {len(in_log)}, {unused} in unused space",
        "neither detected nor harmless": silent[:SHOWN],
    }
    unrepaired = [flip for flip in flips if flip.unrepaired is not None or flip.lost > 1]
    repaired = {
        "repaired": sum(flip.detected for flip in flips) - len(unrepaired),
        "events lost at most": max((flip.lost for flip in flips), default=0),
        "not repaired, or more than one event lost": [
            f"{_describe(flip)}: {flip.unrepaired or flip.lost}" for flip in unrepaired[:SHOWN]
        ],
    }
    hidden = [_describe(flip) for flip in flips if flip.readable < READABLE]
    shown = {
        "least share": min((round(flip.readable, 3) for flip in flips), default=1.0),
        "stored into": sum(flip.stored for flip in flips),
        "below": hidden[:SHOWN],
    }
    used = {"undamaged ones used": dict(snapshots_used), "damaged ones used": len(trusted)}
    by_file: dict[str, list[Flip]] = defaultdict(list)
    for flip in flips:
        by_file[f"{flip.store}: {flip.file}"].append(flip)
    return [
        *(Verdict(file, _counts(of_file)) for file, of_file in by_file.items()),
        Verdict("no wrong answer is given", {"flips": len(flips), "wrong": wrong[:SHOWN]}, not wrong),
        Verdict(f"{READABLE} of the memories outside the changed row are readable", shown, not hidden),
        Verdict("`verify` names whatever isn't harmless", named, not silent),
        Verdict("`repair` keeps all events but the one whose byte changed", repaired, not unrepaired),
        Verdict("`verify` changes nothing", {"stores that it changed": changed}, not changed),
        Verdict(
            "an undamaged snapshot is used, and a damaged one isn't", used, all(snapshots_used.values()) and not trusted
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
        "read-only, the rest all right": fates[Fate.READ_ONLY],
        "refused later": fates[Fate.REFUSED_LATER],
        "detected, answers all right": fates[Fate.RIGHT] - len(unnoticed),
        "snapshot discarded, answers all right": discarded,
        "harmless": len(unnoticed) - discarded,
        "the process died": fates[Fate.DIED],
        "WRONG": fates[Fate.WRONG],
    }


def _describe(flip: Flip) -> str:
    return f"{flip.store}/{flip.file} at {flip.offset} ^ {flip.mask:#04x}: {flip.fate.value}: {flip.why}"


def crash(
    kills: Annotated[int, Option(min=0, help="How many kills.")] = 100,
    clients: Annotated[int, Option(min=1, help="Windows on the store.")] = 4,
    flips: Annotated[int, Option(min=0, help="How many bytes are changed.")] = 300,
    commands: Annotated[int, Option(min=0, help="How many imports, backups, repairs and upgrades are killed.")] = 0,
    seed: Annotated[int, Option(help="Of the load, the moments and the bytes.")] = SEED,
    keep: Annotated[Path | None, Option(file_okay=False, help="Where stores and journals are left.")] = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Kill servers and windows under a mixed load, change bytes of their files, and report losses and wrong answers."""
    sections: dict[str, list[Verdict]] = {}
    with workplace() as (temporary, bar):
        scratch = temporary if keep is None else _emptied(keep)
        if kills:
            advance = counter(bar, "kill -9", kills)
            outcome = campaign(scratch / "store", scratch, kills, clients, seed, advance)
            sections["kill -9"] = judge_kills(outcome)
        if flips:
            damaged = scratch / "damaged"
            damaged.mkdir()
            stores, questions = anyio.run(build, damaged)
            found = flip_bytes(stores, questions, damaged, flips, seed, counter(bar, "flips", flips))
            sections["flipped bytes"] = judge_flips(*found)
        if commands:
            folder = scratch / "commands"
            folder.mkdir()
            trials = kill_commands(folder, commands, seed, counter(bar, "killed commands", commands))
            sections["kill -9 of commands"] = killed_commands.judge(trials)
    publish(sections, as_json=as_json, seed=seed)


def _emptied(folder: Path) -> Path:
    """Return the folder without the results of an earlier campaign."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("store", "damaged", "commands"):
        shutil.rmtree(folder / name, ignore_errors=True)
    for path in (*folder.glob("journal-*.jsonl"), *folder.glob("window-*.err")):
        path.unlink()
    return folder
