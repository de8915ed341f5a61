"""A stand-in for the package `xllamacpp`: the part of its interface that we use, in front of a scripted HTTP server.

A test copies this file into an engine's packages under that name, so that everything but the engine is the real thing.
The file BEHAVIOUR beside it says how it behaves: `answers`, `refuses` to load, `dies` while it answers, `dies later`
(in the second conversation), or `hangs`.
Each request is written to REQUESTS beside it, one JSON object a line; where a request ends because nobody waits for it,
a line `{"gone": true}` follows.
"""

from __future__ import annotations

import http.server
import json
import os
import select
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

FOLDER = Path(__file__).parent
CALL = '```json\n{"name": "get_spoke", "arguments": {"name": "spoke-webshop-dev"}}\n```'
STOP = "###STOP###"
HANG_SECONDS = 120


def behaviour() -> str:
    file = FOLDER / "BEHAVIOUR"
    return file.read_text(encoding="utf-8").strip() if file.exists() else "answers"


def note(entry: dict[str, Any]) -> None:
    with (FOLDER / "REQUESTS").open("a", encoding="utf-8") as file:
        file.write(json.dumps(entry) + "\n")


class CommonParams(SimpleNamespace):
    def __init__(self) -> None:
        super().__init__(model=SimpleNamespace(), cpuparams=SimpleNamespace(), cpuparams_batch=SimpleNamespace())


class Server:
    def __init__(self, parameters: CommonParams) -> None:
        if behaviour() == "refuses":
            raise RuntimeError(f"failed to load {parameters.model.path}")
        note({"loaded": parameters.model.path, "context": parameters.n_ctx, "pid": os.getpid()})
        (key,) = parameters.api_keys

        class Handler(_Handler):
            expected = f"Bearer {key}"

        server = http.server.ThreadingHTTPServer((parameters.hostnames[0], parameters.port), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.listening_address = f"http://127.0.0.1:{server.server_port}"


class _Handler(http.server.BaseHTTPRequestHandler):
    expected = ""
    conversations = 0

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        note(
            {
                "messages": len(body["messages"]),
                "max_tokens": body.get("max_tokens"),
                "tools": len(body.get("tools", [])),
            }
        )
        if self.headers["Authorization"] != self.expected:
            self._send(401, {"error": {"code": 401, "message": "Invalid API Key", "type": "authentication_error"}})
            return
        if behaviour() == "dies" or (behaviour() == "dies later" and self.conversations):
            os._exit(9)
        if behaviour() == "hangs":
            self._wait()
            return
        if "too long" in str(body["messages"][-1]["content"]):
            error = {"code": 400, "message": "the request exceeds the context", "type": "exceed_context_size_error"}
            self._send(400, {"error": error})
            return
        reply = _reply(body)
        if reply == STOP:
            _Handler.conversations += 1
        message = {"role": "assistant", "content": reply}
        usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        self._send(200, {"id": "chatcmpl-1", "model": body["model"], "choices": [choice], "usage": usage})

    def _wait(self) -> None:
        ends = time.monotonic() + HANG_SECONDS
        while time.monotonic() < ends:
            if select.select([self.connection], [], [], 0.05)[0]:
                note({"gone": True})
                return

    def _send(self, status: int, data: dict[str, Any]) -> None:
        content = json.dumps(data).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        return


def _reply(body: dict[str, Any]) -> str:
    """The agent reads a spoke and gives up; the developer, who has no tools, ends the conversation."""
    if not body.get("tools"):
        return STOP
    if body["messages"][-1]["role"] == "user":
        return CALL
    return "I have read spoke-webshop-dev and can not do more."
