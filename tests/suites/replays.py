"""Cases replayed in this process, and what of two records of a case must be the same."""

from __future__ import annotations

from typing import Any

import pytest

from endpoints.settings import CHECKOUT
from formats.load_suite import tests as load_tests
from models.cassettes.modes import command_to_record
from models.cassettes.volatile import LocalNumbers, levelled
from providers import production_agent, simulated_user

PROVIDERS = {"spoke-create": simulated_user, "spoke-qa": production_agent}
CASES: dict[str, dict[str, Any]] = {
    test["metadata"]["id"]: test
    for suite in PROVIDERS
    for test in load_tests({"file": f"suites/{suite}/cases.yaml", "provider": suite})
}

VOLATILE = {
    "evalId": "promptfoo's id of the run",
    "stepId": "the place of the row in the run",
    "timings": "when, and how long it took",
    "startedAt": "when",
    "latencyMs": "how long it took",
}
"""What differs between the records of two replays of a case, and why. Nothing else may."""

LIVE_ONLY = {
    "replayed": "a replay says of everything that a tool answered, or that was created, that it is one",
    "askedAt": "when the host was asked; nobody is asked in a replay",
    "cassette": "the file, and whether it was recorded or replayed; also a part of the fingerprint",
}
"""What differs beside that between a live run and a replay. Ports, markers and numbers are levelled first."""


def again(case: str) -> str:
    """The command that records a case anew."""
    return command_to_record(CASES[case]["metadata"]["suite"], case)


def replay(case: str, monkeypatch: pytest.MonkeyPatch, **config: Any) -> dict[str, Any]:
    """What the case's provider returns in a run that only replays; `config` is the provider's."""
    monkeypatch.setenv("EVALS_CASSETTES", "none")
    test = CASES[case]
    suite = test["metadata"]["suite"]
    context = {
        "vars": test["vars"] | {"__evalId": "replay", "__evalStepId": "test-0-prompt-0-repeat-0"},
        "test": test,
        "prompt": {"raw": test["vars"]["request"]},
    }
    options = {"config": {"agent": "spoke", "basePath": str(CHECKOUT / "suites" / suite), **config}}
    result: dict[str, Any] = PROVIDERS[suite].call_api(test["vars"]["request"], options, context)
    return result


def without(value: Any, *tables: dict[str, str]) -> Any:
    """JSON data without the keys of the tables."""
    if isinstance(value, dict):
        return {key: without(item, *tables) for key, item in value.items() if not any(key in table for table in tables)}
    if isinstance(value, list):
        return [without(item, *tables) for item in value]
    return value


def as_replayed(record: dict[str, Any]) -> Any:
    """A live record as a replay of it should be, as far as a replay can be the same."""
    numbers = LocalNumbers()
    numbers.learn([record["messages"]])
    numbered = numbers.fill_in(without(record, VOLATILE, LIVE_ONLY))
    for pull in numbered["pullRequests"]:
        pull["id"] = pull["url"].rpartition("/")[2]
    return levelled(numbered)
