"""What a judge gets to see of an episode: the conversation, one answer, and what the agent could know."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from assertions.contracts.answer_facts import agent_texts
from assertions.evidence import Evidence
from assertions.pull_requests.proof import message_text
from assertions.verdict import NotEvaluated
from episodes.frozen import frozen

MAX_RESULT = 1_000
"""Characters of one tool result in a transcript."""
MAX_CONTEXT = 120_000
"""Characters of context that a judge is shown. When there is more, the oldest part is left out, and that is said."""

_CUT = re.compile(r"\[cut: \d+ of \d+ characters, SHA-256 ")
"""How the record marks a text of which it holds the beginning only."""


@frozen
class Answer:
    """The agent's last words in one turn, what it was asked there, and what it could know by then."""

    turn: int
    question: str
    text: str
    context: str
    context_is_cut: bool
    used_tools: bool
    """A call of a record that does not know turns may have been in any."""


def answer_text(evidence: Evidence, scope: str) -> str:
    """Everything that the agent said (`all`), or its last message (`last`).

    Raises:
        NotEvaluated: it said nothing.
    """
    texts = agent_texts(evidence)
    if not texts:
        raise NotEvaluated("the record holds no words of the agent")
    return texts[-1] if scope == "last" else "\n\n".join(texts)


def transcript(evidence: Evidence) -> str:
    """The conversation: both sides' messages, and which tools ran with what result (shortened), in order.

    Raises:
        NotEvaluated: there is none.
    """
    spoken = [message for message in evidence.record().messages if message.get("role") != "system"]
    lines = list(_lines(spoken, MAX_RESULT))
    if not lines and evidence.output.strip():
        lines = [evidence.output]
    if not lines:
        raise NotEvaluated("the record holds no conversation")
    return "\n\n".join(lines)


def answers(evidence: Evidence) -> list[Answer]:
    """The agent's answer of each turn, with what it could know: instructions, earlier messages, tool results.

    Raises:
        NotEvaluated: the record has no messages or does not know its tool calls.
    """
    calls = evidence.calls()
    turns: dict[int, list[Mapping[str, Any]]] = {}
    before: list[Mapping[str, Any]] = []
    for message in evidence.record().messages:
        if message.get("role") == "system":
            before.append(message)
        elif isinstance(message.get("turn"), int):
            turns.setdefault(message["turn"], []).append(message)
    if not turns:
        raise NotEvaluated("the record has no messages with turns")
    found = []
    for turn, messages in sorted(turns.items()):
        said = [text for text in map(message_text, _by(messages, "assistant")) if text.strip()]
        if said:
            last = max(
                i for i, one in enumerate(messages) if one.get("role") == "assistant" and message_text(one).strip()
            )
            context = "\n\n".join(_lines([*before, *messages[:last]]))
            found.append(
                Answer(
                    turn=turn,
                    question="\n".join(map(message_text, _by(messages, "user"))),
                    text=said[-1],
                    context=context[-MAX_CONTEXT:],
                    context_is_cut=len(context) > MAX_CONTEXT or _CUT.search(context) is not None,
                    used_tools=any(call.turn in (turn, 0) and call.status.executed is not False for call in calls),
                )
            )
        before += messages
    return found


def _lines(messages: Sequence[Mapping[str, Any]], most: int = MAX_CONTEXT) -> Iterator[str]:
    """One paragraph per message and tool call; `most` limits the characters of each tool result."""
    names = {"system": "Instructions", "user": "Developer", "assistant": "Assistant", "tool": "Tool result"}
    for message in messages:
        text = message_text(message)
        if message.get("role") == "tool" and len(text) > most:
            text = f"{text[:most]}… ({len(text)} characters)"
        if text.strip():
            yield f"{names.get(str(message.get('role')), 'Note')}: {text}"
        asked = message.get("tool_calls")
        for call in asked if isinstance(asked, list) else ():
            function = call.get("function") if isinstance(call, dict) else None
            if isinstance(function, dict):
                yield f"Tool call: {function.get('name')} {function.get('arguments')}"


def _by(messages: Sequence[Mapping[str, Any]], role: str) -> list[Mapping[str, Any]]:
    return [message for message in messages if message.get("role") == role]
