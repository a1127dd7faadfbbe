"""The command line: for people, and for clients that start the server.

Each command imports what it needs when it runs, so that `--help` starts fast; `serve` and hooks start without typer.
"""

import atexit
import gc
import os
import signal
import sys
from contextlib import suppress
from io import TextIOWrapper
from pathlib import Path
from typing import Final

PROCESSOR: Final = Path("/proc/cpuinfo")
"""What Linux says of the processor."""


def app() -> None:
    """Run the command line of this process, and end it."""
    _open_closed_streams()
    status: list[int] = []
    atexit.register(_leave, status)  # first, so that it is called last
    try:
        _run(status)
    except KeyboardInterrupt:  # while modules are imported; later typer ends the command so
        sys.exit(128 + signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # the command is done: another Ctrl-C ends the process, silently


def _open_closed_streams() -> None:
    """Open standard streams that the caller closed, as by `<&-`, before files and sockets get their numbers.

    Input is empty, and nothing is written: for output that is an error, as everywhere.
    """
    for name, access in (("stdin", os.O_RDONLY), ("stdout", os.O_RDONLY), ("stderr", os.O_WRONLY)):
        if getattr(sys, name) is None:
            mode = "r" if name == "stdin" else "w"
            setattr(sys, name, os.fdopen(os.open(os.devnull, access), mode, encoding="utf-8"))


def _leave(status: list[int]) -> None:
    """End a process whose status is known. To free all its objects first takes a tenth of a short command's time."""
    if status:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):  # full or closed
                stream.flush()
        os._exit(status[0])


def _run(status: list[int]) -> None:
    from actors.proxy import serve_command as command

    os.umask(0o077)  # also for the files that DuckDB creates

    if (plain := command.parse_plain(sys.argv[1:])) is not None:
        sys.exit(command.run_proxy(plain))
    if sys.argv[1:2] == ["hook"]:
        from actors.cli.hooks import run_hook

        return run_hook(sys.argv[2:])
    _refuse_old_processor()
    # Imports create 200,000 objects that stay. With the default of 700, collections take 0.2 s of a hub's start, and
    # less than half of that with this.
    gc.set_threshold(5_000)
    from actors.cli.commands import program
    from events.wording import reason

    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a terminal or a pipe need not be UTF-8, as on Windows
    try:
        try:
            program()
        finally:
            sys.stdout.flush()
    except SystemExit as end:
        if isinstance(end.code, int):
            status.append(end.code)
        raise
    except OSError as error:  # of standard output, such as a reader that is gone: others have become a sentence before
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or else the interpreter reports it too
        is_told = isinstance(before := error.__context__, SystemExit) and before.code
        sys.exit(1 if is_told or isinstance(error, BrokenPipeError) else f"context-graph: {reason(error)}")


def _refuse_old_processor() -> None:
    """End with a sentence where DuckDB's library for Linux would end the process with an illegal instruction."""
    with suppress(OSError), PROCESSOR.open(encoding="utf-8") as lines:
        flags = next((line for line in lines if line.startswith("flags")), "")  # processors of x86 only have this line
        if flags and "avx2" not in flags.split():
            sys.exit("context-graph: this processor has no AVX2 instructions, which DuckDB needs")
