"""Commands. Importing this package registers each of them on `program`."""

from actors.cli.commands.agents import hooks, http, install, route, serve
from actors.cli.commands.memory import inspection, memories, namespaces, review, sleep
from actors.cli.commands.store import anchor, audit, doctor, import_export, maintenance, move, scan, upgrade
from actors.cli.program import Panel
from actors.cli.program import app as program

__all__ = [
    "anchor",
    "audit",
    "doctor",
    "hooks",
    "http",
    "import_export",
    "inspection",
    "install",
    "maintenance",
    "memories",
    "move",
    "namespaces",
    "program",
    "review",
    "route",
    "scan",
    "serve",
    "sleep",
    "upgrade",
]

program.registered_commands.sort(key=lambda command: list(Panel).index(Panel(command.rich_help_panel)))
