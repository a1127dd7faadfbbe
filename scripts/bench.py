"""Measurements: retrieval quality on a BEIR folder, latency beside a bare forward pass, and whether the mind acts."""

from benchmarks.latency import latency
from benchmarks.mind.command import mind
from benchmarks.retrieval import retrieval
from typer import Typer

app = Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
app.command()(retrieval)
app.command()(latency)
app.command()(mind)

if __name__ == "__main__":
    app()
