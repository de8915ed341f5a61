"""How a command ends. The numbers are part of the interface: pipelines decide on them."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum


class Exit(IntEnum):
    """Exit codes of `evals run`, and of the other commands where they apply."""

    PASSED = 0
    FAILED = 1
    """A case failed."""
    NOT_EVALUATED = 2
    """A case ended with an error or could not be judged."""
    LEFT_BEHIND = 3
    """The cleanup had to leave something."""
    NOTHING_SELECTED = 4
    """No case was selected, so nothing was shown."""
    SETUP = 5
    """Set-up or configuration: nothing was started."""
    INTERRUPTED = 130
    """Stopped by Ctrl-C or by a signal."""


def worst(codes: Iterable[Exit]) -> Exit:
    """The code that needs a person first: 5, 4, 3, 130, 2, 1, 0.

    What is left behind outranks an interruption, because somebody else's repository is concerned.
    """
    order = (
        Exit.SETUP,
        Exit.NOTHING_SELECTED,
        Exit.LEFT_BEHIND,
        Exit.INTERRUPTED,
        Exit.NOT_EVALUATED,
        Exit.FAILED,
        Exit.PASSED,
    )
    return min(codes, key=order.index, default=Exit.PASSED)
