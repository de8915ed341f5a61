"""A real MCP server for tests, made with the official SDK, in a process of its own.

Run as a program it serves: `tool_process.py http PORT LOG` or `tool_process.py stdio LOG`. Every call is a line
in LOG, so that a test sees what really ran. Imported, it starts that process and waits until it listens.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver import Context


@dataclass
class ToolProcess:
    """The running server. `calls()` are those that arrived, in order."""

    port: int
    log: Path
    process: subprocess.Popen[bytes]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    def calls(self) -> list[dict[str, Any]]:
        if not self.log.exists():
            return []
        return [json.loads(line) for line in self.log.read_text(encoding="utf-8").splitlines()]

    def names(self) -> list[str]:
        return [call["tool"] for call in self.calls()]

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def restart(self) -> None:
        self.process = _start(self.port, self.log)
        _wait(self.port, self.process)


@contextmanager
def tool_process(folder: Path) -> Iterator[ToolProcess]:
    """The server over streamable HTTP on a free port of this machine; its log is in `folder`."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    log = folder / f"tools-{port}.jsonl"
    running = ToolProcess(port, log, _start(port, log))
    try:
        _wait(port, running.process)
        yield running
    finally:
        running.kill()


def stdio_command(log: Path) -> tuple[str, list[str]]:
    """Program and arguments of the same server on stdio."""
    return sys.executable, [__file__, "stdio", str(log)]


def _start(port: int, log: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, __file__, "http", str(port), str(log)]
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _wait(port: int, process: subprocess.Popen[bytes]) -> None:
    for _ in range(1200):
        if process.poll() is not None:
            raise RuntimeError(f"the tool server ended with {process.returncode}")
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise RuntimeError("the tool server did not listen within a minute")


def serve(mode: str, log: Path, port: int = 0) -> None:
    server = MCPServer("tools of the test")

    def note(tool: str, **arguments: Any) -> None:
        line = json.dumps({"tool": tool, "arguments": arguments, "pid": os.getpid()}) + "\n"
        with log.open("a", encoding="utf-8") as handle:
            handle.write(line)

    @server.tool()
    def add(a: int, b: int) -> dict[str, int]:
        """Add two numbers."""
        note("add", a=a, b=b)
        return {"sum": a + b}

    @server.tool()
    def ping() -> str:
        """Answer."""
        note("ping")
        return "pong"

    @server.tool()
    def fail() -> str:
        """Fail."""
        note("fail")
        raise ValueError("no such spoke")

    @server.tool()
    async def slow(seconds: float) -> str:
        """Take a while."""
        note("slow", seconds=seconds)
        await asyncio.sleep(seconds)
        return "done"

    @server.tool()
    async def steps(count: int, pause: float, ctx: Context[Any, Any]) -> str:
        """Report progress between pauses."""
        note("steps", count=count, pause=pause)
        for step in range(count):
            await ctx.report_progress(step + 1, count, "working")
            await asyncio.sleep(pause)
        return "done"

    @server.tool()
    def huge(characters: int) -> str:
        """A long text."""
        note("huge", characters=characters)
        return "x" * characters

    @server.tool()
    def die() -> str:
        """End the server."""
        note("die")
        os._exit(3)

    @server.tool()
    def create_pull_request(
        title: str, number: int = 7, description: str = "", branch_prefix: str = "spoke"
    ) -> dict[str, Any]:
        """Open a pull request."""
        note("create_pull_request", title=title, description=description, branch_prefix=branch_prefix)
        if title == "refuse":
            raise ValueError("the branch exists already")
        return {
            "pullRequestId": number,
            "url": f"https://dev.azure.com/landing-zones/platform/_git/spokes/pullrequest/{number}",
            "status": "active",
            "repository": "spokes",
            "sourceBranch": f"{branch_prefix}/{title}",
        }

    if mode == "stdio":
        server.run("stdio")
    else:
        server.run("streamable-http", host="127.0.0.1", port=port)


if __name__ == "__main__":
    if sys.argv[1] == "stdio":
        serve("stdio", Path(sys.argv[2]))
    else:
        serve("http", Path(sys.argv[3]), int(sys.argv[2]))
