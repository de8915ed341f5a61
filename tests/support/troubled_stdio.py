"""An MCP server on stdio that misbehaves on request, with nothing but the standard library, so that it starts at once.

Run as a program with one argument, JSON: `answers` (results of `tools/call` by the tool's name), `trouble`, and `at`,
the method or the tool at which the trouble comes.
"""

from __future__ import annotations

import json
import os
import select
import sys
import time
from pathlib import Path
from typing import Any

VERSION = "2025-11-25"


def command(**plan: Any) -> dict[str, Any]:
    """The program and its arguments, as an entry of `servers` has them."""
    return {"command": sys.executable, "args": ["-I", "-S", str(Path(__file__).resolve()), json.dumps(plan)]}


def _serve(plan: dict[str, Any]) -> None:
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        name = message["params"]["name"] if message["method"] == "tools/call" else message["method"]
        if name == plan.get("at") and _misbehave(plan["trouble"], message):
            continue
        result = _result(message, name, plan["answers"])
        if result is None:
            _say({"id": message["id"], "error": {"code": -32601, "message": "Method not found"}})
        else:
            _say({"id": message["id"], "result": result})


def _result(message: dict[str, Any], name: str, answers: dict[str, Any]) -> Any:
    match message["method"]:
        case "initialize":
            info = {"name": "stdio of the test", "version": "1"}
            return {"protocolVersion": VERSION, "capabilities": {"tools": {}}, "serverInfo": info}
        case "tools/list":
            return {"tools": [{"name": tool, "inputSchema": {"type": "object"}} for tool in answers]}
        case "tools/call":
            return answers[name]
    return None


def _misbehave(trouble: str, message: dict[str, Any]) -> bool:
    """False when the answer still has to come."""
    match trouble:
        case "silence":
            return True
        case "die":
            os._exit(3)
        case "slow":
            time.sleep(0.05)
            return False
        case "error":
            _say({"id": message["id"], "error": {"code": -32603, "message": "out of order"}})
        case "progress":
            token = message["params"]["_meta"]["progressToken"]
            for done in range(10_000):
                _say({"method": "notifications/progress", "params": {"progressToken": token, "progress": done}})
                if select.select([sys.stdin], [], [], 0.05)[0] and not sys.stdin.readline():
                    os._exit(0)
        case "huge":
            text = "x" * 1_000_000
            _say({"id": message["id"], "result": {"content": [{"type": "text", "text": text}]}})
        case raw:
            sys.stdout.write(raw.replace("<id>", json.dumps(message["id"])) + "\n")
            sys.stdout.flush()
    return True


def _say(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    _serve(json.loads(sys.argv[1]))
