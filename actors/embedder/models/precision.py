"""The number format of the model's products: float32 or bfloat16, whichever a measurement on this machine found faster.

The flags of a processor do not tell: some have bfloat16 instructions and are slower with them. The measurement is made
when the models load for the first time, and remembered by processor, version of the runtime and number of threads. A
store made in one precision opens in the other: sentence vectors of the two have cosines above .9999.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from importlib.metadata import version
from itertools import product
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Final

import msgspec

from actors.embedder.models.graph_cache import RUNTIME, cache_folder, machine
from actors.runtime.types import JsonObject
from events.storage.durable import replace_file

if TYPE_CHECKING:
    from actors.embedder.models.bert import Bert

VARIABLE: Final = "CONTEXT_GRAPH_PRECISION"
"""Environment variable that selects the precision instead of the measurement."""
AUTO: Final = "auto"
PRECISIONS: Final = (AUTO, "float32", "bfloat16")

SAMPLE: Final = [[101, *range(2000, 2000 + length), 102] for length in (12, 26, 26, 40)]
"""The rows that are measured: the length of short memories."""
ROUNDS: Final = 7
"""Passes in each precision, by turns. The fastest of each counts, so that other work on the machine does not."""


class Measurement(msgspec.Struct, frozen=True):
    """What was found on one machine."""

    precision: str
    milliseconds: dict[str, float]
    """The fastest pass over `SAMPLE` in each precision."""


def requested(precision: str | None = None) -> str:
    """Return the precision that is asked for: the argument, else the environment's, else `auto` (`ValueError`)."""
    precision = precision or os.environ.get(VARIABLE) or AUTO
    if precision not in PRECISIONS:
        raise ValueError(f"{VARIABLE} is {precision!r}; it must be one of {', '.join(PRECISIONS)}")
    return precision


def fastest(load: Callable[[str], Bert], threads: int) -> Bert:
    """Return the model in the precision remembered for this machine; measure both if none is, in half a second."""
    known = recall(threads)
    if known is not None:
        with suppress(ValueError):  # the file may come from another machine
            return load(known.precision)
    candidates = {"float32": load("float32")}
    with suppress(ValueError):  # the processor has no bfloat16
        candidates["bfloat16"] = load("bfloat16")
    times = dict.fromkeys(candidates, float("inf"))
    for _, (precision, model) in product(range(ROUNDS), candidates.items()):
        start = perf_counter()
        model(SAMPLE)
        times[precision] = min(times[precision], (perf_counter() - start) * 1e3)
    chosen = min(times, key=times.__getitem__)
    _remember(threads, Measurement(chosen, times))
    return candidates[chosen]


def describe() -> JsonObject:
    """Return the runtime, the precision and how it was chosen, without loading anything.

    Before the first measurement the precision is None.
    """
    asked = os.environ.get(VARIABLE) or AUTO
    known = recall(threads=1)
    measured = known.precision if known else None
    return {
        "name": RUNTIME,
        "version": version(RUNTIME),
        "precision": measured if asked == AUTO else asked,
        "chosen_by": VARIABLE if asked != AUTO else "measurement",
        "measured_ms": known.milliseconds if known else {},
    }


def recall(threads: int) -> Measurement | None:
    """Return what was measured on this machine; None if nothing was, or the file can't be read."""
    return _read().get(_key(threads))


def _path() -> Path:
    return cache_folder() / "precision.json"


def _key(threads: int) -> str:
    return f"{machine()}, {threads} threads"


def _read() -> dict[str, Measurement]:
    with suppress(OSError, msgspec.DecodeError):
        return msgspec.json.decode(_path().read_bytes(), type=dict[str, Measurement])
    return {}


def _remember(threads: int, measurement: Measurement) -> None:
    with suppress(OSError):  # then the next process measures again
        _path().parent.mkdir(parents=True, exist_ok=True)
        replace_file(_path(), msgspec.json.encode(_read() | {_key(threads): measurement}))
