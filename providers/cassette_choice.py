"""Which cassettes does a provider use, and how? Its `cassette` key, and the variable that sets the mode of a whole run.

cassette: once                     # none | once | new_episodes | all; files beside the suite, in `cassettes`
cassette: {mode: none, folder: recordings, name: mini}      # name: for one of several providers of the same cases
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from models.cassettes.modes import MODE_VARIABLE, CassetteMode, parse_mode
from models.config_values import check_keys
from providers.agent_protocol import ConfigurationProblem

CASSETTE_KEYS = ("mode", "folder", "name")
DEFAULT_FOLDER = "cassettes"
OFF = "off"
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]")


@dataclass(frozen=True)
class CassetteChoice:
    """`folder` is relative to the suite's. `name` keeps apart the files of providers that run the same cases."""

    mode: CassetteMode
    folder: str = DEFAULT_FOLDER
    name: str = ""

    def file_name(self, case_id: str) -> str:
        """The name of a case's file."""
        parts = [part for part in (case_id or "case", self.name) if part]
        # An id from a case file may hold anything; a file name may not.
        return f"{_UNSAFE.sub('_', '.'.join(parts)).lstrip('.') or 'case'}.jsonl"


def read_cassette_choice(options: Mapping[str, Any], environment: Mapping[str, str]) -> CassetteChoice | None:
    """What `cassette` and EVALS_CASSETTES ask for; None when no cassette is used.

    Raises:
        ConfigurationProblem: an unknown key or a misspelt mode, with what is allowed.
    """
    wanted = options.get("cassette")
    from_environment = environment.get(MODE_VARIABLE, "").strip()
    data = {"mode": wanted} if isinstance(wanted, str) else {} if wanted is None else wanted
    if not isinstance(data, Mapping):
        raise ConfigurationProblem(f"config.cassette: expected a mode or a mapping with {', '.join(CASSETTE_KEYS)}")
    check_keys(data, CASSETTE_KEYS, "config.cassette.")
    mode = CassetteMode.NONE if environment.get("CI") else CassetteMode.ONCE
    try:
        if data.get("mode") not in (None, OFF):
            mode = parse_mode(data["mode"], "config.cassette.mode")
        if from_environment == OFF or (not from_environment and (wanted is None or data.get("mode") == OFF)):
            return None
        if from_environment:
            mode = parse_mode(from_environment, MODE_VARIABLE)
    except ValueError as problem:
        raise ConfigurationProblem(f"{problem} (or {OFF})") from None
    return CassetteChoice(mode, str(data.get("folder") or DEFAULT_FOLDER), str(data.get("name") or ""))
