"""Rate limits of tools in each session: a sliding window of one minute.

Only consolidate_memories, which rewrites memories, is limited by default.
"""

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping
from math import ceil
from time import monotonic

from actors.api.params.parsing import Params
from actors.api.tools.agent_tools import BY_NAME
from actors.runtime.faults import InvalidParamsFault, RateLimitFault

WINDOW = 60.0
"""Seconds for which a call counts."""

DEFAULT: Mapping[str, int] = {"consolidate_memories": 1}
"""Calls a minute by tool."""


class Limits:
    """The recent calls of one session, or of each caller over HTTP. A tool and its JSON-RPC method share one limit.

    A tool that `per_minute` doesn't name is not limited. Dry runs are counted apart: the run that they prepare may
    follow at once.
    """

    def __init__(self, per_minute: Mapping[str, int] = DEFAULT, clock: Callable[[], float] = monotonic) -> None:
        self._per_minute = per_minute
        self._clock = clock
        self._calls: defaultdict[tuple[str, str, bool], deque[float]] = defaultdict(deque)

    def take(self, tool: str, params: Params | None = None, caller: str = "") -> None:
        """Count a call of a tool by a caller; a `RateLimitFault`, and no count, if the limit is reached."""
        limit = self._per_minute.get(tool)
        if limit is None:
            return
        now = self._clock()
        is_dry = getattr(params, "dry_run", False)
        calls = self._calls[caller, tool, is_dry]
        while calls and calls[0] <= now - WINDOW:
            calls.popleft()
        if len(calls) >= limit:
            wait = calls[0] + WINDOW - now
            what = f"'{tool}' as a dry run" if is_dry else f"'{tool}'"
            raise RateLimitFault(
                f"Rate limit of {what}: {limit} a minute in each session; try again in {ceil(wait)} s",
                retry_after_ms=ceil(wait * 1_000),
                limit=limit,
            )
        calls.append(now)


def limits_of(settings: Iterable[str]) -> dict[str, int]:
    """Parse settings like `store_memory=50,search_graph=200`, and add them to the default (`InvalidParamsFault`)."""
    limits = dict(DEFAULT)
    for setting in (part.strip() for line in settings for part in line.split(",") if part.strip()):
        name, _, number = (part.strip() for part in setting.partition("="))
        if name not in BY_NAME:
            raise InvalidParamsFault(f"Invalid limit '{setting}': no tool is named '{name}'", parameter="limit")
        if not (number.isascii() and number.isdecimal() and int(number)):
            problem = "expected the name of a tool and a whole number of calls a minute, as in store_memory=50"
            raise InvalidParamsFault(f"Invalid limit '{setting}': {problem}", parameter="limit")
        limits[BY_NAME[name].name] = int(number)
    return limits
