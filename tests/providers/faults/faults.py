"""The faults of the matrix: what each does over HTTP, at the door of a service, on stdio, and in a tool's answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from tests.support import troubled_stdio
from tests.support.troubled_http import Door, Reply, Request, Trouble

SHORT_S = 0.12
"""How long the caller in trouble waits. Everybody else waits much longer, so that a slow machine changes nothing."""
LONG_DEADLINE_S = 30.0

MOST_BYTES = 1_000_000
"""Largest answer that is read in these tests; outside them it is 32 MB."""

HUGE = b'{"huge": "' + b"x" * MOST_BYTES + b'"}'


@dataclass(frozen=True)
class Fault:
    """One fault.

    `http` is what becomes of an answer; `at_door` what the whole address does instead. `line` is what a server on stdio
    does (see `troubled_stdio`), `answer` what a tool answers. `method` is the MCP method that is hit while a session is
    opened, `seconds` the time-out of the caller that is hit.
    """

    name: str
    http: Trouble | None = None
    at_door: Callable[[Door], None] | None = None
    line: str = ""
    answer: Any = None
    method: str = ""
    seconds: float = 0.0
    deadline_s: float = LONG_DEADLINE_S
    by_place: Mapping[str, Reply] | None = None
    comes_back: bool = False

    def trouble(self, place: str) -> Trouble | None:
        if self.by_place is not None:
            return Trouble("replace", self.by_place[place.split()[0]])
        return self.http

    def filled_in(self, trouble: Trouble, request: Request) -> Trouble:
        """The trouble with the request's own id and progress token, where its texts leave room for them."""
        message = json.loads(request.body)
        token = ((message.get("params") or {}).get("_meta") or {}).get("progressToken")

        def fill(raw: bytes) -> bytes:
            return raw.replace(b"<id>", json.dumps(message.get("id")).encode()).replace(
                b"<token>", json.dumps(token).encode()
            )

        body = trouble.reply.body
        short = body if len(body) > 10_000 else fill(body)
        return replace(trouble, reply=replace(trouble.reply, body=short), more=fill(trouble.more))

    def tool_answer(self, usual: Any) -> Any:
        return usual if self.answer is None else self.answer

    def stdio(self, at: str, answers: Mapping[str, Any]) -> dict[str, Any]:
        """The entry of `servers` for a server on stdio that has this fault at a method or a tool."""
        if self.at_door is Door.refuse:
            return {"command": "/no/such/program"}
        changed = {name: self.tool_answer(usual) if name == at else usual for name, usual in answers.items()}
        return troubled_stdio.command(answers=changed, at=at if self.line else "", trouble=self.line)


def _status(status: int, **error: str) -> Fault:
    body = json.dumps({"error": {"message": "no", **error}, "message": "no"}).encode()
    # At once, so that no test waits; a wait that does not fit is another test's matter.
    headers = {"Retry-After": "0"} if status in (408, 409, 429, 500, 503) else {}
    name = f"{status} {error.get('code', '')}".strip()
    return Fault(name, Trouble("replace", Reply(status, body, headers)))


def _rpc(result: Any) -> bytes:
    return b'{"jsonrpc": "2.0", "id": <id>, "result": ' + json.dumps(result).encode() + b"}"


_ERROR = b'{"jsonrpc": "2.0", "id": <id>, "error": {"code": -32603, "message": "out of order"}}'
_PROGRESS = (
    b'data: {"jsonrpc": "2.0", "method": "notifications/progress",'
    b' "params": {"progressToken": <token>, "progress": 1}}\n\n'
)
_WRONG = {
    "agent": Reply(body=b'{"choices": []}'),
    "user": Reply(body=b'{"choices": [{"message": "hello"}]}'),
    "judge": Reply(body=b'["choices"]'),
    "mcp": Reply(body=_rpc({"content": "no list"})),
    "host": Reply(body=b'{"value": 7}'),
}

FAULTS = {
    fault.name: fault
    for fault in (
        Fault("none"),
        Fault("connection refused", at_door=Door.refuse),
        Fault("connect time-out", at_door=Door.take_nothing, line="silence", seconds=SHORT_S),
        Fault("read time-out", Trouble("silence"), line="silence", seconds=SHORT_S),
        Fault("stall in mid-body", Trouble("stall"), line='{"jsonrpc": "2.0", "id": <id>, ', seconds=SHORT_S),
        Fault("closed in mid-body", Trouble("cut_off"), line="die"),
        Fault("reset", Trouble("reset"), line="die"),
        *(_status(status) for status in (400, 401, 403, 404, 408, 409, 429, 500, 503)),
        _status(400, code="content_filter"),
        Fault(
            "not JSON",
            Trouble("replace", Reply(body=b"<html>Sign in</html>", content_type="text/html")),
            line="<html>Sign in</html>",
            seconds=SHORT_S,
        ),
        Fault("empty body", Trouble("replace", Reply()), line=" ", seconds=SHORT_S),
        Fault("cut JSON", Trouble("halve"), line='{"jsonrpc": "2.0", "id": <id>, "res', seconds=SHORT_S),
        Fault("wrong shape", by_place=_WRONG, line=_rpc({"content": "no list"}).decode()),
        Fault("huge body", Trouble("replace", Reply(body=HUGE)), line="huge"),
        Fault("slow", Trouble("slow"), line="slow"),
        Fault("isError", answer={"content": [{"type": "text", "text": "quota used up"}], "isError": True}),
        Fault("protocol error", Trouble("replace", Reply(body=_ERROR)), line="error"),
        Fault("session expired"),
        Fault("server gone and back", at_door=lambda door: door.leave_for(0.05), comes_back=True),
        Fault("tool list fails", Trouble("replace", Reply(500)), line="error", method="tools/list"),
        Fault("tool list in pages"),
        Fault("tool list unending"),
        Fault(
            "unending progress",
            Trouble("endless", Reply(content_type="text/event-stream"), more=_PROGRESS),
            line="progress",
            deadline_s=1.2,
        ),
        Fault("structured malformed", answer={"content": [], "structuredContent": "no object"}),
        Fault("structured off schema", answer={"content": [], "structuredContent": {"sum": "x"}}),
    )
}
