"""`python -m actors` runs the `context-graph` command."""

from actors.cli import app

app()
