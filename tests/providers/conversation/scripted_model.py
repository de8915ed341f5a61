"""A Chat Completions service over real HTTP: each model says what the test tells it to, and its requests are kept."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Reply = str | int | Callable[[dict[str, Any]], str]
"""A text, a function of the request's body that gives one, or the HTTP status of a refusal."""


class ScriptedModel:
    """`replies` by model name; the last reply of a list is said again and again."""

    def __init__(self, **replies: list[Reply]) -> None:
        self.requests: list[dict[str, Any]] = []
        self.url = ""
        self._replies = {name: list(queue) for name, queue in replies.items()}

    def asked(self, model: str) -> list[dict[str, Any]]:
        return [body for body in self.requests if body["model"] == model]

    def answer(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        self.requests.append(body)
        queue = self._replies.get(body["model"], [])
        if not queue:
            return 404, {"error": {"message": f"no model {body['model']}", "code": "model_not_found"}}
        reply = queue.pop(0) if len(queue) > 1 else queue[0]
        if isinstance(reply, int):
            return reply, {"error": {"message": "refused by the test", "code": "refused"}}
        text = reply if isinstance(reply, str) else reply(body)
        return 200, {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 0,
            "model": body["model"],
            "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
            "usage": {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12},
        }


@contextmanager
def serving(model: ScriptedModel) -> Iterator[ScriptedModel]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, answer = model.answer(body)
            data = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True, kwargs={"poll_interval": 0.01})
    thread.start()
    model.url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
