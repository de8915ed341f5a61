"""The `scenario-writer` stand-in: proposes scenarios for an agent from the tools and instructions that it is shown.

The last user message is JSON: `{"task": "scenarios", "count": n, "instructions": "…", "tools": [{name, description,
parameters}]}`, and the reply is `{"scenarios": [...]}`. It makes one scenario for each tool, in order: a developer
wants what the tool's description says, and the tool must be called. It invents nothing, so its scenarios are plain; it
shows the way from a proposal to a case, and says nothing about what a real model would think of.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from .problems import RequestProblem
from .protocol import ChatRequest, Reply
from .shaping import shaped
from .words import sentences, split_name


def scenario_writer(request: ChatRequest) -> Reply:
    """Answer one request for scenarios.

    Raises:
        RequestProblem: the last user message is not such a request.
    """
    last = next((message.content for message in reversed(request.messages) if message.role == "user"), "")
    try:
        order = json.loads(last)
    except ValueError:
        order = None
    tools = order.get("tools") if isinstance(order, dict) else None
    if not isinstance(order, dict) or order.get("task") != "scenarios" or not isinstance(tools, list):
        raise RequestProblem.invalid("The scenario writer reads a JSON message with the task scenarios.", "messages")
    count = order.get("count")
    known = [tool for tool in tools if isinstance(tool, dict) and isinstance(tool.get("name"), str)]
    wanted = known[: count if isinstance(count, int) else len(known)]
    return Reply(shaped({"scenarios": [_scenario(tool) for tool in wanted]}, request.response_format))


def _scenario(tool: Mapping[str, Any]) -> dict[str, Any]:
    name = str(tool["name"])
    described = sentences(str(tool.get("description") or ""))
    purpose = described[0].rstrip(".") if described else split_name(name)
    return {
        "title": f"A developer who needs {name}",
        "why": f"Whether the agent finds {name} by itself when a developer describes what it is for.",
        "opening": f"I need your help with this: {purpose[:1].lower()}{purpose[1:]}.",
        "goal": f"To get the result of this: {purpose[:1].lower()}{purpose[1:]}.",
        "persona": "",
        "facts": [],
        "expectations": [
            {"kind": "tool_call", "must": True, "text": "", "tool": name, "arguments": [], "after_tool": ""}
        ],
    }
