"""Names with wildcards: `*` is any text, `?` one character; everything else stands for itself, case included."""

from __future__ import annotations

import re
from functools import lru_cache


def has_wildcard(glob: str) -> bool:
    return "*" in glob or "?" in glob


def glob_fits(glob: str, text: str) -> bool:
    """Whether the whole of `text` fits. The usual forms, `name` and `prefix*`, need no regular expression."""
    if not has_wildcard(glob):
        return glob == text
    if glob[-1] == "*" and not has_wildcard(glob[:-1]):
        return text.startswith(glob[:-1])
    return _compiled(glob).fullmatch(text) is not None


@lru_cache(maxsize=1024)
def _compiled(glob: str) -> re.Pattern[str]:
    return re.compile("".join({"*": ".*", "?": "."}.get(char) or re.escape(char) for char in glob), re.DOTALL)
