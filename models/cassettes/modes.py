"""When is something recorded, and when replayed?"""

from __future__ import annotations

import re
import shlex
from enum import StrEnum

from endpoints.settings import CHECKOUT

MODE_VARIABLE = "EVALS_CASSETTES"


class CassetteMode(StrEnum):
    NONE = "none"
    """Replay only. A request without recording fails, and so does a recording without request."""
    ONCE = "once"
    """Record everything when the case has no file yet; else as `none`."""
    NEW_EPISODES = "new_episodes"
    """Replay what is recorded, record what is not; recordings that were not asked for stay, with a warning."""
    ALL = "all"
    """Ask everything anew, and replace the file."""


def command_to_record(suite: str, case_id: str) -> str:
    """What a person types to record one case of a suite anew; empty for a case of no suite."""
    if not suite or not case_id or not (CHECKOUT / "suites" / suite).is_dir():
        return ""
    pattern = shlex.quote(f"^{re.escape(case_id)}")
    return f"{MODE_VARIABLE}=all npm run eval -- {suite} --filter-pattern {pattern}"


def parse_mode(text: object, where: str) -> CassetteMode:
    """The mode, or a ValueError that names the four."""
    try:
        return CassetteMode(str(text))
    except ValueError:
        raise ValueError(f"{where}: expected one of {', '.join(CassetteMode)}, found {text!r}") from None
