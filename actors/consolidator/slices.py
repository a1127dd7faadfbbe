"""Long work in slices: a generator that yields wherever others may be answered, or the work given up."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, TypeAlias, TypeVar

import msgspec

from actors.runtime.messages import Cancellable
from actors.runtime.reply import Reply

T = TypeVar("T")

Work: TypeAlias = Generator[None, None, T]
"""Nothing that it decides may be appended before its last slice."""


class SlicedJob(msgspec.Struct):
    """Work that was asked for, and who waits for its result."""

    message: Cancellable
    work: Work[Any]
    future: Reply[Any]
