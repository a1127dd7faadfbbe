"""What a check of `doctor` says: its verdict, what it found, and what to do."""

from enum import StrEnum

import msgspec


class Verdict(StrEnum):
    """How a check ended."""

    OK = "ok"
    WARNING = "warning"
    """It works, but not as it should."""
    FAILED = "failed"


class Check(msgspec.Struct, frozen=True):
    """The result of one check."""

    name: str
    verdict: Verdict
    found: str
    advice: str = ""


def passed(name: str, found: str) -> Check:
    """Return a check that found nothing wrong."""
    return Check(name, Verdict.OK, found)


def warned(name: str, found: str, advice: str) -> Check:
    """Return a check that found something that works, but not as it should."""
    return Check(name, Verdict.WARNING, found, advice)


def failed(name: str, found: str, advice: str) -> Check:
    """Return a check that found something that does not work."""
    return Check(name, Verdict.FAILED, found, advice)
