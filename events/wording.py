"""Words for sentences that a person or an agent reads: counts, reasons of the system."""

import re
import shlex
from pathlib import Path
from typing import Final

COMMANDS: Final = (
    *("anchor", "audit", "backup", "calibrate", "candidates", "compare", "consolidate", "consolidations", "diff"),
    *("doctor", "drift", "export", "forget", "goals", "history", "import", "key", "mind", "move", "namespaces"),
    *("passphrase", "reembed", "repair", "replay", "restore", "review", "scan", "schedule", "search", "show", "status"),
    *("stop", "store", "supersede", "ui", "undo", "upgrade", "verify"),
)
"""Commands on a store, which `--data` chooses."""
_COMMAND: Final = re.compile(
    rf"\bcontext-graph (?:(?:key|namespaces) [a-z]+|{'|'.join(COMMANDS)})\b(?!(?:(?!context-graph )[^;`\n])*--data\b)"
)
_VOWELS: Final = frozenset("aeiou")


def counted(count: int, noun: str) -> str:
    """Return a count with its noun in the right number: "1 event", "0 memories", "1,200 files".

    `noun` is regular and in the singular; words may stand before it ("other event").
    """
    if count == 1:
        return f"1 {noun}"
    if noun.endswith("y") and noun[-2] not in _VOWELS:
        return f"{count:,} {noun[:-1]}ies"
    return f"{count:,} {noun}s"


def reason(error: Exception) -> str:
    """Return why something failed; of an error of the system its words and file, without its number."""
    if not isinstance(error, OSError) or error.strerror is None:
        return str(error)
    return error.strerror if error.filename is None else f"{error.strerror}: {error.filename}"


def with_folder(advice: str, folder: Path) -> str:
    """Return advice whose commands name the folder of the store that it is on; those that name one keep it."""
    return _COMMAND.sub(lambda found: f"{found[0]} --data {shlex.quote(str(folder))}", advice)


def no_store_folder(folder: Path, error: OSError) -> str:
    """Return a sentence on a folder that can't be made or written to."""
    return (
        f"no store can be made in {folder} ({error.strerror or error}): "
        "choose another folder by --data or CONTEXT_GRAPH_DATA"
    )
