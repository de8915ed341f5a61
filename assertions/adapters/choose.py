"""Which shape is it? One place that knows all adapters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from assertions.adapters import langchain, openai_chat, openai_responses, otel_spans, promptfoo_calls
from assertions.adapters.parts import UnknownShape, unknown
from episodes.record import Episode


class Adapter(NamedTuple):
    name: str
    matches: Callable[[Any], bool]
    read: Callable[[Any], Episode]


ADAPTERS = (
    Adapter("promptfoo", promptfoo_calls.matches, promptfoo_calls.read),
    Adapter("otel", otel_spans.matches, otel_spans.read),
    Adapter("openai-responses", openai_responses.matches, openai_responses.read),
    Adapter("langchain", langchain.matches, langchain.read),
    Adapter("openai-chat", openai_chat.matches, openai_chat.read),
)


def read_foreign(value: Any, shape: str = "auto") -> Episode:
    """Read what another program wrote. `shape` is an adapter's name, or `auto` to look.

    Never raises for strange data: what can not be read has unknown tool calls and a warning that says why.

    Raises:
        ValueError: there is no adapter of that name.
    """
    if shape != "auto" and shape not in {adapter.name for adapter in ADAPTERS}:
        raise ValueError(f"there is no adapter {shape!r}; there are {', '.join(one.name for one in ADAPTERS)}")
    for adapter in ADAPTERS:
        if shape == adapter.name or (shape == "auto" and adapter.matches(value)):
            try:
                return adapter.read(value)
            except UnknownShape as error:
                return unknown(f"{adapter.name}: {error}")
    return unknown("it has none of the known shapes")


def from_context(output: Any, context: Mapping[str, Any], metadata: Mapping[str, Any]) -> Episode | None:
    """What promptfoo's assertion context tells about a foreign provider's calls; None when it tells nothing at all.

    Looked at in this order: the provider's own list of calls, its messages, the trace, the output.
    """
    messages = metadata.get("messages")
    for value in (metadata, messages, context.get("trace"), output):
        if value and any(adapter.matches(value) for adapter in ADAPTERS):
            found = read_foreign(value)
            if value is messages and not found.tool_calls:
                # Several providers keep the texts only: messages without calls do not say that there were none.
                trace = context.get("trace")
                known = read_foreign(trace).tool_calls if otel_spans.matches(trace) else None
                return replace(found, tool_calls=known)
            return found
    return None
