"""Metrics and traces: what a monitoring system reads, and who may read it."""

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from actors.api.caller import Scope
from actors.api.context import Context
from actors.api.mcp.telemetry import ENDPOINT, configure_export
from actors.runtime.metrics import Latencies
from tests.actors.conftest import Agent
from tests.actors.http.conftest import Serve, Served

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def spans() -> InMemorySpanExporter:
    """What is exported, from here on until the process ends: OpenTelemetry takes one provider only."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    return exporter


async def _use(agent: Agent) -> None:
    await agent.call("store_memory", content="Rye is sown in autumn.", namespace="farm")
    await agent.call("search_graph", query="When is rye sown?", namespace="farm")


async def test_a_key_of_all_namespaces_reads_metrics_that_add_up(served: Served) -> None:
    key = served.key("prometheus")
    async with served.agent(key) as agent:
        await _use(agent)
    async with served.client(key) as client:
        text = (await client.get("/metrics")).text
    async with served.client(served.key("farm", Scope.ADMIN, ("farm",))) as client:
        assert (await client.get("/metrics")).status_code == 403
    async with served.client() as client:
        assert (await client.get("/metrics")).status_code == 401
    samples = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    assert samples['context_graph_memories{state="live"}'] == "1"
    assert int(samples['context_graph_http_answers_total{status="200"}']) >= 2
    counts = {name: value for name, value in samples.items() if name.startswith("context_graph_latency_seconds_count")}
    assert counts
    for name, count in counts.items():
        work = name.removeprefix("context_graph_latency_seconds_count").rstrip("}")
        assert samples[f'context_graph_latency_seconds_bucket{work},le="+Inf"}}'] == count


def test_a_histogram_counts_each_sample_once_in_the_bucket_of_its_size() -> None:
    latencies = Latencies()
    for milliseconds in (0.2, 1.0, 1.1, 60_000.0):
        latencies.record("work", milliseconds)
    found = latencies.histograms()["work"]
    assert (found.counts[0], found.counts[1], found.counts[-1], sum(found.counts)) == (2, 1, 1, 4)
    assert found.total == pytest.approx(60_002.3)


async def test_the_stages_of_a_request_are_spans_below_the_trace_that_its_sender_names(
    context: Context, serve: Serve, spans: InMemorySpanExporter
) -> None:
    async with serve(context) as served, served.agent(served.key("traced")) as agent:
        await _use(agent)
        spans.clear()
        with trace.get_tracer("sender").start_as_current_span("sender") as sender:
            await agent.call("search_graph", query="When is rye sown?", namespace="farm")
    sent = sender.get_span_context().trace_id
    finished = [span for span in spans.get_finished_spans() if span.context.trace_id == sent]
    names = [span.name for span in finished]
    assert {"tools/call search_graph", "EmbedQuery", "Search", "Describe"} <= set(names)
    (request,) = (span for span in finished if span.name == "tools/call search_graph" and span.kind.name == "SERVER")
    stages = [span for span in finished if span.name in {"EmbedQuery", "Search", "Describe"}]
    assert {span.parent.span_id for span in stages if span.parent} == {request.context.span_id}
    assert "rye" not in str([span.to_json() for span in finished]).lower()


def test_nothing_is_exported_unless_a_collector_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ENDPOINT, raising=False)
    before = trace.get_tracer_provider()
    configure_export()
    assert trace.get_tracer_provider() is before
