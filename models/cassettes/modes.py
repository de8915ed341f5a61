"""When is something recorded, and when replayed?"""

from __future__ import annotations

from enum import StrEnum


class CassetteMode(StrEnum):
    NONE = "none"
    """Replay only. A request without recording fails, and so does a recording without request."""
    ONCE = "once"
    """Record everything when the case has no file yet; else as `none`."""
    NEW_EPISODES = "new_episodes"
    """Replay what is recorded, record what is not; recordings that were not asked for stay, with a warning."""
    ALL = "all"
    """Ask everything anew, and replace the file."""


def parse_mode(text: object, where: str) -> CassetteMode:
    """The mode, or a ValueError that names the four."""
    try:
        return CassetteMode(str(text))
    except ValueError:
        raise ValueError(f"{where}: expected one of {', '.join(CassetteMode)}, found {text!r}") from None
