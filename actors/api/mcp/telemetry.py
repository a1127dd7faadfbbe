"""OpenTelemetry: the duration of MCP requests, and export where the standard variables ask for it.

Spans are made by the SDK of MCP (a request, below the trace context in its `_meta`) and by `actors.runtime.ask` (its
stages). Without the extra `otel` all of this does nothing, and nothing leaves the machine unless an endpoint is set.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any

from mcp.server import ServerRequestContext
from opentelemetry import metrics, trace

from actors.runtime.faults import Fault

ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
"""The variable with the URL of a collector."""

_DURATION = metrics.get_meter("context-graph").create_histogram(
    "mcp.server.operation.duration", "s", "Duration of an MCP request or notification as observed on the receiver."
)


@contextmanager
def measured(request: ServerRequestContext[Any]) -> Iterator[None]:
    """Record how long a request takes, with its method and tool, and the code of its failure."""
    attributes = {"mcp.method.name": request.method, "mcp.protocol.version": request.protocol_version}
    if request.method == "tools/call" and isinstance(name := (request.params or {}).get("name"), str):
        attributes["gen_ai.tool.name"] = name
    start = perf_counter()
    try:
        yield
    except Exception as error:
        attributes["error.type"] = str(error.code) if isinstance(error, Fault) else type(error).__name__
        raise
    finally:
        _DURATION.record(perf_counter() - start, attributes)


def configure_export() -> None:
    """Export spans and metrics to the collector that `ENDPOINT` names; a `Fault` if the extra isn't installed."""
    if not os.environ.get(ENDPOINT):
        return
    try:
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.metrics import MeterProvider
        from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        raise Fault(f"{ENDPOINT} is set, but the extra is missing: pip install 'context-graph[otel]'") from None
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    metrics.set_meter_provider(MeterProvider([PeriodicExportingMetricReader(OTLPMetricExporter())]))
