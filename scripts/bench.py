"""Measurements: retrieval, similarity, latency, the mind at work, sleep, crashes, scale, index, peers, a fuzzer."""

from benchmarks.crash.command import crash
from benchmarks.fuzz.command import fuzz
from benchmarks.index import index
from benchmarks.latency import latency
from benchmarks.mind.command import mind
from benchmarks.peers.command import peers
from benchmarks.retrieval.command import retrieval
from benchmarks.scale.command import scale
from benchmarks.similarity import similarity
from benchmarks.sleep.command import sleep
from typer import Typer

app = Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
app.command()(retrieval)
app.command()(similarity)
app.command()(latency)
app.command()(mind)
app.command()(sleep)
app.command()(crash)
app.command()(scale)
app.command()(index)
app.command()(peers)
app.command()(fuzz)

if __name__ == "__main__":
    app()
