"""The commands. Importing this package registers each of them on `program`."""

from actors.cli.commands import audit, hooks, import_export, maintenance, memories, mind, serve, sleep, store
from actors.cli.program import app as program

__all__ = [
    "audit",
    "hooks",
    "import_export",
    "maintenance",
    "memories",
    "mind",
    "program",
    "serve",
    "sleep",
    "store",
]
