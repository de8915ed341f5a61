"""A model service on this machine that plays both sides of `bench.talk`, each answer after a fixed time.

It speaks Chat Completions, and the task protocol in which promptfoo's own simulated user asks for its lines. It notes
when each request came and when its answer went, which is one stopwatch for everybody who drives the conversation.
"""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bench.talk import INVERTED, Line, Talk, agent_line, talk_of, user_line

KEY = "no-secret"
AGENT, USER = "spoke-agent", "developer"
"""The names under which the two sides are asked."""


@dataclass(frozen=True)
class Asked:
    """One request: whose line was wanted, when it came and when its answer went, in seconds of one clock.

    `heard_inverted` is true when the agent was shown a line of the developer that only an agent says.
    """

    talk: Talk
    side: Literal["agent", "user"]
    arrived: float
    answered: float
    heard_inverted: bool = False


@dataclass
class TimedModel:
    """`url` ends in /v1; `task_url` is where promptfoo's simulated user asks. `log` is in the order of the answers."""

    latency_s: float
    url: str = ""
    task_url: str = ""
    log: list[Asked] = field(default_factory=list)

    async def chat(self, request: Request) -> Response:
        arrived = time.perf_counter()
        body = await request.json()
        talk = _talk(body)
        messages = body["messages"]
        if body["model"] == USER:
            await asyncio.sleep(self.latency_s)
            answer = _completion(body["model"], Line(user_line(talk.kind, messages)), len(messages))
            return self._answered(answer, Asked(talk, "user", arrived, 0.0))
        await asyncio.sleep(self.latency_s)
        answer = _completion(body["model"], agent_line(messages), len(messages))
        inverted = any(message["role"] == "user" and message["content"] == INVERTED for message in messages)
        return self._answered(answer, Asked(talk, "agent", arrived, 0.0, inverted))

    async def task(self, request: Request) -> Response:
        arrived = time.perf_counter()
        body = await request.json()
        talk = _talk(body)
        await asyncio.sleep(self.latency_s)
        usage = {"total": 110, "prompt": 100, "completion": 10}
        answer = {"result": user_line(talk.kind, body["history"]), "tokenUsage": usage}
        return self._answered(answer, Asked(talk, "user", arrived, 0.0))

    def _answered(self, answer: Mapping[str, Any], asked: Asked) -> Response:
        response = JSONResponse(answer)
        now = time.perf_counter()
        self.log.append(Asked(asked.talk, asked.side, asked.arrived, now, asked.heard_inverted))
        return response


@contextmanager
def timed_model(latency_s: float) -> Iterator[TimedModel]:
    """Serve on a free port of this machine for as long as the block lasts."""
    model = TimedModel(latency_s)
    app = Starlette(
        routes=[
            Route("/v1/chat/completions", model.chat, methods=["POST"]),
            Route("/task", model.task, methods=["POST"]),
        ]
    )
    # With the protocol named, asyncio sends small packets at once; without it every other answer would wait 40 ms.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        model.url, model.task_url = f"{address}/v1", f"{address}/task"
        config = uvicorn.Config(app, log_config=None, access_log=False, lifespan="off", timeout_keep_alive=120)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        while not server.started:
            if not thread.is_alive():
                raise RuntimeError("the model service of the benchmark did not start")
            time.sleep(0.01)
        try:
            yield model
        finally:
            server.should_exit = True
            thread.join(timeout=10)


def _talk(body: Mapping[str, Any]) -> Talk:
    talk = talk_of(json.dumps(body.get("messages", body.get("history"))))
    if talk is None:
        raise RuntimeError("a request does not say which conversation it belongs to")
    return talk


def _completion(model: str, line: Line, number: int) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": line.text or None}
    if line.tool:
        function = {"name": line.tool, "arguments": json.dumps(line.arguments)}
        message["tool_calls"] = [{"id": f"call_{number}", "type": "function", "function": function}]
    return {
        "id": "chatcmpl-bench",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls" if line.tool else "stop"}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
    }
