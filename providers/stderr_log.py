"""Log lines as promptfoo understands them: on stderr, one line each, beginning with the level.

Stdout belongs to promptfoo's own protocol with its Python workers, so nothing is ever printed there.
"""

from __future__ import annotations

import logging
import sys
import threading

from endpoints.redaction import redact

LOGGER_NAME = "evals"


class _OneLine(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        # promptfoo takes a line without a level for a warning, so a traceback must not span lines. Masked before they
        # are joined: a private key is recognised by its lines.
        return " | ".join(line.strip() for line in redact(super().format(record)).splitlines() if line.strip())


def get_logger() -> logging.Logger:
    """The pack's logger. Its handler is installed once per process, and takes what libraries warn of as well."""
    log = logging.getLogger(LOGGER_NAME)
    if not log.handlers:
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(_OneLine("%(levelname)s %(message)s"))
        log.addHandler(handler)
        log.setLevel(logging.INFO)
        log.propagate = False
        root = logging.getLogger()
        if not root.handlers:
            root.addHandler(handler)
        if threading.excepthook is threading.__excepthook__:
            threading.excepthook = _thread_crashed
    return log


def _thread_crashed(crash: threading.ExceptHookArgs) -> None:
    """What Python itself would print line by line, and as it is."""
    if crash.exc_value is not None and not isinstance(crash.exc_value, SystemExit):
        get_logger().error("a thread crashed", exc_info=crash.exc_value)
