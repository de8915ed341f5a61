"""What is wrong with a case file, and where."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, order=True)
class Problem:
    """One fault. `line` counts from 1; the message says what is wrong and what is allowed."""

    file: Path
    line: int
    message: str

    def __str__(self) -> str:
        return f"{shortest(self.file)}:{self.line}: {self.message}"


class CaseFileError(ValueError):
    """Case files that cannot be run. The text has one line per problem, in the order of the file."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = tuple(problems)


def shortest(file: Path) -> str:
    """The path as a person in this folder would write it."""
    try:
        return str(file.relative_to(Path.cwd()))
    except ValueError:
        return str(file)


def nearest(word: str, allowed: Iterable[str]) -> str:
    """`; did you mean …?`, or nothing when no allowed word is close."""
    import difflib

    found = difflib.get_close_matches(word, list(allowed), n=1)
    return f"; did you mean {found[0]}?" if found else ""
