"""One scripted conversation, so that whoever drives it does the same work: two turns, two tool calls, six answers.

The script keeps no state: what comes next follows from the messages that it is shown. A number in the opening message
says which conversation a request belongs to.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["plain", "glued", "inverted"]
"""How the developer behaves: as scripted; with the stop signal glued to its last line; speaking as the agent once."""

TURNS = 2
AGENT_ANSWERS = 4
USER_ANSWERS = 2
TOOLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("get_spoke", {"name": "spoke-webshop-dev"}),
    ("search_docs", {"query": "address space", "limit": 1}),
)
"""The one tool call of each turn: name and arguments."""

GOAL = "Know the address space of the development web shop, and the rule that such a space has to follow."
STOP = "###STOP###"
INVERTED = "How can I help you today?"
"""What only an agent says."""

_SAYS = (
    "It has the address space 10.64.16.0/24. Shall I look up which rule it follows?",
    "Each spoke gets a /24 out of its region's range, and this one has it. Everything that you asked for is answered.",
)
_ACCEPTS = "Yes, look it up please."
_DRAFT_REFUSED = "was thrown away"
_NUMBER = re.compile(r"\[talk (plain|glued|inverted) (\d+)\]")


@dataclass(frozen=True)
class Talk:
    """One conversation of a kind."""

    kind: Kind
    number: int

    @property
    def opening(self) -> str:
        return f"Which address space does spoke-webshop-dev have? [talk {self.kind} {self.number}]"


@dataclass(frozen=True)
class Line:
    """What a side says next: a text, or one tool call."""

    text: str = ""
    tool: str = ""
    arguments: Mapping[str, Any] | None = None


def talk_of(text: str) -> Talk | None:
    """The conversation that a request's text belongs to."""
    found = _NUMBER.search(text)
    if found is None:
        return None
    kinds: dict[str, Kind] = {"plain": "plain", "glued": "glued", "inverted": "inverted"}
    return Talk(kinds[found[1]], int(found[2]))


def agent_line(messages: Sequence[Mapping[str, Any]]) -> Line:
    """The agent's next line in a conversation as Chat Completions messages: a call first, then what came of it."""
    turn = min(sum(message["role"] == "user" for message in messages), TURNS) - 1
    if messages[-1]["role"] == "tool":
        return Line(_SAYS[turn])
    tool, arguments = TOOLS[turn]
    return Line(tool=tool, arguments=arguments)


def user_line(kind: Kind, messages: Sequence[Mapping[str, Any]]) -> str:
    """The developer's next line, where its own lines are the assistant's."""
    said = [str(message["content"]) for message in messages if message["role"] == "assistant"]
    spoken = sum(line != INVERTED for line in said)
    if spoken > 1:
        return STOP
    instructions = "".join(str(message["content"]) for message in messages if message["role"] == "system")
    if kind == "inverted" and INVERTED not in said and _DRAFT_REFUSED not in instructions:
        return INVERTED
    return f"{_ACCEPTS} {STOP}" if kind == "glued" else _ACCEPTS
