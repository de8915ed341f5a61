"""Keeps a hook that breaks down from ending the run, and from being forgotten."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import TracebackType

from episodes import short_process


class Guard:
    """A context manager that takes every exception of the block, says it on stderr, and hands it to `record`."""

    def __init__(self, hook: str, record: Callable[[str], object]) -> None:
        self._hook = hook
        self._record = record

    def __enter__(self) -> None:
        short_process.begin()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        short_process.end()
        if not isinstance(error, Exception):
            return False
        sentence = f"{self._hook} broke down: {type(error).__name__}: {error}{_place(trace)}"
        say("ERROR", sentence)
        try:
            self._record(sentence)
        except (OSError, ValueError) as second:
            say("ERROR", f"{self._hook}: and that could not be written down: {second}")
        return True


def say(level: str, text: str) -> None:
    """One line for promptfoo's log, which keeps the level of a line that begins with `INFO`, `WARN` or `ERROR`."""
    from endpoints.redaction import redact

    print(f"{level}: {' '.join(redact(text).split())}", file=sys.stderr, flush=True)


def _place(trace: TracebackType | None) -> str:
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return "" if trace is None else f" ({trace.tb_frame.f_code.co_filename}:{trace.tb_lineno})"
