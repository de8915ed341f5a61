"""OpenTelemetry spans by the GenAI conventions, as promptfoo hands them over in `context.trace`.

A tool call is a span that says so: `gen_ai.operation.name` is `execute_tool`, or the span kind of OpenInference is
`TOOL` (OpenLLMetry: `tool`), or the operation of the Vercel AI SDK is `ai.toolCall`. A span that names one tool and
does not say what it is counts too, unless it stands inside the span of a call of this tool. A span of a model that only
*lists* tools is none. Spans that overlap under one parent were a batch. Turns are not told.

Without any span of a model or a tool the calls are unknown. With spans of models only, there were no calls if each
of them says why it stopped, with a reason that rules tool calls out; otherwise the calls are unknown, because nobody
can tell whether tools are traced here at all.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from assertions.adapters.parts import UnknownShape, episode, objects, read_result, tool_call, unknown
from episodes.record import Episode, ToolCall, ToolStatus

_NAME = ("gen_ai.tool.name", "tool.name", "ai.toolCall.name")
_OTHER_NAME = (
    "tool_name", "function.name", "function_name", "codex.mcp.tool", "agent.tool", "agent.tool_name", "agent.toolName",
)  # fmt: skip
"""Names of tools in traces that keep to no convention; promptfoo reads the same."""
_KINDS = ("gen_ai.operation.name", "openinference.span.kind", "ai.operationId", "traceloop.span.kind")
"""By these a span says what it is."""
_ID = ("gen_ai.tool.call.id", "tool_call.id", "ai.toolCall.id")
_ARGUMENTS = ("gen_ai.tool.call.arguments", "ai.toolCall.args", "input.value", "tool.parameters")
_RESULT = ("gen_ai.tool.call.result", "ai.toolCall.result", "output.value")
_SERVER = ("mcp.server.name", "gen_ai.tool.server", "server.address")
_ERROR_CODES = ("error", "STATUS_CODE_ERROR", 2)
_WITHOUT_CALLS = frozenset({"stop", "end_turn", "stop_sequence", "length", "max_tokens", "content_filter", "refusal"})
"""Why a model stopped, where that rules tool calls out."""
_STOPS_WITH_CALLS = ("gemini", "vertex", "gcp", "google")
"""Services that say `stop` for an answer with tool calls too."""


def matches(value: Any) -> bool:
    """Whether this is a trace: an object with a list of spans."""
    return isinstance(value, Mapping) and isinstance(value.get("spans"), list) and "schema" not in value


def read(value: Any) -> Episode:
    """Read a trace.

    Raises:
        UnknownShape: its spans are no objects, or a span of a tool has no tool's name.
    """
    spans = objects(value.get("spans") if isinstance(value, Mapping) else None, "spans")
    tools = sorted(_tool_spans(spans), key=lambda span: (_time(span, "startTime"), _time(span, "endTime")))
    if tools:
        return episode(_calls(tools))
    models = [span for span in spans if _is_model(span)]
    if not models:
        return unknown("the trace has no span of a model or a tool")
    if all(map(_rules_calls_out, models)):
        return episode(())
    return unknown("the trace has spans of models, but none of a tool, and does not rule tool calls out")


def _calls(spans: Sequence[Mapping[str, Any]]) -> list[ToolCall]:
    calls = []
    batch, parent, ends = 0, None, float("-inf")
    for span in spans:
        start, end = _time(span, "startTime"), _time(span, "endTime")
        together = batch and span.get("parentSpanId") == parent and start < ends
        batch += not together
        ends = max(ends, end) if together else end
        parent = span.get("parentSpanId")
        calls.append(_call(span, batch))
    return calls


def _call(span: Mapping[str, Any], batch: int) -> ToolCall:
    attributes = _attributes(span)
    name = _tool_name(span)
    if not name:
        raise UnknownShape(f"the span {span.get('name')!r} is a tool's, and does not name the tool")
    failed = "error.type" in attributes or span.get("statusCode") in _ERROR_CODES or _status_code(span) in _ERROR_CODES
    arguments = _first(attributes, _ARGUMENTS)
    problem = str(span.get("statusMessage") or attributes.get("error.type") or "") if failed else ""
    if arguments is None:
        # Contents are often not captured. That is no empty set of arguments.
        made = tool_call(name, "(not captured)", problem="its arguments were not captured", batch=batch, step=batch)
        return _with_status(made, failed, attributes)
    return tool_call(
        name,
        arguments,
        id=_first(attributes, _ID),
        server=_first(attributes, _SERVER),
        step=batch,
        batch=batch,
        status=ToolStatus.TOOL_ERROR if failed else ToolStatus.OK,
        result=read_result(_first(attributes, _RESULT)),
        problem=problem,
    )


def _with_status(call: ToolCall, failed: bool, attributes: Mapping[str, Any]) -> ToolCall:
    from dataclasses import replace

    status = ToolStatus.TOOL_ERROR if failed else ToolStatus.OK
    return replace(call, status=status, arguments_raw="", result=read_result(_first(attributes, _RESULT)))


def _is_tool(span: Mapping[str, Any]) -> bool:
    attributes = _attributes(span)
    operation = attributes.get("gen_ai.operation.name")
    if operation is not None:
        return bool(operation == "execute_tool")
    if attributes.get("openinference.span.kind") == "TOOL" or attributes.get("ai.operationId") == "ai.toolCall":
        return True
    if attributes.get("traceloop.span.kind") == "tool":
        return True
    return str(span.get("name", "")).startswith("execute_tool ")


def _tool_spans(spans: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    by_id = {str(span["spanId"]): span for span in spans if span.get("spanId")}

    def repeats(span: Mapping[str, Any]) -> bool:
        """It stands inside the span of a call of the same tool."""
        name, seen = _tool_name(span), {id(span)}
        above = by_id.get(str(span.get("parentSpanId")))
        while above is not None and id(above) not in seen:
            if _is_tool(above) and _tool_name(above) == name:
                return True
            seen.add(id(above))
            above = by_id.get(str(above.get("parentSpanId")))
        return False

    return [span for span in spans if _is_tool(span) or (_names_a_tool(span) and not repeats(span))]


def _names_a_tool(span: Mapping[str, Any]) -> bool:
    """It does not say what it is, but names one tool."""
    attributes = _attributes(span)
    return not any(kind in attributes for kind in _KINDS) and _first(attributes, (*_NAME, *_OTHER_NAME)) is not None


def _tool_name(span: Mapping[str, Any]) -> Any:
    attributes = _attributes(span)
    name = _first(attributes, (*_NAME, *_OTHER_NAME)) or _name_in(str(span.get("name", "")))
    return name or (attributes.get("traceloop.entity.name") if "traceloop.span.kind" in attributes else None)


def _is_model(span: Mapping[str, Any]) -> bool:
    attributes = _attributes(span)
    return (
        attributes.get("gen_ai.operation.name") in ("chat", "text_completion", "generate_content")
        or attributes.get("openinference.span.kind") == "LLM"
        or str(attributes.get("ai.operationId", "")).endswith((".doGenerate", ".doStream"))
    )


def _rules_calls_out(model: Mapping[str, Any]) -> bool:
    attributes = _attributes(model)
    service = str(attributes.get("gen_ai.provider.name", attributes.get("gen_ai.system", ""))).casefold()
    if any(name in service for name in _STOPS_WITH_CALLS):
        return False
    reasons = _finish_reasons(model)
    return bool(reasons) and _WITHOUT_CALLS.issuperset(reasons)


def _finish_reasons(span: Mapping[str, Any]) -> list[str]:
    value = _attributes(span).get("gen_ai.response.finish_reasons")
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            value = [value]
    return [str(item) for item in value] if isinstance(value, list) else []


def _name_in(span_name: str) -> str:
    return span_name.removeprefix("execute_tool ") if span_name.startswith("execute_tool ") else ""


def _attributes(span: Mapping[str, Any]) -> Mapping[str, Any]:
    """The attributes as an object; OTLP writes them as a list of keys and typed values."""
    attributes = span.get("attributes")
    if isinstance(attributes, list):
        return {
            str(item["key"]): next(iter(item["value"].values()), None)
            for item in attributes
            if isinstance(item, Mapping) and isinstance(item.get("value"), Mapping) and "key" in item
        }
    return attributes if isinstance(attributes, Mapping) else {}


def _status_code(span: Mapping[str, Any]) -> Any:
    status = span.get("status")
    return status.get("code") if isinstance(status, Mapping) else None


def _time(span: Mapping[str, Any], key: str) -> float:
    for name in (key, f"{key}UnixNano"):
        value = span.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
        if isinstance(value, str) and value.isdecimal():
            return float(value)
    return 0.0


def _first(attributes: Mapping[str, Any], names: Sequence[str]) -> Any:
    return next((attributes[name] for name in names if attributes.get(name) is not None), None)
