"""Commands. Importing this package registers each of them on `program`."""

from actors.cli.commands import (
    anchor,
    audit,
    doctor,
    hooks,
    http,
    import_export,
    inspection,
    install,
    maintenance,
    memories,
    move,
    namespaces,
    review,
    scan,
    serve,
    sleep,
)
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
    "scan",
    "serve",
    "sleep",
]

program.registered_commands.sort(key=lambda command: list(Panel).index(Panel(command.rich_help_panel)))
