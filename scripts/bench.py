"""The commands of scripts/bench, one for each benchmark."""

from benchmarks.causes.command import causes
from benchmarks.cluster.command import cluster
from benchmarks.corrections.command import corrections
from benchmarks.crash.command import crash
from benchmarks.fuzz.command import fuzz
from benchmarks.mind import mind
from benchmarks.peers.command import peers
from benchmarks.relevance import relevance
from benchmarks.retrieval.command import retrieval
from benchmarks.retrieval.passages import passages
from benchmarks.similarity import similarity
from benchmarks.sleep.command import sleep
from benchmarks.speed.dashboard import dashboard
from benchmarks.speed.index import index
from benchmarks.speed.latency import latency
from benchmarks.speed.scale import scale
from benchmarks.topics import topics
from typer import Typer

app = Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
MEMORY = (retrieval, passages, relevance, similarity, mind, topics, sleep, causes, corrections)
SERVER = (latency, crash, cluster, scale, dashboard, index, peers, fuzz)
for command in (*MEMORY, *SERVER):
    app.command()(command)

if __name__ == "__main__":
    app()
