"""The moment at which work must be over, shared by everything that one episode does."""

from __future__ import annotations

import time
from dataclasses import dataclass


@dataclass(frozen=True)
class Deadline:
    """A point on the monotonic clock, in seconds. `seconds` is the whole span, for messages to people."""

    at: float
    seconds: float

    @staticmethod
    def after(seconds: float) -> Deadline:
        return Deadline(time.monotonic() + seconds, seconds)

    def remaining(self) -> float:
        """Seconds left, never below 0."""
        return max(0.0, self.at - time.monotonic())

    @property
    def passed(self) -> bool:
        return time.monotonic() >= self.at

    def clip(self, seconds: float) -> float:
        """`seconds`, or what is left when that is less."""
        return min(seconds, self.remaining())
