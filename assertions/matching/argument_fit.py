"""How the arguments of one call fit what was expected. Kept apart from the comparing, which not every check needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assertions.matching.paths import Path


class Mismatch:
    """One difference. `unknown`: the evidence is lost, so it may fit after all.

    Its words are only put together when somebody asks for them: most mismatches of a record are those of calls that
    nobody meant.
    """

    __slots__ = ("_write", "path", "unknown")

    def __init__(self, path: Path, write: Callable[[], str], unknown: bool = False) -> None:
        self.path = path
        self.unknown = unknown
        self._write = write

    @property
    def text(self) -> str:
        """The place and both values, in words."""
        return self._write()


class ArgumentMatch:
    """How the arguments of one call fit.

    `compared` gives the top-level names that were compared; they are only looked up when somebody asks for the share.
    `notes` say what was forgiven (`coerced /id from "42"`).
    """

    __slots__ = ("compared", "mismatches", "notes")

    def __init__(
        self, compared: Callable[[], set[str]], mismatches: Sequence[Mismatch], notes: Sequence[str] = ()
    ) -> None:
        self.compared = compared
        self.mismatches = mismatches
        self.notes = notes

    @property
    def fits(self) -> bool:
        return not self.mismatches

    @property
    def could_fit(self) -> bool:
        """It fits, or all that speaks against it is evidence that was lost."""
        return all(mismatch.unknown for mismatch in self.mismatches)

    @property
    def share(self) -> tuple[int, int]:
        """How many parameters fit, of how many. (1, 1) when there is nothing to compare and nothing is wrong."""
        if not self.mismatches:
            return 1, 1
        wrong = {str(mismatch.path[0]) for mismatch in self.mismatches if mismatch.path}
        names = self.compared() | wrong
        return (len(names) - len(wrong), len(names)) if wrong else (0, 1)


NOTHING_WRONG = ArgumentMatch(set, ())
"""Everything fits, or there is nothing to compare."""
