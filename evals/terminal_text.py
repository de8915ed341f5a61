"""Text of a model, a tool or a host, fit for a terminal: most of what a report quotes is somebody else's."""

from __future__ import annotations

import re

_STACK = re.compile(r"\n\s+at ")
"""Where JavaScript's stack begins in the text of an error."""


def printable(text: str) -> str:
    """`text` without what a terminal would obey: control characters, line breaks and the like become `�`."""
    return "".join(character if character.isprintable() else "�" for character in text)


def one_line(text: str, longest: int = 300) -> str:
    """`text` on one line of at most `longest` characters, without a stack; its own lines stay apart."""
    parts = (" ".join(part.split()) for part in _STACK.split(text, maxsplit=1)[0].splitlines())
    line = "; ".join(part for part in parts if part)
    return printable(line if len(line) <= longest else f"{line[: longest - 1]}…")
