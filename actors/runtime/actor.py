"""What all actors share: one inbox, one `match`, and how a failure ends.

A handler's exception becomes the reply of an `ask`. A message that was *told* has nobody to answer to:
if it fails, what the actor knows may no longer follow from the log, so the process ends and the
next start replays (crash-only). Pykka itself would drop the actor and its inbox silently.
"""

import logging
import os
from types import TracebackType
from typing import Any

import pykka

from actors.runtime.reply import Reply

LOGGER = logging.getLogger("context-graph")

EXIT_UNCERTAIN = 70
"""Exit status (EX_SOFTWARE) when memory and log may differ and only a replay can tell."""


class Actor(pykka.ThreadingActor):
    """A thread with an inbox; subclasses answer with one `match` over their messages."""

    use_daemon_thread = True  # so that an unhandled error in the main thread can't leave the process hanging

    @staticmethod
    def _create_future() -> Reply[Any]:
        return Reply()

    def on_failure(
        self,
        exception_type: type[BaseException] | None,
        exception_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End the process: a told message failed. Runs in the actor's thread."""
        LOGGER.critical(
            "%s failed on a message that nobody waits for; stopping, the next start replays the log",
            type(self).__name__,
            exc_info=(exception_type, exception_value, traceback) if exception_type and exception_value else None,
        )
        os._exit(EXIT_UNCERTAIN)
