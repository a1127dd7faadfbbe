"""The command line: what a person does with the memory, and how an agent's client starts the server.

Each command imports what it needs when it runs, so that `--help` starts at once; `serve` imports no other command.
"""

import os
import sys


def app() -> None:
    """Do what the arguments of this process say."""
    from actors.proxy import serve_command as command

    os.umask(0o077)  # DuckDB's files, too, are for their owner alone

    if (plain := command.parse_plain(sys.argv[1:])) is not None:
        sys.exit(command.run_proxy(plain))
    from actors.cli.commands import program

    program()
