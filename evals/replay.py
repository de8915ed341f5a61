"""Is everything in this run replayed from cassettes, so that it needs no portal, no model and no sign-in?"""

from __future__ import annotations

from endpoints.settings import value
from evals.command_line import CommandError


def only_replays() -> bool:
    """True when EVALS_CASSETTES is `none`: what was not recorded is an error then, and never asked live.

    Raises:
        CommandError: it is no mode of cassettes.
    """
    mode = value("EVALS_CASSETTES")
    if mode is None or mode == "off":
        return False
    from models.cassettes.modes import CassetteMode

    allowed = [*CassetteMode, "off"]
    if mode not in allowed:
        raise CommandError(f"EVALS_CASSETTES: expected one of {', '.join(allowed)}, found {mode!r}")
    return mode == CassetteMode.NONE
