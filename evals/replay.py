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
    from models.cassettes.modes import CassetteMode, parse_mode

    try:
        return parse_mode(mode, "EVALS_CASSETTES") is CassetteMode.NONE
    except ValueError as problem:
        raise CommandError(f"{problem} (or off)") from None
