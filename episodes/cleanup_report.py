"""What the cleanup did about each creation, and what it had to leave."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal

from episodes.frozen import frozen

BranchOutcome = Literal["", "deleted", "absent", "kept", "failed"]
"""What became of the source branch; empty when it was not looked at."""


class Outcome(StrEnum):
    """What became of one creation. `SETTLED` of `episodes.creations` lists those that leave nothing to do."""

    ABANDONED = "abandoned"
    ALREADY_ABANDONED = "already_abandoned"
    GONE = "gone"
    """The repository is there and has no such pull request."""
    NOTHING_CREATED = "nothing_created"
    """The call had no effect: the host has nothing that carries its marker."""
    SETTLED_BY_HAND = "settled_by_hand"
    """A person said that it is dealt with."""
    WOULD_ABANDON = "would_abandon"
    """A dry run: it is still there."""
    COMPLETED = "completed"
    """It was merged. Never touched; somebody has to look at what went into the target branch."""
    NOT_ALLOWED = "not_allowed"
    """Its repository is not on the allow-list."""
    NOT_OURS = "not_ours"
    """The host has a pull request of that number, but not the one that this run created."""
    UNPROVEN = "unproven"
    """Something may have been created, and nothing proves which pull request it is."""
    IN_FLIGHT = "in_flight"
    """The call may still be going on."""
    OTHER_HOST = "other_host"
    """It was created on another host than the one that is configured now."""
    FAILED = "failed"
    """The host did not do what was asked."""

    @property
    def left(self) -> bool:
        """Whether something is, or may be, left behind."""
        return self not in _NOTHING_LEFT


_NOTHING_LEFT = frozenset(
    {
        Outcome.ABANDONED,
        Outcome.ALREADY_ABANDONED,
        Outcome.GONE,
        Outcome.NOTHING_CREATED,
        Outcome.SETTLED_BY_HAND,
    }
)


@frozen
class CleanupItem:
    """One pull request, or one creating call that no pull request is known of (then `id` is empty)."""

    run_id: str
    step_id: str
    intent_id: str
    tool: str
    repository: str
    id: str
    url: str
    outcome: Outcome
    detail: str = ""
    branch: BranchOutcome = ""

    @property
    def left(self) -> bool:
        return self.outcome.left or self.branch == "failed"

    def sentence(self) -> str:
        """One line for a person: what, where, and why."""
        what = self.url or (f"{self.repository} #{self.id}" if self.id else f"call of {self.tool or 'a tool'}")
        branch = f", branch {self.branch}" if self.branch else ""
        detail = f": {self.detail}" if self.detail else ""
        return _one_line(f"{self.outcome.replace('_', ' ')}{branch}: {what} ({self.step_id or 'no step'}){detail}")

    def to_json(self) -> dict[str, Any]:
        """The item as the marker file and `metadata.cleanup` hold it."""
        action = "abandon" if self.outcome in (Outcome.ABANDONED, Outcome.FAILED) else "none"
        return {
            "id": self.id,
            "url": self.url,
            "repository": self.repository,
            "stepId": self.step_id,
            "action": action,
            "result": str(self.outcome),
            "branch": self.branch,
            "detail": self.detail,
        }


def _one_line(text: str) -> str:
    """Without line breaks and control characters: addresses and details come from tools, and end up in a terminal."""
    return "".join(char if char.isprintable() else "?" for char in " ".join(text.split()))


@frozen
class CleanupReport:
    """What one sweep did. `problems` are things that are about no creation, such as lines that could not be read."""

    run_id: str
    items: tuple[CleanupItem, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def left(self) -> tuple[CleanupItem, ...]:
        return tuple(item for item in self.items if item.left)

    @property
    def clean(self) -> bool:
        """True when nothing is left and nothing went wrong."""
        return not self.left and not self.problems

    def count(self, outcome: Outcome) -> int:
        return sum(item.outcome is outcome for item in self.items)
