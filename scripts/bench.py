"""Measurements: retrieval on a BEIR folder, latency beside a bare forward pass, the mind at work, and sleep."""

from benchmarks.latency import latency
from benchmarks.mind.command import mind
from benchmarks.retrieval import retrieval
from benchmarks.sleep.command import sleep
from typer import Typer

app = Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
app.command()(retrieval)
app.command()(latency)
app.command()(mind)
app.command()(sleep)

if __name__ == "__main__":
    app()
