"""Optional: spans for model, tool and turn, in OpenTelemetry's GenAI conventions, below promptfoo's own trace.

They appear in the viewer's trace view, and promptfoo's `trajectory:*` assertions read them. Tracing is on when
promptfoo passes a `traceparent` (`tracing: {enabled: true}`). Spans go to OTEL_EXPORTER_OTLP_ENDPOINT, or to
promptfoo's own receiver on port 4318. The packages are in the extra `tracing`; without them an episode runs without
spans and says so.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from endpoints.redaction import brief, describe, redact
from providers.stderr_log import get_logger

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
    from opentelemetry.sdk.trace.export import SpanExportResult
    from opentelemetry.trace import Span

    from models.deadline import Deadline
    from models.protocol import Model, ModelReply, ModelRequest
    from providers.agent.tool_server import ToolAnswer, ToolInfo, ToolServer

DEFAULT_ENDPOINT = "http://localhost:4318"
ENDPOINT_VARIABLE = "OTEL_EXPORTER_OTLP_ENDPOINT"
FLUSH_MS = 2_000
MAX_TEXT = 4_000
"""Characters of one attribute; a trace is for looking at, the record is the evidence."""

Attributes = Mapping[str, str | int | float | bool | Sequence[str]]

logger = get_logger()
_current: ContextVar[EpisodeTrace | None] = ContextVar("episode trace", default=None)
_provider: TracerProvider | None = None
_gave_up = False


def current_trace() -> EpisodeTrace | None:
    """The trace of the episode that this task belongs to."""
    return _current.get()


def turn_span(agent: str, number: int) -> AbstractContextManager[None]:
    """A span around one turn, if the episode is traced."""
    trace = _current.get()
    return nullcontext() if trace is None else trace.turn(agent, number)


class EpisodeTrace:
    """The spans of one episode."""

    def __init__(self, provider: TracerProvider, parent: Context) -> None:
        self._provider = provider
        self._tracer = provider.get_tracer("agent-evals")
        self._parent = parent

    @contextmanager
    def episode(self, case_id: str) -> Iterator[None]:
        """The span that all others of the episode are below; sent when it ends."""
        token = _current.set(self)
        attributes: Attributes = {"promptfoo.case.id": case_id}
        try:
            with self._open(f"episode {case_id}".strip(), context=self._parent, attributes=attributes):
                try:
                    yield
                finally:
                    _current.reset(token)
        finally:
            self._provider.force_flush(FLUSH_MS)

    @contextmanager
    def turn(self, agent: str, number: int) -> Iterator[None]:
        attributes: Attributes = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": agent,
            "gen_ai.turn.index": number,
        }
        with self._open(f"invoke_agent {agent}", attributes=attributes):
            yield

    def model(self, role: str, model: Model) -> Model:
        """The model, with a span for each request."""
        return _TracedModel(self, role, model)

    def server(self, server: ToolServer) -> ToolServer:
        """The server, with a span for each call."""
        return _TracedServer(self, server)

    @contextmanager
    def span(self, name: str, attributes: Attributes) -> Iterator[dict[str, Any]]:
        """A client span; what the block puts into the yielded dict becomes attributes, `error` becomes its status."""
        from opentelemetry.trace import SpanKind, Status, StatusCode

        with self._open(name, kind=SpanKind.CLIENT, attributes=attributes) as span:
            more: dict[str, Any] = {}
            yield more
            error = more.pop("error", "")
            if error:
                span.set_status(Status(StatusCode.ERROR, error))
            span.set_attributes(more)

    @contextmanager
    def _open(self, name: str, **options: Any) -> Iterator[Span]:
        """A span that ends with the block. An exception becomes its status, masked, and not a stack trace as it is."""
        from opentelemetry.trace import Status, StatusCode

        options |= {"record_exception": False, "set_status_on_exception": False}
        with self._tracer.start_as_current_span(name, **options) as span:
            try:
                yield span
            except Exception as error:
                span.set_status(Status(StatusCode.ERROR, describe(error)))
                raise


class _TracedModel:
    def __init__(self, trace: EpisodeTrace, role: str, model: Model) -> None:
        self._trace = trace
        self._role = role
        self._model = model

    @property
    def name(self) -> str:
        return self._model.name

    async def complete(self, request: ModelRequest, deadline: Deadline) -> ModelReply:
        attributes: Attributes = {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": self.name,
            "gen_ai.provider.name": "openai",
            "promptfoo.role": self._role,
        }
        with self._trace.span(f"chat {self.name}", attributes) as more:
            reply = await self._model.complete(request, deadline)
            more["gen_ai.response.model"] = reply.model
            more["gen_ai.response.finish_reasons"] = [reply.finish_reason]
            more["gen_ai.usage.input_tokens"] = reply.usage.prompt_tokens
            more["gen_ai.usage.output_tokens"] = reply.usage.completion_tokens
            return reply


class _TracedServer:
    def __init__(self, trace: EpisodeTrace, server: ToolServer) -> None:
        self._trace = trace
        self._server = server

    @property
    def name(self) -> str:
        return self._server.name

    @property
    def live(self) -> bool:
        return self._server.live

    async def tools(self) -> tuple[ToolInfo, ...]:
        return await self._server.tools()

    async def call(self, tool: str, arguments: Mapping[str, Any], *, idle_s: float, deadline: Deadline) -> ToolAnswer:
        text = redact(json.dumps(arguments, ensure_ascii=False))
        attributes: Attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": tool,
            "gen_ai.tool.call.arguments": text[:MAX_TEXT],
            "tool.name": tool,
            "tool.arguments": text,
            "server.name": self.name,
        }
        with self._trace.span(f"execute_tool {tool}", attributes) as more:
            answer = await self._server.call(tool, arguments, idle_s=idle_s, deadline=deadline)
            more["gen_ai.tool.call.result"] = brief(answer.text, MAX_TEXT)
            if answer.is_error:
                more["error"] = brief(answer.text, 200)
            return answer


def begin_trace(context: Mapping[str, Any]) -> tuple[EpisodeTrace | None, str]:
    """The trace of an episode, or None and, where a trace was asked for, why there is none."""
    traceparent = context.get("traceparent")
    if not isinstance(traceparent, str) or not traceparent or _gave_up:
        return None, ""
    try:
        from opentelemetry import trace
        from opentelemetry.propagate import extract

        provider = _tracer_provider()
    except ImportError as missing:
        return None, f"tracing is on, but its packages are not installed ({missing.name})"
    # promptfoo's wrapper may have opened a span of its own for this call; ours belong below that one.
    here = trace.get_current_span().get_span_context()
    parent = extract({"traceparent": traceparent})
    if here.is_valid:
        parent = trace.set_span_in_context(trace.get_current_span())
    return EpisodeTrace(provider, parent), ""


def _tracer_provider() -> TracerProvider:
    """The worker's provider: the one that promptfoo's wrapper has set up, or our own."""
    global _provider
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider

    known = trace.get_tracer_provider()
    if isinstance(known, TracerProvider):
        return known
    if _provider is None:
        _provider = _own_provider()
    return _provider


def _own_provider() -> TracerProvider:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExportResult

    class WatchedExporter(OTLPSpanExporter):
        """Notes when nobody receives the spans: every later episode would wait for nothing again."""

        def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
            global _gave_up
            result = super().export(spans)
            if result is not SpanExportResult.SUCCESS and not _gave_up:
                _gave_up = True
                logger.warning("tracing is off from here on: nobody receives the spans")
            return result

    address = os.environ.get(ENDPOINT_VARIABLE, "").strip() or DEFAULT_ENDPOINT
    provider = TracerProvider(resource=Resource.create({"service.name": "agent-evals"}))
    exporter = WatchedExporter(endpoint=f"{address.rstrip('/')}/v1/traces", timeout=FLUSH_MS / 1000)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    return provider
