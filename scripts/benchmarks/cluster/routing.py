"""What a router adds: the same requests to a hub directly and through the router, in turns."""

from contextlib import ExitStack, closing
from pathlib import Path
from statistics import median

from context_graph.transports import HttpTransport

from actors.api.caller import Scope
from actors.http.access.keys import KEYS, Keys
from benchmarks.processes import PATIENCE, serving
from benchmarks.report import Times, Verdict
from benchmarks.synthetic import sentences

MEMORIES = 200
"""Of each hub."""
WORDS = 20


def measure_routing(folder: Path, samples: int) -> list[Verdict]:
    """Start two hubs and a router as processes; time searches of one hub directly, through the router, and of both."""
    names = ("one", "two")
    for name in names:
        (folder / name).mkdir(parents=True)
    key = Keys(folder / "one").create("bench", Scope.ADMIN, None)
    (folder / "two" / KEYS).write_bytes((folder / "one" / KEYS).read_bytes())
    with ExitStack() as stack:
        urls = {
            name: stack.enter_context(
                serving("serve", "--http", "127.0.0.1:0", "--namespaces", name, "--data", str(folder / name))
            )
            for name in names
        }
        hubs = [option for name, url in urls.items() for option in ("--hub", f"{name}={url}")]
        route = stack.enter_context(serving("route", "--listen", "127.0.0.1:0", *hubs))
        direct, routed = (
            stack.enter_context(closing(HttpTransport(url, key, None, PATIENCE))) for url in (urls["one"], route)
        )
        texts = iter(sentences(WORDS))
        for name in names:
            for _ in range(MEMORIES):
                routed.call("store_memory", {"content": next(texts), "namespace": name})
        ways = {
            "direct": (direct, {"namespace": "one"}),
            "routed": (routed, {"namespace": "one"}),
            "merged": (routed, {}),
        }
        times = Times()
        for query in (next(texts) for _ in range(samples)):
            for way, (transport, within) in ways.items():
                with times.timed(way):
                    transport.call("search_graph", {"query": query, **within})
    added = [through - without for through, without in zip(times["routed"], times["direct"], strict=True)]
    figures = {f"{way}, ms": quantiles for way, quantiles in times.quantiles().items()}
    return [Verdict("a search through the router", {**figures, "added pair by pair, median ms": median(added)})]
