"""Which cases will the filters select? Answered without promptfoo where that is certain."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evals.command_line import CommandError
from evals.exit_codes import Exit
from evals.run_request import RunRequest
from evals.suites import Suite

_SIMPLE = re.compile(r"[\w\s.:,;'\"/@#%&=<>!~`^$*+?|()\[\]-]*")
"""Patterns that mean the same in Python and in JavaScript."""


@dataclass(frozen=True)
class Selectable:
    """What filters look at in a case."""

    description: str
    metadata: Mapping[str, Any]


def check_selection(request: RunRequest, suite: Suite, cases: Sequence[Selectable]) -> None:
    """Raise when it is certain that promptfoo would run nothing; say what could be chosen instead.

    Raises:
        CommandError: with `Exit.NOTHING_SELECTED`, or with `Exit.SETUP` for a filter of the wrong form.
    """
    if not suite.complete or request.given("--resume", "--retry-errors", "-t", "--tests", "-v", "--vars"):
        return
    metadata = [_key_and_value(text) for text in request.values("--filter-metadata")]
    for key, value in metadata:
        if not any(value in _text(case.metadata.get(key)) for case in cases):
            known = sorted({_text(case.metadata[key]) for case in cases if key in case.metadata})
            what = f"{key} can be {', '.join(known)}" if known else f"no case has the metadata {key}"
            raise _nothing(f"No case of {suite.name} matches --filter-metadata {key}={value}: {what}.")
    left = [case for case in cases if all(value in _text(case.metadata.get(key)) for key, value in metadata)]
    if not left:
        wanted = " and ".join(f"{key}={value}" for key, value in metadata)
        raise _nothing(f"No case of {suite.name} matches {wanted} at the same time.")
    pattern = (request.values("--filter-pattern") or [""])[-1]
    if not _SIMPLE.fullmatch(pattern):
        return
    try:
        search = re.compile(pattern).search
    except re.error:
        return  # promptfoo says what is wrong with it
    if not any(search(case.description) for case in left):
        ids = ", ".join(_text(case.metadata.get("id")) for case in left)
        raise _nothing(f"No description of a case of {suite.name} matches --filter-pattern {pattern}: there are {ids}.")


def _key_and_value(text: str) -> tuple[str, str]:
    key, _, value = text.partition("=")
    if not key or not value:
        raise CommandError(f"--filter-metadata needs KEY=VALUE, such as priority=smoke, and got {text}.")
    return key, value


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def _nothing(sentence: str) -> CommandError:
    return CommandError(sentence, Exit.NOTHING_SELECTED)
