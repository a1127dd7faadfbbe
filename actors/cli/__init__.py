"""The command line: for people, and for clients that start the server.

Each command imports what it needs when it runs, so that `--help` and `serve` start fast.
"""

import os
import sys


def app() -> None:
    """Run the command line of this process."""
    from actors.proxy import serve_command as command

    os.umask(0o077)  # also for the files that DuckDB creates

    if (plain := command.parse_plain(sys.argv[1:])) is not None:
        sys.exit(command.run_proxy(plain))
    from actors.cli.commands import program

    program()
