"""Measurements: retrieval quality on a BEIR folder, and latency beside a bare forward pass."""

from benchmarks.latency import latency
from benchmarks.retrieval import retrieval
from typer import Typer

app = Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
app.command()(retrieval)
app.command()(latency)

if __name__ == "__main__":
    app()
