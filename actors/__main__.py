"""`python -m actors` is `context-graph`, wherever that is installed."""

from actors.cli import app

app()
