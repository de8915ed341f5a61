"""A real HTTP model service for tests: it answers with a script, in order, and keeps what it was asked.

It speaks Chat Completions, the Responses API and Azure's paths. A step of the script is a `Say`, or a function that
gets the request's body and returns one.
"""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.support.loopback_server import served

KEY = "key-of-the-test"


@dataclass(frozen=True)
class Say:
    """One answer. `calls` are (tool, arguments) where arguments that are a text are sent as they are.

    `raw` replaces the whole body; `drop` closes the connection without an answer; `delay_s` waits before it.
    """

    text: str | None = None
    calls: Sequence[tuple[str, Any]] = ()
    finish_reason: str | None = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    error: Mapping[str, Any] | None = None
    raw: bytes | None = None
    drop: bool = False
    delay_s: float = 0.0
    prompt_tokens: int = 100
    completion_tokens: int = 10


Step = Say | Callable[[dict[str, Any]], Say]


@dataclass
class Asked:
    path: str
    headers: dict[str, str]
    body: dict[str, Any]


class ScriptedModel:
    def __init__(self, script: Sequence[Step]) -> None:
        self.script = list(script)
        self.asked: list[Asked] = []
        self.url = ""
        self._lock = threading.Lock()

    def next(self, asked: Asked) -> Say:
        with self._lock:
            self.asked.append(asked)
            step = self.script.pop(0) if self.script else Say(status=500, error={"message": "the script is over"})
        return step if isinstance(step, Say) else step(asked.body)


@contextmanager
def scripted_model(*script: Step) -> Iterator[ScriptedModel]:
    """The service, on a free port of this machine."""
    model = ScriptedModel(script)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        # Headers and body in one packet; two would wait 40 ms for each other.
        wbufsize = -1

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            say = model.next(Asked(self.path, {k.lower(): v for k, v in self.headers.items()}, body))
            time.sleep(say.delay_s)
            if say.drop:
                self.close_connection = True
                return
            content = _body(say, body, responses=self.path.split("?")[0].endswith("/responses"))
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                self.send_response(say.status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                for name, value in say.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:
            """Quiet: a test's output is its own."""

    with served(Handler) as url:
        model.url = f"{url}/v1"
        yield model


def _body(say: Say, request: Mapping[str, Any], *, responses: bool) -> bytes:
    if say.raw is not None:
        return say.raw
    if say.status != 200:
        return json.dumps({"error": say.error or {"message": "no"}}).encode()
    return json.dumps(_responses(say, request) if responses else _chat(say, request)).encode()


def _arguments(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _chat(say: Say, request: Mapping[str, Any]) -> dict[str, Any]:
    number = len(request["messages"])
    message: dict[str, Any] = {"role": "assistant", "content": say.text}
    if say.calls:
        message["tool_calls"] = [
            {
                "id": f"call_{number}_{index}",
                "type": "function",
                "function": {"name": name, "arguments": _arguments(arguments)},
            }
            for index, (name, arguments) in enumerate(say.calls)
        ]
    reason = say.finish_reason or ("tool_calls" if say.calls else "stop")
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": request["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": {
            "prompt_tokens": say.prompt_tokens,
            "completion_tokens": say.completion_tokens,
            "total_tokens": say.prompt_tokens + say.completion_tokens,
        },
    }


def _responses(say: Say, request: Mapping[str, Any]) -> dict[str, Any]:
    number = len(request["input"])
    output: list[dict[str, Any]] = [{"type": "reasoning", "id": "rs_1", "encrypted_content": "opaque", "summary": []}]
    if say.text:
        content = [{"type": "output_text", "text": say.text, "annotations": []}]
        output.append({"type": "message", "id": "msg_1", "role": "assistant", "content": content})
    for index, (name, arguments) in enumerate(say.calls):
        output.append(
            {
                "type": "function_call",
                "id": f"fc_{index}",
                "call_id": f"call_{number}_{index}",
                "name": name,
                "arguments": _arguments(arguments),
            }
        )
    cut = {"status": "incomplete", "incomplete_details": {"reason": say.finish_reason}} if say.finish_reason else {}
    return {
        "id": "resp_1",
        "object": "response",
        "model": request["model"],
        "status": "completed",
        "output": output,
        "usage": {"input_tokens": say.prompt_tokens, "output_tokens": say.completion_tokens},
        **cut,
    }
