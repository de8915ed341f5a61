"""Whole conversations: a small agent loop over the official clients, and the simulated developer on the other side."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import httpx2
import mcp_types
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from openai import OpenAI
from openai.types.chat import ChatCompletionMessage

STOP = "###STOP###"
MOST_TURNS = 15
MOST_STEPS = 24
NEVER_OFFERED = ("complete_pull_request",)
_AGENT = Path(__file__).parents[3] / "agent_config" / "agents" / "spoke"
INSTRUCTIONS = "\n\n".join(
    path.read_text(encoding="utf-8") for path in (_AGENT / "instructions.md", *sorted((_AGENT / "skills").glob("*.md")))
)
"""The production agent's system prompt: instructions and skills."""


class Tools:
    """One MCP session on a thread of its own. `schemas` are the tools in Chat Completions form."""

    def __init__(self, url: str, token: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._end = asyncio.Event()
        ready: Future[Client] = Future()
        self._session = asyncio.run_coroutine_threadsafe(self._live(url, token, ready), self._loop)
        self._client = ready.result(timeout=60)
        listed = self._run(self._client.list_tools()).tools
        self.schemas: list[dict[str, Any]] = [
            {
                "type": "function",
                "function": {"name": t.name, "description": t.description or "", "parameters": t.input_schema},
            }
            for t in listed
        ]

    async def _live(self, url: str, token: str, ready: Future[Client]) -> None:
        # A session is opened and closed by one task.
        headers = {"Authorization": f"Bearer {token}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60) as http,
            Client(streamable_http_client(url, http_client=http)) as client,
        ):
            ready.set_result(client)
            await self._end.wait()

    def _run(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout=60)

    def call(self, name: str, arguments: Mapping[str, Any]) -> mcp_types.CallToolResult:
        """Call a tool; error results are results too."""
        return cast(mcp_types.CallToolResult, self._run(self._client.call_tool(name, dict(arguments))))

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._end.set)
        self._session.result(timeout=60)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=10)


@dataclass(frozen=True)
class Called:
    """A tool call that the agent made, with the batch that it belongs to."""

    name: str
    arguments: Mapping[str, Any]
    text: str
    failed: bool
    batch: int


@dataclass
class Talk:
    """A conversation with one agent. `broken` are answers of tools that are given in place of the real ones."""

    client: OpenAI
    tools: Tools
    model: str = "spoke-agent"
    system: str = INSTRUCTIONS
    broken: dict[str, list[str]] = field(default_factory=dict)
    hidden: Sequence[str] = NEVER_OFFERED
    extra: Sequence[dict[str, Any]] = ()
    messages: list[dict[str, Any]] = field(default_factory=list)
    calls: list[Called] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)
    batches: int = 0

    def say(self, text: str) -> str:
        """Send the developer's words, run the tools that are asked for, and return the agent's answer."""
        self.messages.append({"role": "user", "content": text})
        for _ in range(MOST_STEPS):
            message = self._complete()
            self.messages.append(_plain(message))
            if not message.tool_calls:
                self.answers.append(message.content or "")
                return self.answers[-1]
            self.batches += 1
            for call in message.tool_calls:
                assert call.type == "function"
                result = self._call(call.function.name, call.function.arguments)
                self.messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
        raise AssertionError(f"the agent does not come to an end: {[call.name for call in self.calls]}")

    def _complete(self) -> ChatCompletionMessage:
        offered = [schema for schema in self.tools.schemas if schema["function"]["name"] not in self.hidden]
        completion = self.client.chat.completions.create(
            model=self.model,
            messages=cast(Any, [{"role": "system", "content": self.system}, *self.messages]),
            tools=cast(Any, [*offered, *self.extra]),
        )
        return completion.choices[0].message

    def _call(self, name: str, raw: str) -> str:
        offered = {s["function"]["name"] for s in self.tools.schemas} - set(self.hidden)
        assert name in offered | {s["function"]["name"] for s in self.extra}, f"{name} was not offered"
        arguments = json.loads(raw)
        if self.broken.get(name):
            text, failed = self.broken[name].pop(0), True
        elif name not in offered:
            text, failed = f"{name} did nothing", False
        else:
            result = self.tools.call(name, arguments)
            text = "\n".join(block.text for block in result.content if isinstance(block, mcp_types.TextContent))
            failed = bool(result.is_error)
        self.calls.append(Called(name, arguments, text, failed, self.batches))
        return text

    @property
    def names(self) -> list[str]:
        """The tools that were called, in order."""
        return [call.name for call in self.calls]

    @property
    def opened(self) -> list[Called]:
        """Pull requests that were opened."""
        return [call for call in self.calls if call.name == "create_spoke_pull_request" and not call.failed]

    @property
    def submitted(self) -> dict[str, Any]:
        """The configuration of the only pull request."""
        [call] = self.opened
        return cast(dict[str, Any], call.arguments["configuration"])

    @property
    def url(self) -> str:
        """The address of the only pull request."""
        [call] = self.opened
        return str(json.loads(call.text)["url"])


def brief(goal: str, facts: Mapping[str, str], persona: str) -> str:
    """A system prompt for the simulated developer."""
    lines = ["You are a developer in a chat with an agent.", "", f"Your goal: {goal}", f"Persona: {persona}", ""]
    lines += ["Facts you know (tell one only when you are asked for it):"]
    lines += [f"- {topic}: {value}" for topic, value in facts.items()]
    return "\n".join([*lines, "", f"When you are done reply with exactly: {STOP}"])


def converse(
    talk: Talk, opening: str, facts: Mapping[str, str], *, goal: str, persona: str = "a brief developer"
) -> list[str]:
    """Let the simulated developer talk to the agent until it stops; returns what the developer said."""
    said = [opening]
    for _ in range(MOST_TURNS):
        talk.say(said[-1])
        history: list[dict[str, Any]] = [{"role": "system", "content": brief(goal, facts, persona)}]
        for own, heard in zip(said, talk.answers, strict=True):
            history += [{"role": "assistant", "content": own}, {"role": "user", "content": heard}]
        reply = talk.client.chat.completions.create(model="developer", messages=cast(Any, history))
        text = reply.choices[0].message.content or ""
        if STOP in text:
            return said
        said.append(text)
    raise AssertionError(f"the developer does not come to an end: {said}")


def _plain(message: ChatCompletionMessage) -> dict[str, Any]:
    return message.model_dump(exclude_none=True, exclude={"refusal"})
