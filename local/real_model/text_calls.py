"""Tool calls that a model has written as text.

Small models often write a call into their answer instead of making it. What is read here is only what is a call and
nothing else: the whole answer consists of one or more JSON objects `{"name": …, "arguments": {…}}`, or the same as
`{"type": "function", "function": {…}}`, bare, in fenced blocks, or between `<tool_call>` or `<tools>` tags (all of
which this model writes), and each names a tool that was offered. One word beside it, a name that nobody offered, a key
too many, and the answer stays the text that it is. Nothing is repaired and no argument is looked at: that is the
agent's loop's business, as for any other model.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, NoReturn

MOST_CHARACTERS = 200_000
"""A longer answer is not looked at."""

MOST_CALLS = 16

_WRAPPINGS = (
    (re.compile(r"```(?:json)?[ \t]*\n"), "```"),
    (re.compile("<tool_call>"), "</tool_call>"),
    (re.compile("<tools>"), "</tools>"),
)
"""How a wrapping begins and ends. Its end is looked for behind a JSON value, never inside one."""

_KEYS = {"name", "arguments"}
_WRAPPED_KEYS = {"type", "function"}


@dataclass(frozen=True)
class TextCall:
    """`arguments` is a JSON object as text."""

    name: str
    arguments: str


def read_calls(text: str, offered: Collection[str]) -> tuple[TextCall, ...]:
    """The calls that `text` consists of; none when it is anything else as well. Never raises."""
    if len(text) > MOST_CHARACTERS:
        return ()
    try:
        calls = [_call(value, offered) for value in _objects(text)]
    except (_NotACall, ValueError, RecursionError):
        return ()
    return tuple(calls) if len(calls) <= MOST_CALLS else ()


class _NotACall(Exception):
    pass


def _objects(text: str) -> list[Any]:
    """The JSON values that make up the text."""
    found: list[Any] = []
    rest, closing = text.strip(), ""
    while rest:
        opened = next((begin for begin in _WRAPPINGS if begin[0].match(rest)), None)
        if closing and rest.startswith(closing):
            rest, closing = rest[len(closing) :].lstrip(), ""
        elif opened and not closing:
            rest, closing = opened[0].sub("", rest, count=1).lstrip(), opened[1]
        else:
            value, rest = _first(rest)
            found.append(value)
        if len(found) > MOST_CALLS:
            raise _NotACall
    if closing:
        raise _NotACall
    return found


def _first(text: str) -> tuple[Any, str]:
    """The JSON value that the text begins with, and what follows it."""
    value, end = _DECODER.raw_decode(text)
    return value, text[end:].lstrip()


def _call(value: Any, offered: Collection[str]) -> TextCall:
    if isinstance(value, dict) and set(value) == _WRAPPED_KEYS and value["type"] == "function":
        value = value["function"]
    if not isinstance(value, dict) or set(value) != _KEYS:
        raise _NotACall
    name, arguments = value["name"], value["arguments"]
    if not isinstance(name, str) or name not in offered or not isinstance(arguments, dict):
        raise _NotACall
    # Escaped: half of a pair of surrogates, which JSON admits, could not be sent as UTF-8.
    return TextCall(name, json.dumps(arguments))


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A key that stands there twice has two meanings, and readers differ in which one they take."""
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _NotACall
    return value


def _no_constant(_name: str) -> NoReturn:
    """NaN and Infinity are no JSON."""
    raise _NotACall


_DECODER = json.JSONDecoder(object_pairs_hook=_without_repeats, parse_constant=_no_constant)
