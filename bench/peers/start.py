"""Started with a peer's Python: `start.py WORKER QUESTION ANSWER` runs `answer(question)` of the file WORKER.

QUESTION and ANSWER are JSON files. Every connection is refused from before the peer is imported.
"""

from __future__ import annotations

import importlib.util
import json
import socket
import sys
from pathlib import Path
from typing import Any


def refuse_connections() -> None:
    """Let every attempt to connect or to look up a name fail, so that nothing can leave this machine."""

    def refuse(*_args: object, **_options: object) -> Any:
        raise OSError("this process may not connect to anything")

    for name in ("connect", "connect_ex"):
        setattr(socket.socket, name, refuse)
    for name in ("create_connection", "getaddrinfo", "gethostbyname"):
        setattr(socket, name, refuse)


def main(worker: str, question: str, answer: str) -> None:
    refuse_connections()
    spec = importlib.util.spec_from_file_location("peer_worker", worker)
    if spec is None or spec.loader is None:
        raise ImportError(f"{worker} can not be loaded")
    module = importlib.util.module_from_spec(spec)
    sys.modules["peer_worker"] = module
    spec.loader.exec_module(module)
    answered = module.answer(json.loads(Path(question).read_text(encoding="utf-8")))
    Path(answer).write_text(json.dumps(answered), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
