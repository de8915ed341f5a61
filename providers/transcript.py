"""A conversation as plain text: what promptfoo shows as the output of a row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

SPEAKERS = {"user": "Developer", "assistant": "Agent"}


def transcript(messages: Iterable[Mapping[str, Any]]) -> str:
    """What the two sides said, one paragraph for each message. Tool calls and tool results are not speech."""
    spoken = (
        f"{SPEAKERS[message['role']]}: {message['content'].strip()}"
        for message in messages
        if message.get("role") in SPEAKERS and isinstance(message.get("content"), str) and message["content"].strip()
    )
    return "\n\n".join(spoken)
