"""The Chat Completions protocol: what a request must look like, and what an answer is.

Dictionaries end here: `parse_request` turns a JSON body into frozen dataclasses, `completion` turns a `Reply` back into
the JSON that clients of the protocol expect. Everything in an answer follows from the request, ids included, so that
the same request gives the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from .problems import RequestProblem
from .words import word_list

Role = Literal["system", "user", "assistant", "tool"]
FinishReason = Literal["stop", "length", "tool_calls"]

# `developer` is the newer name of the system role; the two older `function` forms are not served.
_ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
}
# Accepted because clients send them; those that can not change a deterministic answer are without effect.
_PARAMETERS = frozenset(
    word_list("""
    frequency_penalty logit_bias logprobs max_completion_tokens max_tokens messages metadata modalities model n
    parallel_tool_calls presence_penalty prompt_cache_key prompt_cache_options prompt_cache_retention
    reasoning_effort response_format safety_identifier seed service_tier stop store stream stream_options
    temperature tool_choice tools top_logprobs top_p user verbosity
    """)
)
_TOOL_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")
# A constant, because the time of day would make two answers to one request differ: 2026-01-01T00:00:00Z.
CREATED = 1_767_225_600
SYSTEM_FINGERPRINT = "fp_local_stand_in_1"
CHARACTERS_OF_A_TOKEN = 4


@dataclass(frozen=True)
class ToolCall:
    """A tool call of an earlier assistant message; `arguments` is the raw text as it was sent."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True)
class Message:
    """One message; text parts are joined, `tool_call_id` is set for tool messages only."""

    role: Role
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""


@dataclass(frozen=True)
class Tool:
    """A tool on offer; `parameters` is its JSON Schema."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True)
class ResponseFormat:
    """How the answer must be shaped; `schema` is given for `json_schema` only."""

    kind: Literal["text", "json_object", "json_schema"] = "text"
    schema: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class ChatRequest:
    """A checked request. `digest` is the SHA-256 of its canonical JSON, `max_tokens` None means no limit."""

    model: str
    messages: tuple[Message, ...]
    digest: str
    prompt_text: str
    tools: tuple[Tool, ...] = ()
    tool_choice: str = "auto"
    forced_tool: str | None = None
    parallel_tool_calls: bool = True
    response_format: ResponseFormat = ResponseFormat()
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()

    @property
    def system(self) -> str:
        """All system messages, in order."""
        return "\n\n".join(message.content for message in self.messages if message.role == "system")


@dataclass(frozen=True)
class Call:
    """A tool call that a stand-in wants to make."""

    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class Reply:
    """What a stand-in answers: text, tool calls, or both."""

    text: str = ""
    calls: tuple[Call, ...] = ()


@dataclass(frozen=True)
class Draft:
    """A reply on its way out: arguments are raw text here, so that a fault can damage them."""

    text: str
    calls: tuple[tuple[str, str], ...]
    finish_reason: FinishReason


def canonical(value: object) -> str:
    """JSON with sorted keys and no spaces: the form that is hashed."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def estimate_tokens(text: str) -> int:
    """A deterministic estimate: four characters to a token, rounded up.

    The usual rule of thumb for English text, near enough for budgets and prices to behave, and the same on every
    machine. It is not a count of any real model's tokens.
    """
    return -(-len(text) // CHARACTERS_OF_A_TOKEN)


def parse_request(body: object, *, deployment: str | None = None) -> ChatRequest:
    """Check a request body.

    Args:
        body: the decoded JSON body.
        deployment: the name in the path of an Azure request; it takes the place of `model`.

    Raises:
        RequestProblem: status 400, with the parameter at fault and what is allowed.
    """
    if not isinstance(body, dict):
        raise RequestProblem.invalid("The request body must be a JSON object.", None)
    unknown = sorted(set(body) - _PARAMETERS)
    if unknown:
        raise RequestProblem.invalid(
            f"Unknown parameter: {unknown[0]!r}. Allowed: {', '.join(sorted(_PARAMETERS))}.",
            unknown[0],
            code="unknown_parameter",
        )
    if body.get("stream"):
        raise RequestProblem.invalid(
            "This model server does not stream. Send the request with stream=false.", "stream", code="unsupported_value"
        )
    model = deployment if deployment is not None else body.get("model")
    if not isinstance(model, str) or not model:
        raise RequestProblem.invalid("You must provide a model parameter (a string).", "model")
    if body.get("n") not in (None, 1):
        raise RequestProblem.invalid("Only n=1 is served: a second choice would be the same.", "n")
    messages = _messages(body.get("messages"))
    tools = _tools(body.get("tools"))
    choice, forced = _tool_choice(body.get("tool_choice"), tools)
    limit = body.get("max_completion_tokens", body.get("max_tokens"))
    if limit is not None and (not isinstance(limit, int) or isinstance(limit, bool) or limit < 1):
        raise RequestProblem.invalid("max_tokens must be an integer of at least 1.", "max_tokens")
    text = canonical(body)
    return ChatRequest(
        model=model,
        messages=messages,
        digest=hashlib.sha256(f"{model}\n{text}".encode()).hexdigest(),
        prompt_text=text,
        tools=tools,
        tool_choice=choice,
        forced_tool=forced,
        parallel_tool_calls=body.get("parallel_tool_calls") is not False,
        response_format=_response_format(body.get("response_format")),
        max_tokens=limit,
        stop=_stop(body.get("stop")),
    )


def draft(request: ChatRequest, reply: Reply) -> Draft:
    """Put a reply into the protocol's form, within what the request allows (tool choice, stop words, length)."""
    calls = reply.calls
    if request.forced_tool is not None:
        calls = tuple(call for call in calls if call.name == request.forced_tool)
    if request.tool_choice == "none":
        calls = ()
    if not request.parallel_tool_calls:
        calls = calls[:1]
    text = reply.text
    for word in request.stop:
        text = text.split(word, 1)[0]
    raw = tuple((call.name, json.dumps(call.arguments, ensure_ascii=False)) for call in calls)
    limit = request.max_tokens
    if limit is not None and estimate_tokens(text) + sum(estimate_tokens(a) for _, a in raw) > limit:
        return _shorten(text, raw, limit)
    return Draft(text, raw, "tool_calls" if raw else "stop")


def completion(request: ChatRequest, ready: Draft) -> dict[str, Any]:
    """The body of a 200 answer; ids follow from the request's digest."""
    message: dict[str, Any] = {"role": "assistant", "content": ready.text or None, "refusal": None}
    if ready.calls:
        message["tool_calls"] = [
            {
                "id": f"call_{hashlib.sha256(f'{request.digest}/{index}'.encode()).hexdigest()[:24]}",
                "type": "function",
                "function": {"name": name, "arguments": arguments},
            }
            for index, (name, arguments) in enumerate(ready.calls)
        ]
    elif not ready.text:
        message["content"] = ""
    prompt = estimate_tokens(request.prompt_text)
    answer = estimate_tokens(ready.text) + sum(estimate_tokens(f"{n} {a}") for n, a in ready.calls)
    return {
        "id": f"chatcmpl-{request.digest[:29]}",
        "object": "chat.completion",
        "created": CREATED,
        "model": request.model,
        "system_fingerprint": SYSTEM_FINGERPRINT,
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": ready.finish_reason}],
        "usage": {"prompt_tokens": prompt, "completion_tokens": answer, "total_tokens": prompt + answer},
    }


def _shorten(text: str, calls: tuple[tuple[str, str], ...], limit: int) -> Draft:
    """Keep the first `limit` tokens, as a model does that runs into its limit in the middle of a word."""
    kept: list[tuple[str, str]] = []
    text, left = _head(text, limit)
    for name, arguments in calls:
        if left <= 0:
            break
        cut, left = _head(arguments, left)
        kept.append((name, cut))
    return Draft(text, tuple(kept), "length")


def _head(text: str, limit: int) -> tuple[str, int]:
    return text[: limit * CHARACTERS_OF_A_TOKEN], max(0, limit - estimate_tokens(text))


def _messages(value: object) -> tuple[Message, ...]:
    if not isinstance(value, list) or not value:
        raise RequestProblem.invalid("messages must be a list with at least one message.", "messages")
    messages: list[Message] = []
    open_calls: set[str] = set()
    for index, item in enumerate(value):
        place = f"messages[{index}]"
        if not isinstance(item, dict):
            raise RequestProblem.invalid(f"{place} must be an object.", place)
        role = _ROLES.get(str(item.get("role")))
        if role is None:
            raise RequestProblem.invalid(
                f"{place}.role is {item.get('role')!r}; allowed: {', '.join(_ROLES)}.", f"{place}.role"
            )
        if open_calls and role != "tool":
            raise RequestProblem.invalid(
                "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
                f"'tool_call_id'. Without a response: {', '.join(sorted(open_calls))}.",
                place,
            )
        calls = _tool_calls(item.get("tool_calls"), place) if role == "assistant" else ()
        content = _content(item.get("content"), f"{place}.content", optional=bool(calls) or role == "assistant")
        call_id = ""
        if role == "tool":
            call_id = str(item.get("tool_call_id") or "")
            if call_id not in open_calls:
                raise RequestProblem.invalid(
                    "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'; "
                    f"{place}.tool_call_id is {call_id!r}.",
                    f"{place}.tool_call_id",
                )
            open_calls.discard(call_id)
        open_calls.update(call.id for call in calls)
        messages.append(Message(role, content, calls, call_id))
    if open_calls:
        raise RequestProblem.invalid(
            f"The last tool calls have no tool messages: {', '.join(sorted(open_calls))}.", "messages"
        )
    return tuple(messages)


def _content(value: object, place: str, *, optional: bool) -> str:
    if isinstance(value, str):
        return value
    if value is None and optional:
        return ""
    if isinstance(value, list):
        parts: list[str] = []
        for index, part in enumerate(value):
            text = part.get("text", part.get("refusal")) if isinstance(part, dict) else None
            if not isinstance(text, str):
                raise RequestProblem.invalid(f"{place}[{index}] must be a text part.", f"{place}[{index}]")
            parts.append(text)
        return "".join(parts)
    raise RequestProblem.invalid(f"{place} must be a string or a list of text parts.", place)


def _tool_calls(value: object, place: str) -> tuple[ToolCall, ...]:
    if value is None:
        return ()
    calls: list[ToolCall] = []
    for index, item in enumerate(value if isinstance(value, list) else [value]):
        function = item.get("function") if isinstance(item, dict) else None
        name = function.get("name") if isinstance(function, dict) else None
        arguments = function.get("arguments") if isinstance(function, dict) else None
        if not isinstance(item, dict) or not isinstance(name, str) or not isinstance(arguments, str):
            where = f"{place}.tool_calls[{index}]"
            raise RequestProblem.invalid(f"{where} needs id, function.name and function.arguments (a string).", where)
        calls.append(ToolCall(str(item.get("id")), name, arguments))
    return tuple(calls)


def _tools(value: object) -> tuple[Tool, ...]:
    if value is None:
        return ()
    if not isinstance(value, list):
        raise RequestProblem.invalid("tools must be a list.", "tools")
    tools: list[Tool] = []
    for index, item in enumerate(value):
        place = f"tools[{index}]"
        function = item.get("function") if isinstance(item, dict) else None
        if not isinstance(item, dict) or item.get("type") != "function" or not isinstance(function, dict):
            raise RequestProblem.invalid(f"{place} must be of type 'function' with a function object.", place)
        name = function.get("name")
        if not isinstance(name, str) or not _TOOL_NAME.fullmatch(name):
            raise RequestProblem.invalid(
                f"{place}.function.name is {name!r}; allowed: letters, digits, '_', '.', '-', at most 128.",
                f"{place}.function.name",
            )
        parameters = function.get("parameters") or {}
        if not isinstance(parameters, dict):
            raise RequestProblem.invalid(f"{place}.function.parameters must be a JSON Schema object.", place)
        tools.append(Tool(name, str(function.get("description") or ""), parameters))
    return tuple(tools)


def _tool_choice(value: object, tools: Sequence[Tool]) -> tuple[str, str | None]:
    if value is None:
        return "auto", None
    if value in ("auto", "none", "required"):
        if value == "required" and not tools:
            raise RequestProblem.invalid("tool_choice 'required' needs tools.", "tool_choice")
        return str(value), None
    function = value.get("function") if isinstance(value, dict) else None
    name = function.get("name") if isinstance(function, dict) else None
    if name in {tool.name for tool in tools}:
        return "required", str(name)
    raise RequestProblem.invalid(
        "tool_choice must be 'auto', 'none', 'required' or name a function among the tools.", "tool_choice"
    )


def _response_format(value: object) -> ResponseFormat:
    if value is None:
        return ResponseFormat()
    kind = value.get("type") if isinstance(value, dict) else None
    if kind == "text":
        return ResponseFormat()
    if kind == "json_object":
        return ResponseFormat("json_object")
    inner = value.get("json_schema") if isinstance(value, dict) else None
    schema = inner.get("schema") if isinstance(inner, dict) else None
    if kind == "json_schema" and isinstance(schema, dict):
        return ResponseFormat("json_schema", schema)
    raise RequestProblem.invalid(
        "response_format must be of type 'text', 'json_object', or 'json_schema' with json_schema.schema.",
        "response_format",
    )


def _stop(value: object) -> tuple[str, ...]:
    items = [value] if isinstance(value, str) else value or []
    if not isinstance(items, list) or not all(isinstance(item, str) and item for item in items):
        raise RequestProblem.invalid("stop must be a string or a list of strings.", "stop")
    return tuple(items)
