"""Log lines as promptfoo understands them: on stderr, one line each, beginning with the level.

Stdout belongs to promptfoo's own protocol with its Python workers, so nothing is ever printed there.
"""

from __future__ import annotations

import logging
import sys

from endpoints.redaction import redact

LOGGER_NAME = "evals"


class _OneLine(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        # promptfoo takes a line without a level for a warning, so a traceback must not span lines.
        line = " | ".join(line.strip() for line in super().format(record).splitlines() if line.strip())
        return redact(line)


def get_logger() -> logging.Logger:
    """The pack's logger; its handler is installed once per process."""
    log = logging.getLogger(LOGGER_NAME)
    if not log.handlers:
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(_OneLine("%(levelname)s %(message)s"))
        log.addHandler(handler)
        log.setLevel(logging.INFO)
        log.propagate = False
    return log
