"""The SDK's result objects as our own small ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mcp_types as types

from providers.agent.tool_server import ToolAnswer, ToolInfo

VARIABLES_META = "agent-evals/variables"
"""In a result's `_meta`: an object of session variables that the tool sets."""


def tool_info(tool: types.Tool) -> ToolInfo:
    return ToolInfo(tool.name, tool.description or "", dict(tool.input_schema))


def answer_of(result: types.CallToolResult) -> ToolAnswer:
    """Structured content as it is; every block of content as text, one below the other."""
    return ToolAnswer(
        text="\n".join(_text(block) for block in result.content),
        structured=result.structured_content,
        is_error=result.is_error,
        variables=_variables(result.meta or {}),
    )


def _variables(meta: Mapping[str, Any]) -> Mapping[str, Any]:
    said = meta.get(VARIABLES_META)
    return said if isinstance(said, dict) else {}


def _text(block: types.ContentBlock) -> str:
    """What a model that reads text only gets of one block."""
    match block:
        case types.TextContent(text=text):
            return text
        case types.ImageContent(data=data, mime_type=kind) | types.AudioContent(data=data, mime_type=kind):
            return f"[{block.type}, {kind}, {len(data) * 3 // 4} bytes]"
        case types.ResourceLink(uri=uri, name=name):
            return f"[resource {name}: {uri}]"
        case types.EmbeddedResource(resource=types.TextResourceContents(text=text)):
            return text
        case types.EmbeddedResource(resource=resource):
            return f"[resource {resource.uri}, {resource.mime_type or 'unknown type'}]"
    return f"[{block.type}]"
