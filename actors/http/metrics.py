"""`/metrics` in Prometheus' text format: latencies, answers, memories, and how far each actor is behind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import accumulate
from typing import TYPE_CHECKING

from starlette.responses import PlainTextResponse, Response

from actors.api.context import wait_until_replayed
from actors.api.operations.administration.maintenance import COUNTED
from actors.comparator.messages import ReadIndexes
from actors.runtime.ask import ask
from actors.runtime.metrics import BUCKETS, Histogram
from actors.store.messages import ReadStatus

if TYPE_CHECKING:
    from starlette.requests import Request

    from actors.api.context import Context
    from actors.hub.hub import Hub

CONTENT_TYPE = "text/plain; version=0.0.4"
ACTORS = ("store", "comparator", "workspace", "consolidator", "scheduler", "embedder", "linker")


async def metrics(request: Request) -> Response:
    """Answer with the figures of the whole store, to a caller that sees all namespaces."""
    context: Context = request.state.context
    if context.caller is not None and context.caller.is_limited:
        return PlainTextResponse("Metrics need a key for all namespaces\n", 403)
    await wait_until_replayed(context)
    status = await ask(context.hub.store, ReadStatus())
    states = {f'{{state="{name}"}}': getattr(status, name) for name in COUNTED}
    indexes = await ask(context.hub.comparator, ReadIndexes())
    lags = {f'{{space="{space}"}}': state.lag for space, state in indexes.states.items()}
    answers: Mapping[int, int] = request.app.state.answers
    lines = [
        *_family("memories", "gauge", "Memories by their state.", states),
        *_family("log_events", "counter", "Events in the log.", {"": status.head.seq}),
        *_family("read_only", "gauge", "1 if nothing can be written.", {"": int(status.read_only is not None)}),
        *_family("index_lag", "gauge", "Vectors that a search scans, since they aren't in the graph yet.", lags),
        *_family("actor_inbox", "gauge", "Messages that wait for each actor.", _inboxes(context.hub)),
        *_family(
            "http_answers_total",
            "counter",
            "HTTP answers by their status.",
            {f'{{status="{code}"}}': count for code, count in sorted(answers.items())},
        ),
        *_histograms(context.hub.latencies.histograms()),
    ]
    return PlainTextResponse("\n".join(lines) + "\n", media_type=CONTENT_TYPE)


def _inboxes(hub: Hub) -> dict[str, int]:
    refs = {name: getattr(hub, name) for name in ACTORS}
    return {f'{{actor="{name}"}}': ref.actor_inbox.qsize() for name, ref in refs.items() if ref is not None}


def _family(name: str, kind: str, what: str, samples: Mapping[str, float]) -> Iterator[str]:
    """Yield the lines of a metric, one for each labelled sample."""
    yield f"# HELP context_graph_{name} {what}"
    yield f"# TYPE context_graph_{name} {kind}"
    for labels, value in samples.items():
        yield f"context_graph_{name}{labels} {value}"


def _histograms(found: Mapping[str, Histogram]) -> Iterator[str]:
    name = "context_graph_latency_seconds"
    yield f"# HELP {name} Duration of each kind of work."
    yield f"# TYPE {name} histogram"
    bounds = [*(f"{bound / 1e3:g}" for bound in BUCKETS), "+Inf"]
    for work, one in found.items():
        for bound, count in zip(bounds, accumulate(one.counts), strict=True):
            yield f'{name}_bucket{{work="{work}",le="{bound}"}} {count}'
        yield f'{name}_sum{{work="{work}"}} {one.total / 1e3:.6f}'
        yield f'{name}_count{{work="{work}"}} {sum(one.counts)}'
