"""Was it right? One file per assertion, and the machinery they share.

`from assertions import grade, Evidence, CheckResult` works for everything listed below; a name is imported when it is
first asked for, so that an assertion's process loads only what it uses.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOMES = {
    "CheckResult": "verdict",
    "ConfigError": "verdict",
    "NotEvaluated": "verdict",
    "Verdict": "verdict",
    "failed": "verdict",
    "not_evaluated": "verdict",
    "passed": "verdict",
    "Evidence": "evidence",
    "check_config": "config_check",
    "stamped": "config_check",
    "grade": "run_check",
    "run_check": "run_check",
    "apply_changes": "input_changes.changes",
    "best_assignment": "matching.assignment",
    "diff": "input_changes.changes",
    "json_equal": "matching.json_values",
    "match_arguments": "matching.value_match",
    "match_value": "matching.value_match",
    "parse_path": "matching.paths",
    "read_expected": "matching.comparators",
    "Graded": "grading",
    "PreparedCase": "grading",
    "Recorded": "grading",
    "grade_all": "grading",
    "grade_episode": "grading",
    "prepare": "grading",
    "read_foreign": "adapters.choose",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"assertions.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(_HOMES)
