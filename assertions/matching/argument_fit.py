"""How the arguments of one call fit what was expected. Kept apart from the comparing, which not every check needs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from episodes.frozen import frozen

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


@frozen
class ArgumentMatch:
    """How the arguments of one call fit.

    `parameters` are the top-level names that were compared, `wrong` those with a mismatch. `notes` say what was
    forgiven (`coerced /id from "42"`).
    """

    parameters: frozenset[str]
    wrong: frozenset[str]
    mismatches: tuple[Mismatch, ...]
    notes: tuple[str, ...] = ()

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
        if self.parameters:
            return len(self.parameters - self.wrong), len(self.parameters)
        return (0, 1) if self.mismatches else (1, 1)


NOTHING_TO_COMPARE = ArgumentMatch(frozenset(), frozenset(), ())
