"""What a process that was forked for one worker does: answer its calls, one at a time, until that worker is gone."""

from __future__ import annotations

import json
import os
import select
import socket
import threading
from typing import TextIO

from models import offline
from providers.worker import run_here


def serve(connection: socket.socket, lines: TextIO) -> int:
    """Answer lines with the arguments of `run_here` by lines with its results. Returns the exit code."""
    if offline.wanted():
        offline.refuse_outside_connections()
    watch = _Watch(connection)
    threading.Thread(target=watch.leave_with_worker, name="watch", daemon=True).start()
    for line in lines:
        watch.busy = True
        if watch.alone:
            return 1
        lines.write(json.dumps(run_here(**json.loads(line))) + "\n")
        lines.flush()
        watch.busy = False
    return 0


class _Watch:
    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self.busy = False
        self.alone = False

    def leave_with_worker(self) -> None:
        """End in mid-episode when the worker was killed, as the episode would have if it had run there.

        An episode whose worker was gone before it was read is not begun.
        """
        poller = select.poll()
        poller.register(self._connection, select.POLLRDHUP)
        poller.poll()
        self.alone = True
        if self.busy:
            os._exit(1)
