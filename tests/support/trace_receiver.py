"""A small OTLP receiver over HTTP: it keeps the spans that it is sent."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.support.loopback_server import served


@dataclass(frozen=True)
class Span:
    name: str
    id: str
    parent: str
    trace: str
    attributes: dict[str, Any]
    failed: bool


@dataclass
class TraceReceiver:
    url: str = ""
    spans: list[Span] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    """All that was sent, as it came."""

    def named(self, name: str) -> Span:
        (span,) = [span for span in self.spans if span.name == name]
        return span


@contextmanager
def trace_receiver() -> Iterator[TraceReceiver]:
    """The receiver, on a free port of this machine."""
    state = TraceReceiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = ExportTraceServiceRequest()
            state.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
            request.ParseFromString(state.bodies[-1])
            state.spans.extend(
                Span(
                    span.name,
                    span.span_id.hex(),
                    span.parent_span_id.hex(),
                    span.trace_id.hex(),
                    {item.key: _value(item.value) for item in span.attributes},
                    span.status.code == 2,
                )
                for resource in request.resource_spans
                for scope in resource.scope_spans
                for span in scope.spans
            )
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            """Quiet: a test's output is its own."""

    with served(Handler) as state.url:
        yield state


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_value(item) for item in value.array_value.values]
    return getattr(value, kind)
