"""Commands. Importing this package registers each of them on `program`."""

from actors.cli.commands import (
    audit,
    hooks,
    import_export,
    inspection,
    maintenance,
    memories,
    scan,
    serve,
    sleep,
)
from actors.cli.program import Panel
from actors.cli.program import app as program

__all__ = [
    "audit",
    "hooks",
    "import_export",
    "inspection",
    "maintenance",
    "memories",
    "program",
    "scan",
    "serve",
    "sleep",
]

program.registered_commands.sort(key=lambda command: list(Panel).index(Panel(command.rich_help_panel)))
