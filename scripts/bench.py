"""Measurements: retrieval on a BEIR folder, latency, the mind at work, sleep, crashes, scale, and a fuzzer."""

from benchmarks.crash.command import crash
from benchmarks.fuzz.command import fuzz
from benchmarks.latency import latency
from benchmarks.mind.command import mind
from benchmarks.retrieval import retrieval
from benchmarks.scale.command import scale
from benchmarks.sleep.command import sleep
from typer import Typer

app = Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
app.command()(retrieval)
app.command()(latency)
app.command()(mind)
app.command()(sleep)
app.command()(crash)
app.command()(scale)
app.command()(fuzz)

if __name__ == "__main__":
    app()
