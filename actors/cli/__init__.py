"""The command line: what a person does with the memory, and how an agent's client starts the server.

Each command imports what it needs when it runs, so that `--help` and `serve` start at once.
"""

from actors.cli import memories, mind, stores
from actors.cli.program import app

__all__ = ["app", "memories", "mind", "stores"]
