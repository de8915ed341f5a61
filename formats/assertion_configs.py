"""The configs of our own assertions: checked once before a run, and marked as checked.

The only place of this room that knows another one: what a config may hold is the assertions' own business.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from formats.file_paths import FILE, absolute
from formats.problems import Problem
from formats.yaml_document import Step

if TYPE_CHECKING:
    from formats.case_rules import Case

_FOLDER = Path(__file__).resolve().parent.parent / "assertions"


def config_problems(case: Case) -> Iterator[Problem]:
    """What is wrong with the configs of a case's assertions, the first fault of each."""
    from assertions.config_check import check_config
    from assertions.verdict import ConfigError

    folder = case.document.file.parent
    for position, written in enumerate(case.assertions):
        assertion = absolute(written, folder)
        name = _name_of(assertion)
        if name is None:
            continue
        config = assertion.get("config", {})
        if not isinstance(config, dict):
            continue  # The case schema says so.
        try:
            check_config(name, config, case.variables)
        except ConfigError as error:
            path = ["assert", position, "config", *_steps(config, error.key)]
            key = "" if error.key == "/" else f"{error.key}: "
            allowed = f"; allowed: {error.allowed}" if error.allowed else ""
            yield case.problem(path, f"config of {name}: {key}{error.problem}{allowed}")


def is_ours(assertion: dict[str, Any], folder: Path) -> bool:
    """Is it one of our assertions, seen from a case file in `folder`?"""
    return _name_of(absolute(assertion, folder)) is not None


def checked_by(assertion: dict[str, Any]) -> dict[str, Any]:
    """The assertion with its mark, for one that `config_problems` found nothing wrong with."""
    from assertions.config_check import STAMP_KEY, stamp

    name = _name_of(assertion)
    if name is None:
        return assertion
    bare = {key: value for key, value in assertion.get("config", {}).items() if key != STAMP_KEY}
    return {**assertion, "config": bare | {STAMP_KEY: stamp(name, bare)}}


def _name_of(assertion: dict[str, Any]) -> str | None:
    """Which of our assertions is it? None for promptfoo's own and anybody else's."""
    from assertions.config_check import assertion_names

    value = assertion.get("value")
    if assertion.get("type") != "python" or not isinstance(value, str) or not value.startswith(FILE):
        return None
    file = Path(value.removeprefix(FILE).partition(".py:")[0])
    ours = file.parent == _FOLDER and file.stem in assertion_names()
    return file.stem if ours else None


def _steps(config: Any, pointer: str) -> Iterator[Step]:
    """A JSON Pointer as a path into `config`; it ends where the config does."""
    value = config
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, list) and key.isdigit():
            yield int(key)
            value = value[int(key)] if int(key) < len(value) else None
        else:
            yield key
            value = value.get(key) if isinstance(value, dict) else None
