"""Commands. Importing this package registers each of them on `program`."""

from actors.cli.commands.agents import http, install, serve  # noqa: F401 -- imported to be registered, as below
from actors.cli.commands.memory import memories, review, tidying  # noqa: F401
from actors.cli.commands.store import conversion, import_export, maintenance, trust  # noqa: F401
from actors.cli.program import Panel
from actors.cli.program import app as program

program.registered_commands.sort(key=lambda command: list(Panel).index(Panel(command.rich_help_panel)))
