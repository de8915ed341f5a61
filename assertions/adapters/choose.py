"""Which shape is it? One place that knows all adapters."""

from __future__ import annotations

from collections import Counter
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


PLACES = {
    "calls": "calls (metadata.toolCalls)",
    "messages": "messages (metadata.messages)",
    "trace": "trace (context.trace)",
    "output": "output",
}
"""The sources of one row, and where each of them stands in promptfoo's context."""


def from_context(output: Any, context: Mapping[str, Any], metadata: Mapping[str, Any]) -> Episode | None:
    """What promptfoo's assertion context tells about a foreign provider's calls; None when it tells nothing at all.

    Looked at in this order: the provider's own list of calls, its messages, the trace, the output. The first that tells
    of all calls of which any of them tells counts. When none does, the calls are unknown: each of them has missed some,
    and nobody knows what else.
    """
    sources = {"calls": metadata, "messages": metadata.get("messages"), "trace": context.get("trace"), "output": output}
    found = {
        name: read_foreign(value)
        for name, value in sources.items()
        if value and any(adapter.matches(value) for adapter in ADAPTERS)
    }
    texts = found.get("messages")
    telling = {name: episode for name, episode in found.items() if episode.tool_calls}
    for name, episode in telling.items():
        if all(_names(episode) >= _names(other) for other in telling.values()):
            return replace(texts, tool_calls=episode.tool_calls) if texts and name == "trace" else episode
    if telling:
        return unknown(_disagreement(telling), texts.messages if texts else ())
    if texts is not None and ("calls" not in found or texts.tool_calls is None):
        # Several providers keep the texts only: messages without calls do not say that there were none.
        traced = found.get("trace")
        return replace(texts, tool_calls=None if texts.tool_calls is None or traced is None else traced.tool_calls)
    return next(iter(found.values()), None)


def _names(episode: Episode) -> Counter[str]:
    """How often which tool was called. Ids and arguments are not compared: not every source has them."""
    return Counter(call.name for call in episode.tool_calls or ())


def _disagreement(telling: Mapping[str, Episode]) -> str:
    """In words, what each of two sources tells that the other does not."""
    names = {PLACES[name]: _names(episode) for name, episode in telling.items()}
    first, second = next(
        (one, other)
        for one in names
        for other in names
        if not names[one] >= names[other] and not names[other] >= names[one]
    )
    only_first, only_second = names[first] - names[second], names[second] - names[first]
    return (
        f"{first} and {second} disagree: only the first tells of {', '.join(sorted(only_first))}, only the second of "
        f"{', '.join(sorted(only_second))}"
    )
