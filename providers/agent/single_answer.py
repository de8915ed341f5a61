"""One request, one answer: the episode of a question."""

from __future__ import annotations

import json
from typing import Any

from episodes.record import StopReason
from providers.agent.factory import open_agent
from providers.agent_protocol import ConfigurationProblem, take_turn
from providers.envelope import ProviderCall

ROLES = ("system", "user", "assistant", "tool")


async def single_answer(call: ProviderCall) -> str:
    """Ask the agent what the prompt says, and return its answer. A chat prompt's earlier messages are its history."""
    history, question = read_prompt(call.prompt)
    async with open_agent(call.setup) as agent:
        if history:
            agent.begin(history)
            for message in history:
                call.recorder.message(message)
        answer = await take_turn(agent, call.recorder, question)
    call.recorder.stop(answer.stop or StopReason.USER_STOP, answer.problem)
    return answer.text


def read_prompt(prompt: str) -> tuple[list[dict[str, Any]], str]:
    """The history and the last user message of a prompt: plain text, or a JSON list of chat messages.

    Raises:
        ConfigurationProblem: the list is no conversation that ends with a user's message.
    """
    text = prompt.strip()
    if not text:
        raise ConfigurationProblem("the prompt is empty")
    if not text.startswith("["):
        return [], prompt
    try:
        messages = json.loads(text)
    except ValueError:
        return [], prompt
    if not isinstance(messages, list) or not messages or not all(isinstance(item, dict) for item in messages):
        return [], prompt
    for index, message in enumerate(messages):
        if message.get("role") not in ROLES:
            allowed = ", ".join(ROLES)
            raise ConfigurationProblem(f"prompt[{index}].role: {message.get('role')!r} is none of {allowed}")
    last = messages[-1]
    if last["role"] != "user" or not isinstance(last.get("content"), str) or not last["content"].strip():
        raise ConfigurationProblem(f"prompt[{len(messages) - 1}]: the last message must be a user's, with a text")
    return messages[:-1], last["content"]
