"""A promptfoo provider for tests: it reports the tool calls that the row names as spans, and nothing else.

`vars.calls` is the JSON of a list of `{name, arguments, failed}`; `arguments` null: they are not captured. The
receiver's address stands in the provider's config.
"""

from __future__ import annotations

import json
import secrets
import time
import urllib.request
from typing import Any


def call_api(_prompt: str, options: dict[str, Any], context: dict[str, Any]) -> dict[str, Any]:
    _, trace_id, parent_id, _ = context["traceparent"].split("-")
    start = time.time_ns()
    spans = [
        _span(trace_id, parent_id, index, call, start)
        for index, call in enumerate(json.loads(context["vars"]["calls"]))
    ]
    if spans:
        body = {"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": [{"spans": spans}]}]}
        request = urllib.request.Request(
            options["config"]["receiver"], json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            answer.read()
    return {"output": "done"}


def _span(trace_id: str, parent_id: str, index: int, call: dict[str, Any], start: int) -> dict[str, Any]:
    attributes = [{"key": "gen_ai.tool.name", "value": {"stringValue": call["name"]}}]
    if call["arguments"] is not None:
        text = json.dumps(call["arguments"])
        attributes.append({"key": "gen_ai.tool.call.arguments", "value": {"stringValue": text}})
    begin = start + index * 2_000_000
    return {
        "traceId": trace_id,
        "spanId": secrets.token_hex(8),
        "parentSpanId": parent_id,
        "name": f"execute_tool {call['name']}",
        "kind": 1,
        "startTimeUnixNano": str(begin),
        "endTimeUnixNano": str(begin + 1_000_000),
        "attributes": attributes,
        "status": {"code": 2 if call.get("failed") else 1},
    }
