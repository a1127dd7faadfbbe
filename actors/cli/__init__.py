"""The command line: what a person does with the memory, and how an agent's client starts the server.

Each command imports what it needs when it runs, so that `--help` and `serve` start at once.
"""

from actors.cli import hooks, memories, mind, sleep, stores
from actors.cli.program import app

__all__ = ["app", "hooks", "memories", "mind", "sleep", "stores"]
