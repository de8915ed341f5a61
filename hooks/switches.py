"""What a person can switch about the cleanup."""

from __future__ import annotations

from endpoints.settings import value


def delete_branches() -> bool:
    """Whether source branches of abandoned pull requests are deleted: yes, unless EVALS_KEEP_BRANCHES says yes."""
    return (value("EVALS_KEEP_BRANCHES") or "").lower() not in ("1", "true", "yes", "on")
