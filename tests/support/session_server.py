"""A hand-written MCP server of the older protocol (2025-11-25): sessions with an id, pages, and faults on request.

The SDK's own server speaks the newest protocol to the SDK's client, which has no sessions; servers in the field do.
"""

from __future__ import annotations

import contextlib
import json
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

VERSION = "2025-11-25"


class SessionServer:
    """What the server knows. `answers` are results of `tools/call` by the tool's name: an object, or an HTTP status."""

    def __init__(self) -> None:
        self.url = ""
        self.answers: dict[str, Any] = {}
        self.schemas: dict[str, Any] = {}
        """Schemas of tools that take arguments, by name."""
        self.page_size = 2
        self.endless_list = False
        self.reject_all: int | None = None
        self.sessions: set[str] = set()
        self.opened = 0
        self.closed = 0
        self.called: list[str] = []
        self.meta: list[dict[str, Any]] = []
        self.authorization: set[str] = set()

    def expire_sessions(self) -> None:
        self.sessions.clear()

    def post(self, message: dict[str, Any], session: str | None, authorization: str) -> tuple[int, Any, str | None]:
        """HTTP status, body and session id of the answer to one posted message."""
        self.authorization.add(authorization)
        if self.reject_all is not None:
            return self.reject_all, None, None
        if message["method"] == "initialize":
            session = uuid.uuid4().hex
            self.sessions.add(session)
            self.opened += 1
        elif message["method"] == "server/discover":
            return 400, {"jsonrpc": "2.0", "id": message["id"], "error": _unknown()}, None
        elif session not in self.sessions:
            return 404, None, None
        if "id" not in message:
            return 202, None, None
        result = self.answer(message)
        if isinstance(result, int):
            return result, None, None
        reply = {"error": _unknown()} if result is None else {"result": result}
        return 200, {"jsonrpc": "2.0", "id": message["id"], **reply}, session

    def end(self, session: str) -> None:
        """The client closes its session."""
        self.sessions.discard(session)
        self.closed += 1

    def answer(self, message: dict[str, Any]) -> Any:
        """The result of one request, an HTTP status instead of it, or None for a method that it does not know."""
        match message["method"]:
            case "initialize":
                return {
                    "protocolVersion": VERSION,
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "sessions of the test", "version": "1"},
                }
            case "tools/list":
                return self._page(int((message.get("params") or {}).get("cursor") or 0))
            case "tools/call":
                name = message["params"]["name"]
                self.called.append(name)
                self.meta.append(message["params"].get("_meta") or {})
                return self.answers[name]
        return None

    def _schema(self, name: str) -> Any:
        return self.schemas.get(name, {"type": "object"})

    def _page(self, start: int) -> dict[str, Any]:
        names = list(self.answers)
        page = names[start : start + self.page_size]
        tools = [{"name": name, "description": f"Tool {name}.", "inputSchema": self._schema(name)} for name in page]
        end = start + self.page_size
        more = {"nextCursor": str(0 if self.endless_list else end)} if self.endless_list or end < len(names) else {}
        return {"tools": tools, **more}


@contextmanager
def session_server() -> Iterator[SessionServer]:
    """The server, on a free port of this machine."""
    state = SessionServer()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        # Headers and body in one packet; two would wait 40 ms for each other.
        wbufsize = -1

        def do_POST(self) -> None:
            message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            session, authorization = self.headers.get("Mcp-Session-Id"), self.headers.get("Authorization", "")
            self._send(*state.post(message, session, authorization))

        def do_GET(self) -> None:
            self._send(405)

        def do_DELETE(self) -> None:
            state.end(self.headers.get("Mcp-Session-Id", ""))
            self._send(200)

        def _send(self, status: int, body: Any = None, session: str | None = None) -> None:
            content = b"" if body is None else json.dumps(body).encode()
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                self.send_response(status)
                if body is not None:
                    self.send_header("Content-Type", "application/json")
                if session:
                    self.send_header("Mcp-Session-Id", session)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:
            """Quiet: a test's output is its own."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    state.url = f"http://127.0.0.1:{server.server_address[1]}/mcp"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _unknown() -> dict[str, Any]:
    return {"code": -32601, "message": "Method not found"}
