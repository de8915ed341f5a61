"""What makes a forked process the one that was asked for: its streams, its environment, its working folder."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Mapping, Sequence

READ_AT_ONCE = ("SSL_CERT_FILE", "SSL_CERT_DIR", "OPENSSL_CONF")
"""Variables that have had their effect before a process is forked."""


def take_over(streams: Sequence[int]) -> None:
    """Make these open files stdin, stdout and stderr."""
    for mine, theirs in zip((0, 1, 2), streams, strict=True):
        os.dup2(theirs, mine)
        os.close(theirs)


def become(executable: str, environment: Mapping[str, str], folder: str) -> str | None:
    """Take over the asker's environment and folder; the reason why it can not be this process, if there is one."""
    if executable != sys.executable:
        return f"the worker's Python is {executable}, this one is {sys.executable}"
    for name in READ_AT_ONCE:
        if environment.get(name) != os.environ.get(name):
            return f"the worker's {name} is not the one that was in force here"
    if threading.active_count() != 1:
        return "a thread was running when the process was forked"
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    os.chdir(folder)
    return None
