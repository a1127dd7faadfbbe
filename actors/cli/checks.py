"""What a check of `doctor` says: its verdict, what it found, and what to do."""

from enum import StrEnum
from functools import partial

import msgspec


class Verdict(StrEnum):
    """How a check ended."""

    OK = "ok"
    WARNING = "warning"
    """It works, but not as it should."""
    FAILED = "failed"


class Check(msgspec.Struct, frozen=True):
    """The result of one check."""

    verdict: Verdict
    name: str
    found: str
    advice: str = ""


passed = partial(Check, Verdict.OK)
warned = partial(Check, Verdict.WARNING)
failed = partial(Check, Verdict.FAILED)
